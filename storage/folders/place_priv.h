/* SPDX-License-Identifier: MIT
 *
 * Names in a share's folder, and what calls on them say. All of it runs on workers. Nothing leads
 * out of the share: directories are opened beneath its folder, and names are looked up in those.
 */
#ifndef STORAGE_FOLDERS_PLACE_PRIV_H
#define STORAGE_FOLDERS_PLACE_PRIV_H

#include <sys/types.h>
#include <time.h>

#include "storage/folders/change.h"

/* What errno says; 0 is FILE_FINE. */
enum file_fault fault_of(int error);
/* Sets the error that callbacks are told. `error`: errno, for FILE_BROKEN. */
void fault_say(struct err *e, enum file_fault fault, int error);

/* Reads the facts of what `fd` is, of whatever kind it was opened. FILE_SPECIAL: neither file nor
 * directory. */
enum file_fault facts_of(int fd, struct file_facts *out);
/* The same of `name` in the directory `dir`; links are not followed. *is_link may be NULL. */
enum file_fault facts_at(int dir, const char *name, struct file_facts *out, bool *is_link);

/* Whether a change may name it: no part is empty, "." or ".."; nor is it kept for ourselves. "" is
 * the share's folder. */
bool place_is_good(const char *path);
/* Opens with O_PATH what is at `path`, with its facts. Fails for what is special. */
enum file_fault place_find(const char *share, const char *path, int *fd, struct file_facts *out);
/* Opens a regular file; what is none was never opened, as that might block or do something. */
enum file_fault place_open(const char *share, const char *path, int flags, int *fd,
                           struct file_facts *out);

/* The directory that a name is in, to change it. */
struct above {
    int dir; /* -1: none */
    char *path;
    const char *name; /* in path */
};
/* FILE_PARENT_MISSING: the directory is not there. To be left whatever it returns. */
enum file_fault above_enter(const char *share, const char *path, struct above *out);
void above_leave(struct above *a);

struct new_directory {
    mode_t mode;     /* whatever the umask is */
    int64_t time_ns; /* its time of change, and that of the directory above; or FILES_TIME_KEPT */
};
/* EEXIST: something is there. Returns errno. */
int place_make_directory(int dir, const char *name, const struct new_directory *how);
/* Opens the directory `path`, and makes what part of it is missing; `sync`: on disk. -1: errno. */
int place_make_directories(const char *share, const char *path, const struct new_directory *how,
                           bool sync);

/* Renames unless there is something at `to`: EEXIST. Where the file system cannot do both at once,
 * it is looked first. -1: errno. */
int place_rename_new(int from_dir, const char *from, int to_dir, const char *to);

/* Up to `max` bytes into `to`; *n says how many: fewer at the file's end. Returns errno. */
int place_read(int fd, uint64_t offset, char *to, size_t max, size_t *n);
/* Writes all of it. Returns errno. */
int place_write(int fd, const char *bytes, size_t n, uint64_t offset);
/* The time of change of an open file or directory; FILES_TIME_KEPT: it is left alone. That of
 * somebody else stays, as only they may set it. Keeps errno. */
void place_set_time(int fd, int64_t ns);
/* For utimensat(); FILES_TIME_KEPT leaves the time alone. */
struct timespec time_to_set(int64_t ns);

/* Waits until the disk has what was written. Returns errno. A file system that knows no sync has
 * written what it can. */
int place_sync_data(int fd);
int place_sync_directory(int dir);
/* Whether one sync of the file system of `fd` does as much for all its files as one of each. */
bool place_syncs_whole(int fd);

/* How what an upload has not finished is called where it has a name. Lists leave it out. */
#define PLACE_UNFINISHED ".batchaid-unfinished-"
bool place_is_unfinished(const char *name);

#endif
