/* SPDX-License-Identifier: MIT
 *
 * The blocking work of share_server.c, for its thread: share_server_keys.c (the files of keys) and
 * share_server_sshd.c (processes).
 */
#ifndef NODEAGENT_PROTO_LOGIN_SHARE_SERVER_PRIV_H
#define NODEAGENT_PROTO_LOGIN_SHARE_SERVER_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"
#include "lib/log.h"

/* Constant after the creation, except `tried` and `user`, which only the worker thread uses. */
struct share_place {
    const struct log *log;
    char *dir, *keys, *storage_dir, *program;
    int port;
    unsigned account;
    bool tried; /* this machine can confine sessions */
    char *user; /* the user of logins; NULL before the first key */
};

/* --- share_server_keys.c --- */

bool share_id_is_plain(const char *id);
/* Writes keys/ID for this line of authorized_keys. */
int share_key_write(const struct share_place *p, const char *id, const char *public_line,
                    const char *const *folders, size_t n, struct err *e) MUST_CHECK;
/* Removes the files of the keys for which `matches` returns true, writes authorized_keys, and ends
 * their sessions. Returns how many keys are left, or -1. */
int share_keys_remove(const struct share_place *p, bool (*matches)(void *ctx, const char *id),
                      void *ctx, struct err *e) MUST_CHECK;
/* Writes authorized_keys from the files of keys. Returns how many there are, or -1. */
int share_keys_publish(const struct share_place *p, struct err *e) MUST_CHECK;

/* --- share_server_sshd.c --- */

/* Writes sshd's files and starts sshd, unless it runs with the same files already. */
int share_sshd_run(struct share_place *p, struct err *e) MUST_CHECK;
void share_sshd_stop(const struct share_place *p);
/* Ends the sessions of this key. */
void share_sessions_end(const struct share_place *p, const char *id);
/* *line is the host key, "ssh-ed25519 AAAA..."; the caller frees. */
int share_host_key(const struct share_place *p, char **line, struct err *e) MUST_CHECK;

#endif
