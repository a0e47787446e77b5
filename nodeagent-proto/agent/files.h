/* SPDX-License-Identifier: MIT
 *
 * Files of a node: replaced, appended to, linked and discarded. No fsync (record.h has the reason).
 * Functions with `root` never leave it.
 */
#ifndef NODEAGENT_PROTO_AGENT_FILES_H
#define NODEAGENT_PROTO_AGENT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"
#include "nodeagent-proto/agent/mounts.h"

/* Writes a new file and renames it to `path`, so a reader sees the old or the new content. A file
 * that is the process's own and has this content already stays. */
int file_replace(const char *path, const void *data, size_t len, mode_t mode,
                 struct err *e) MUST_CHECK;
/* Appends, with one write(2) if the kernel accepts all bytes. */
int file_append(const char *path, const char *text, struct err *e) MUST_CHECK;
/* mkdir -p of the parent directory of `path`. */
int file_make_parents(const char *path, struct err *e) MUST_CHECK;

/* ERR_INVALID_PATH unless `path` is strictly below `root`, by its text alone. */
int file_check_below(const char *root, const char *path, struct err *e) MUST_CHECK;
/* Opens the parent directory of `path`, each step without following a symbolic link, so that the
 * result is inside the root; `make`: creates missing directories. *name points at the last part of
 * `path`. -1 with ERR_NONE in `e`: a directory on the way is missing. */
int file_open_holder(const char *root, const char *path, bool make, const char **name,
                     struct err *e) MUST_CHECK;

/* mkdir -p, mode 0777 less umask. With `as`: below `root` the agent makes missing directories and
 * gives them to the account; behind the first symbolic link or mount, and outside `root`, the
 * account needs the rights to make them itself. */
int file_make_dirs(const char *root, const struct account *as, const char *path,
                   struct err *e) MUST_CHECK;
/* Like file_make_dirs(), for the parent directory of `path`. */
int file_make_parents_as(const char *root, const struct account *as, const char *path,
                         struct err *e) MUST_CHECK;

/* A directory. `within` (may be NULL): it is this or below it, and no symbolic link may lead out.
 */
struct file_folder {
    const char *path, *within;
};
/* Opens the folder to everybody who can reach it (share.h). No error if it is missing or leads out:
 * its first user will report that. */
int file_open_to_all(const struct file_folder *f, struct err *e) MUST_CHECK;
/* Makes `target` (below `root`) a symbolic link to `source`, and makes `source` if it is missing.
 * Replaces another link or an empty directory, atomically where that is possible. With `shared`, or
 * if an agent that is root makes `source`, opens `source` to everybody who can reach it
 * (share.h). */
int file_link(const char *root, const struct file_folder *source, const char *target, bool shared,
              struct err *e) MUST_CHECK;
/* Removes the link or empty directory `target` below `root`. Succeeds if there is nothing or
 * something else, because then nothing of the agent is there. */
int file_unlink(const char *root, const char *target, struct err *e) MUST_CHECK;
/* Renames `path`, below `root`, into the directory `trash`, or keeps it for a later job (jobdir.h).
 * Succeeds if `path` does not exist. Follows no symbolic link on the way. ERR_CONFLICT while
 * something is mounted within `path`, according to `mounts`. Returns 1 if something was moved. */
int file_discard(const char *root, const char *path, const char *trash, struct mounts_kept *mounts,
                 struct err *e) MUST_CHECK;
/* rm -rf of the content of `dir`, even where the owner has no write permission. Skips mounts, and
 * files that cannot be removed. */
void file_empty_directory(const char *dir);

#endif
