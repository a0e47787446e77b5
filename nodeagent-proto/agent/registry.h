/* SPDX-License-Identifier: MIT
 *
 * The machine's directory of assigned numbers (uids.h): a slip (small_record.h) named
 * "NAME@INCARNATION" with the text "UID ROOT" for each job and root. The suffix REGISTRY_ENDING
 * marks a released entry. Changing an entry, and assigning a free number, need the lock; reading
 * does not.
 */
#ifndef NODEAGENT_PROTO_AGENT_REGISTRY_H
#define NODEAGENT_PROTO_AGENT_REGISTRY_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/err.h"
#include "nodeagent-proto/agent/uids.h"
#include "nodeagent-proto/wire/message.h"

#define REGISTRY        "/var/lib/batchai-node/accounts"
#define REGISTRY_ENDING '~'

struct registry_entry {
    char file[NAME_MAX + 1], text[PATH_MAX];
    char name[TASK_ID_MAX + 1];
    char incarnation[NAME_MAX + 1];
    bool ending;
    uid_t uid;
    const char *root; /* points into `text` */
};

/* registry_lock() locks the registry, and makes it if it is missing; registry_look() only opens it.
 * Both return a descriptor of the registry, or -1. */
int registry_lock(struct err *e) MUST_CHECK;
int registry_look(void);

/* Reads the entry of that file; false: there is no entry. */
bool registry_read(int registry, const char *file, struct registry_entry *out);
/* Calls fn with each entry of the job (NULL: of all jobs) until fn returns true. Reads only these
 * entries. */
bool registry_each(int registry, const char *name,
                   bool (*fn)(void *ctx, int registry, const struct registry_entry *en), void *ctx);

bool entry_is_held_by(const struct registry_entry *en, const struct uid_holder *h);
/* Whether the entry's root no longer exists, or was removed and made again. False if the root
 * cannot be read, because it may become readable later. May hang if the root's file system
 * hangs. */
bool entry_is_gone(const struct registry_entry *en);

/* Records a number for a job of the root. -1 with errno on failure. Needs the lock. */
int registry_note(int registry, const struct uid_holder *h, const char *name, uid_t uid) MUST_CHECK;
/* The name of an entry's file; caller frees. */
char *registry_file(const struct uid_holder *h, const char *name, bool ending);
/* Removes the root's entry of the job, released or not. */
void registry_forget(int registry, const struct uid_holder *h, const char *name);
/* Removes an entry of a root that does not exist any more. */
void registry_remove(int registry, const struct registry_entry *en);
/* Removes the spare files (files kept for the next slip) of roots that do not exist any more.
 * fn(ctx, en) decides whether the root of an entry exists. */
void registry_remove_spares(int registry, bool (*fn)(void *ctx, const struct registry_entry *en),
                            void *ctx);

#endif
