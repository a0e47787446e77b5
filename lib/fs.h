/* SPDX-License-Identifier: MIT
 *
 * Functions for files: reading whole files, writing atomically, and opening files below a directory
 * without leaving it.
 */
#ifndef LIB_FS_H
#define LIB_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/err.h"

/* Makes a directory and its missing parents, like mkdir -p. */
int fs_mkdirs(const char *path, mode_t mode, struct err *e) MUST_CHECK;

/* Marks the directory `path`: its subdirectories are unrelated. ext4 then places each of them in
 * another part of the disk (chattr(1), +T). No effect on other file systems. */
void fs_spread(const char *path);

/* Reads a whole file of at most `max` bytes; caller frees *data (terminated with a NUL that is not
 * counted in *len; `len` may be NULL). */
int fs_read(const char *path, size_t max, char **data, size_t *len, struct err *e) MUST_CHECK;

/* Writes all bytes, with several write() calls if necessary. -1: error in errno. */
int fs_write_all(int fd, const void *data, size_t len) MUST_CHECK;

/* Sets the mtime of an open file or directory, in ns since 1970. Errors are ignored (only the owner
 * may set it). Does not change errno. */
void fs_set_mtime(int fd, int64_t ns);

/* The name of the temporary file of fs_write_atomic(): NAME, this text, and six random characters.
 * It is longer than a dot, because somebody may have a "secret.key.backup". */
#define FS_UNFINISHED ".tmp-"

/* Writes a temporary file, renames it, and fsyncs the file before and the directory after that: a
 * reader sees either the old or the new file. */
int fs_write_atomic(const char *path, const void *data, size_t len, mode_t mode,
                    struct err *e) MUST_CHECK;

/* Like fs_write_atomic(), but syncs only with `sync`. */
int fs_write_whole(const char *path, const void *data, size_t len, mode_t mode, bool sync,
                   struct err *e) MUST_CHECK;

/* If the caller is root, gives an open file to the owner of the directory `dir`, so that a service
 * that is not root can use a file that a command of root made there. Only for files that the caller
 * has just made: other files may be links. Otherwise does nothing. -1: error in errno. */
int fs_give_to_owner(int fd, const char *dir) MUST_CHECK;

/* Removes temporary files of a killed fs_write_atomic() of `path`. Call it only while nobody else
 * writes the file. */
void fs_remove_leftovers(const char *path);

/* Like rm -rf, but never follows symbolic links, and never crosses a mount below `path` or at it: a
 * mount is an error. A missing path is not an error. The depth of the tree is not limited. */
int fs_remove_tree(const char *path, struct err *e) MUST_CHECK;

/* Opens the directory `name` (one part of a path) in `dirfd`; fails for a symbolic link and, with
 * EXDEV, for a mount point. */
int fs_open_here(int dirfd, const char *name, int flags);
/* Opens the directory `name` in `dirfd` so that its entries can be removed: if its owner has made
 * it unreadable or read-only, changes the mode. Fails like fs_open_here(). */
int fs_open_to_empty(int dirfd, const char *name);

/* True for a relative path without "..", without empty or "." parts. "" and "." mean the directory
 * itself, and are safe. */
bool fs_path_is_safe(const char *relative);

/* Whether the absolute `path` is `dir` or below it. Compares only the texts. */
bool fs_is_within(const char *path, const char *dir);

/* Opens `relative` below `root`, following symbolic links only as long as they stay below it
 * (openat2 with RESOLVE_BENEATH). Returns the descriptor, or -1 with errno set. */
int fs_open_beneath(const char *root, const char *relative, int flags);

/* Like fs_open_beneath(), but a symbolic link anywhere in `relative` is an error: ELOOP. */
int fs_open_without_links(const char *root, const char *relative, int flags);

/* Joins a and b with exactly one slash between them; caller frees. */
char *fs_join(const char *a, const char *b);
/* The parent folder of `path` ("." if it has none); caller frees. */
char *fs_folder(const char *path);

#endif
