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

/* Marks the directory `path`: its subdirectories are unrelated. A file system may use this
 * (chattr(1), +T): ext4 then places each in another part of the disk. No effect on other file
 * systems. */
void fs_spread(const char *path);

/* Reads a whole file of at most `max` bytes; caller frees *data (terminated with a NUL that is not
 * counted in *len; `len` may be NULL). */
int fs_read(const char *path, size_t max, char **data, size_t *len, struct err *e) MUST_CHECK;

/* Writes all bytes, by several write() calls if necessary. -1: see errno. */
int fs_write_all(int fd, const void *data, size_t len) MUST_CHECK;

/* Sets the mtime of an open file or directory, in ns since 1970. A failure (only its owner may) is
 * ignored. Keeps errno. */
void fs_set_mtime(int fd, int64_t ns);

/* The temporary file of fs_write_atomic() is called NAME, this text, and six random characters. Not
 * just a dot, because somebody may keep a "secret.key.backup". */
#define FS_UNFINISHED ".tmp-"

/* Writes a temporary file, fsyncs file and directory, renames: a reader sees the old or the new
 * file. */
int fs_write_atomic(const char *path, const void *data, size_t len, mode_t mode,
                    struct err *e) MUST_CHECK;

/* Like fs_write_atomic(), but syncs only with `sync`. */
int fs_write_whole(const char *path, const void *data, size_t len, mode_t mode, bool sync,
                   struct err *e) MUST_CHECK;

/* Removes temporary files of a killed fs_write_atomic() of `path`. Only while nobody else writes
 * the file. */
void fs_remove_leftovers(const char *path);

/* rm -rf, never following symbolic links and never crossing a mount within `path` (or at `path`): a
 * mount is an error. A missing path is not. */
int fs_remove_tree(const char *path, struct err *e) MUST_CHECK;

/* Opens the directory `name` (one part of a path) in `dirfd`; fails for a symbolic link and, with
 * EXDEV, for a mount point. */
int fs_open_here(int dirfd, const char *name, int flags);
/* Opens the directory `name` in `dirfd` in order to empty it: if its owner has made it unreadable
 * or read-only, changes the mode. Fails like fs_open_here(). */
int fs_open_to_empty(int dirfd, const char *name);

/* True for a relative path with no "..", no empty or "." components, and no embedded NUL. "" and
 * "." are the directory itself; they are safe. */
bool fs_path_is_safe(const char *relative);

/* Whether the absolute `path` is `dir` or below it, by their texts alone. */
bool fs_is_within(const char *path, const char *dir);

/* Opens `relative` below `root`, following symbolic links only as long as they stay below it
 * (openat2 with RESOLVE_BENEATH). Returns the descriptor, or -1 with errno set. */
int fs_open_beneath(const char *root, const char *relative, int flags);

/* Like fs_open_beneath(), but a symbolic link anywhere in `relative` is an error: ELOOP. */
int fs_open_without_links(const char *root, const char *relative, int flags);

/* path = a "/" b with exactly one slash; caller frees. */
char *fs_join(const char *a, const char *b);
/* The parent folder of `path` ("." if it has none); caller frees. */
char *fs_folder(const char *path);

#endif
