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

/* Writes beside `path` and renames: a reader sees all or nothing. */
int file_replace(const char *path, const void *data, size_t len, mode_t mode,
                 struct err *e) MUST_CHECK;
/* Appends with one write where the kernel allows. */
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

/* mkdir -p, mode 0777 less umask. With `as`: below `root` we make what is missing and give it to
 * the account; from the first symbolic link or mount on, and elsewhere, its own rights must do. */
int file_make_dirs(const char *root, const struct account *as, const char *path,
                   struct err *e) MUST_CHECK;
/* Same, of the directory that `path` is in. */
int file_make_parents_as(const char *root, const struct account *as, const char *path,
                         struct err *e) MUST_CHECK;

/* Makes `target`, below `root`, a symbolic link to `source`; replaces another link or an empty
 * directory, atomically where that is possible. With `shared`, or when an agent that is root
 * makes it, `source` is opened to everybody who gets there (share.h). */
int file_link(const char *root, const char *source, const char *target, bool shared,
              struct err *e) MUST_CHECK;
/* Removes the link or empty directory `target` below `root`; none there, or something else, is
 * success: nothing of ours is there. */
int file_unlink(const char *root, const char *target, struct err *e) MUST_CHECK;
/* Renames `path`, below `root`, into the directory `trash`; none there is success. No symbolic
 * link on the way is followed. ERR_CONFLICT while something is mounted within it. Returns 1 if
 * something was moved. */
int file_discard(const char *root, const char *path, const char *trash, struct err *e) MUST_CHECK;
/* rm -rf of everything in `dir`, also where the owner may not write; failures, and what is mounted
 * there, are left behind. */
void file_empty_directory(const char *dir);

#endif
