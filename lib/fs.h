/* SPDX-License-Identifier: MIT
 *
 * Files: whole-file reads, atomic writes, and opening below a directory without leaving it.
 */
#ifndef LIB_FS_H
#define LIB_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/err.h"

/* mkdir -p. */
int fs_mkdirs(const char *path, mode_t mode, struct err *e) MUST_CHECK;

/* What is made in the directory `path` from now on has nothing to do with each other, which a file
 * system may heed (chattr(1), +T): ext4 then keeps each directory's files in another part of the
 * disk. Nothing happens on others. */
void fs_spread(const char *path);

/* Reads a whole file of at most `max` bytes; caller frees *data (terminated with a NUL that is not
 * counted in *len; `len` may be NULL). */
int fs_read(const char *path, size_t max, char **data, size_t *len, struct err *e) MUST_CHECK;

/* Writes all bytes, however few write() takes at a time. -1: errno says why. */
int fs_write_all(int fd, const void *data, size_t len) MUST_CHECK;

/* The time of change of an open file or directory, in ns since 1970. One that cannot be set (only
 * its owner may) stays. Keeps errno. */
void fs_set_mtime(int fd, int64_t ns);

/* fs_write_atomic() writes to a file called NAME, this text, and six random characters: not just a
 * dot, because somebody may keep a "secret.key.backup". */
#define FS_UNFINISHED ".tmp-"

/* Writes beside the target, fsyncs file and directory, renames: a reader sees all or nothing. */
int fs_write_atomic(const char *path, const void *data, size_t len, mode_t mode,
                    struct err *e) MUST_CHECK;

/* The same, which syncs nothing unless `sync`. */
int fs_write_whole(const char *path, const void *data, size_t len, mode_t mode, bool sync,
                   struct err *e) MUST_CHECK;

/* Removes what fs_write_atomic() left beside `path` when it was killed. Only while nobody else
 * writes it. */
void fs_remove_leftovers(const char *path);

/* rm -rf, never following symbolic links and never entering what is mounted within `path` (nor
 * `path`, if it is a mount point): that is an error. A missing path is no error. */
int fs_remove_tree(const char *path, struct err *e) MUST_CHECK;

/* Opens the directory `name` (one part of a path) in `dirfd`; fails for a symbolic link and, with
 * EXDEV, for a mount point. */
int fs_open_here(int dirfd, const char *name, int flags);
/* Opens the directory `name` in `dirfd`, which is going to be emptied: its owner may have made it
 * unreadable or read-only. Fails as fs_open_here() does. */
int fs_open_to_empty(int dirfd, const char *name);

/* True for a relative path with no "..", no empty or "." components, no NUL tricks. "" and "."
 * are the directory itself and count as safe. */
bool fs_path_is_safe(const char *relative);

/* Whether the absolute `path` is `dir` or below it, by their texts alone. */
bool fs_is_within(const char *path, const char *dir);

/* Opens `relative` below `root`, following symbolic links only as long as they stay below it
 * (openat2 with RESOLVE_BENEATH). Returns the descriptor, or -1 with errno set. */
int fs_open_beneath(const char *root, const char *relative, int flags);

/* The same, but a symbolic link anywhere in `relative` is an error: ELOOP. */
int fs_open_without_links(const char *root, const char *relative, int flags);

/* path = a "/" b with exactly one slash; caller frees. */
char *fs_join(const char *a, const char *b);
/* The folder that `path` is in ("." if it names none); caller frees. */
char *fs_folder(const char *path);

#endif
