/* SPDX-License-Identifier: MIT
 *
 * Names in a share's folder, and the faults of system calls on them. All functions run on workers.
 * Paths never leave the share: directories are opened beneath its folder, and names are looked up
 * in these directories.
 */
#ifndef STORAGE_FOLDERS_PLACE_PRIV_H
#define STORAGE_FOLDERS_PLACE_PRIV_H

#include <sys/types.h>
#include <time.h>

#include "storage/folders/change.h"

/* The fault of an errno; 0 is FILE_FINE. */
enum file_fault fault_of(int error);
/* Sets the error for callbacks. `error`: errno, for FILE_BROKEN. */
void fault_say(struct err *e, enum file_fault fault, int error);

/* Reads the facts of the file `fd`, opened in any way. FILE_SPECIAL: neither file nor directory. */
enum file_fault facts_of(int fd, struct file_facts *out);
/* Like facts_of() for `name` in the directory `dir`; links are not followed. *is_link may be
 * NULL. */
enum file_fault facts_at(int dir, const char *name, struct file_facts *out, bool *is_link);

/* Whether a change may use the path: no part is empty, "." or "..", or reserved for the daemon. ""
 * is the share's folder. */
bool place_is_good(const char *path);
/* Opens `path` with O_PATH, with its facts. Fails for special files, and for unfinished uploads as
 * if they did not exist. */
enum file_fault place_find(const char *share, const char *path, int *fd, struct file_facts *out);
/* Opens a regular file; other kinds are never opened, because opening might block or have
 * effects. */
enum file_fault place_open(const char *share, const char *path, int flags, int *fd,
                           struct file_facts *out);

/* The parent directory of a name, for a change of the name. */
struct above {
    int dir; /* -1: none */
    char *path;
    const char *name; /* in path */
};
/* FILE_PARENT_MISSING: the directory does not exist. Call above_leave() after any result. */
enum file_fault above_enter(const char *share, const char *path, struct above *out);
void above_leave(struct above *a);

/* Opens the parent directory (*is_above), or its nearest existing ancestor. -1: see errno. */
int place_open_nearest(const char *share, const char *path, bool *is_above);
/* Whether an open directory was removed. Then waits a moment first, because until the removal has
 * ended the kernel still finds the directory by its name. Keeps errno. */
bool place_was_removed(int dir);

struct new_directory {
    mode_t mode;     /* whatever the umask is */
    int64_t time_ns; /* the mtime for the file, and for the parent directory; or FILES_TIME_KEPT */
};
/* EEXIST: the name exists already. Returns errno. */
int place_make_directory(int dir, const char *name, const struct new_directory *how);
/* Opens the directory `path`, and makes its missing parts. `sync`: new directories are on disk at
 * the return. Returns a descriptor; -1: see errno. */
int place_make_directories(const char *share, const char *path, const struct new_directory *how,
                           bool sync);

/* Renames, unless `to` exists: EEXIST. If the file system cannot check and rename in one step,
 * checks first. -1: see errno. */
int place_rename_new(int from_dir, const char *from, int to_dir, const char *to);

/* Reads up to `max` bytes into `to`; *n is the number: fewer at the file's end. Returns errno. */
int place_read(int fd, uint64_t offset, char *to, size_t max, size_t *n);
/* Writes all bytes. Returns errno. */
int place_write(int fd, const char *bytes, size_t n, uint64_t offset);
/* Sets the mtime of an open file or directory, unless it is FILES_TIME_KEPT. A file of another
 * owner keeps its time, because only its owner may set it. Keeps errno. */
void place_set_time(int fd, int64_t ns);
/* After a failed append: gives the file back the size and mtime that it had before. False: the size
 * could not be set. Keeps errno. */
bool place_cut_back(int fd, const struct file_facts *before);
/* The argument for utimensat(); FILES_TIME_KEPT leaves the time unchanged. */
struct timespec time_to_set(int64_t ns);

/* Waits until written data is on disk. Returns errno; 0 also for a file system that cannot sync. */
int place_sync_data(int fd);
int place_sync_directory(int dir);
/* Whether one sync of the file system of `fd` is as good as a sync of each of its files. */
bool place_syncs_whole(int fd);

/* The prefix of names of unfinished uploads. Lists leave such names out, and a path with such a
 * part is never found. */
#define PLACE_UNFINISHED ".batchaid-unfinished-"
bool place_is_unfinished(const char *name);
bool place_has_unfinished(const char *path);

#endif
