/* SPDX-License-Identifier: MIT
 *
 * Replaces, appends to, links and discards files of a node. Nothing is synced to disk (record.h
 * explains why). Functions with `root` never change anything outside of it.
 */
#ifndef NODEAGENT_PROTO_AGENT_FILES_H
#define NODEAGENT_PROTO_AGENT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"
#include "nodeagent-proto/agent/mounts.h"

/* Writes a new file and renames it to `path`, so a reader gets either the old or the new content.
 * If the file has this content already and belongs to the process's account, it is not changed. */
int file_replace(const char *path, const void *data, size_t len, mode_t mode,
                 struct err *e) MUST_CHECK;
/* Appends the text to the file, with one write(2) if the kernel accepts all bytes. */
int file_append(const char *path, const char *text, struct err *e) MUST_CHECK;
/* Makes the parent directory of `path`, like mkdir -p. */
int file_make_parents(const char *path, struct err *e) MUST_CHECK;

/* Succeeds if `path` is below `root` and is not `root` itself. Compares only the texts, not the
 * files. Otherwise: ERR_INVALID_PATH. */
int file_check_below(const char *root, const char *path, struct err *e) MUST_CHECK;
/* Opens the parent directory of `path`, each step without following a symbolic link, so that the
 * result is inside the root; `make`: creates missing directories. *name points at the last part of
 * `path`. -1 with ERR_NONE in `e`: a directory of the path is missing. */
int file_open_holder(const char *root, const char *path, bool make, const char **name,
                     struct err *e) MUST_CHECK;

/* Makes the directories of `path` like mkdir -p, with mode 0777 and the umask. With `as`: below
 * `root` the agent makes missing directories and gives them to the account; behind the first
 * symbolic link or mount, and outside `root`, they are made with the account's rights. */
int file_make_dirs(const char *root, const struct account *as, const char *path,
                   struct err *e) MUST_CHECK;
/* Like file_make_dirs(), for the parent directory of `path`. */
int file_make_parents_as(const char *root, const struct account *as, const char *path,
                         struct err *e) MUST_CHECK;

/* A directory. If `within` is not NULL, `path` must be `within` or below it, and no symbolic link
 * may lead out of `within`. */
struct file_folder {
    const char *path, *within;
};
/* Gives everybody who can reach the folder access to it (lib/share.h). It is no error if the folder
 * is missing or leads out of `within`: the first operation that uses it reports that. */
int file_open_to_all(const struct file_folder *f, struct err *e) MUST_CHECK;
/* Makes `target` (below `root`) a symbolic link to `source`, and makes `source` if it is missing.
 * Replaces another link or an empty directory, atomically where that is possible. With `shared`, or
 * if the agent is root and makes `source`, gives everybody who can reach `source` access to it
 * (lib/share.h). */
int file_link(const char *root, const struct file_folder *source, const char *target, bool shared,
              struct err *e) MUST_CHECK;
/* Removes the link or empty directory `target` below `root`. Also succeeds if nothing is there, or
 * something else, which the agent did not make. */
int file_unlink(const char *root, const char *target, struct err *e) MUST_CHECK;
/* Moves `path`, which is below `root`, into the directory `trash`, or keeps it for a later job
 * (jobdir.h). Succeeds if `path` does not exist. Follows no symbolic link in `path`. ERR_CONFLICT
 * while something is mounted within `path`, according to `mounts`. Returns 1 if something was
 * moved. */
int file_discard(const char *root, const char *path, const char *trash, struct mounts_kept *mounts,
                 struct err *e) MUST_CHECK;
/* Removes the content of `dir` like rm -rf, and also what is in directories without write
 * permission. Skips mounts, and files that cannot be removed. */
void file_empty_directory(const char *dir);

#endif
