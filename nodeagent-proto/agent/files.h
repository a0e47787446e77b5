/* SPDX-License-Identifier: MIT
 *
 * Files of a node: replaced, appended to, linked and moved away, without fsync (see record.h) and
 * never outside the node root where that is asked for.
 */
#ifndef NODEAGENT_PROTO_AGENT_FILES_H
#define NODEAGENT_PROTO_AGENT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"
#include "nodeagent-proto/agent/mounts.h"

/* Writes beside `path` and renames: a reader sees all or nothing. A file of ours that is so already
 * stays. */
int file_replace(const char *path, const void *data, size_t len, mode_t mode,
                 struct err *e) MUST_CHECK;
/* Appends with one write if the kernel allows. */
int file_append(const char *path, const char *text, struct err *e) MUST_CHECK;
/* mkdir -p of the directory that `path` is in. */
int file_make_parents(const char *path, struct err *e) MUST_CHECK;

/* ERR_INVALID_PATH unless `path` is strictly below `root`, as its text goes. */
int file_check_below(const char *root, const char *path, struct err *e) MUST_CHECK;
/* Opens the directory that holds `path`, each step without following a symbolic link, so that
 * nothing outside the root can be reached; makes what is missing if told to. *name points at the
 * last part of `path`. -1 with ERR_NONE in `e`: a directory on the way is missing. */
int file_open_holder(const char *root, const char *path, bool make, const char **name,
                     struct err *e) MUST_CHECK;

/* mkdir -p, mode 0777 less umask. With `as`: below `root` we make missing directories and give them
 * to the account; behind the first symbolic link or mount, and elsewhere, the account needs the
 * rights to make them itself. */
int file_make_dirs(const char *root, const struct account *as, const char *path,
                   struct err *e) MUST_CHECK;
/* Same, of the directory that `path` is in. */
int file_make_parents_as(const char *root, const struct account *as, const char *path,
                         struct err *e) MUST_CHECK;

/* Makes `target`, below `root`, a symbolic link to `source`; replaces another link or an empty
 * directory, atomically where that is possible. With `shared`, or if an agent that is root makes
 * `source`, opens `source` to everybody who can reach it (share.h). */
int file_link(const char *root, const char *source, const char *target, bool shared,
              struct err *e) MUST_CHECK;
/* Removes the link or empty directory `target` below `root`. If there is none, or something else,
 * it succeeds, because nothing of ours is there. */
int file_unlink(const char *root, const char *target, struct err *e) MUST_CHECK;
/* Renames `path`, below `root`, into the directory `trash`, or keeps it (jobdir.h); succeeds if it
 * does not exist. Follows no symbolic link on the way. ERR_CONFLICT while something is mounted
 * within it, as `mounts` says. Returns 1 if something was moved. */
int file_discard(const char *root, const char *path, const char *trash, struct mounts_kept *mounts,
                 struct err *e) MUST_CHECK;
/* rm -rf of everything in `dir`, even where the owner has no write permission; leaves behind what
 * fails and what is mounted there. */
void file_empty_directory(const char *dir);

#endif
