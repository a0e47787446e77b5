/* SPDX-License-Identifier: MIT
 *
 * Changes to the files of shares, one call each: queried, made, removed, renamed, written in place.
 * Each fails with FILE_UNAVAILABLE while the share hangs (files.h). Links are followed inside the
 * share only, and never written through if they lead out. FIFOs, devices and sockets are neither
 * opened nor removed.
 *
 * A callback comes after the change is on disk, unless files_without_sync() was called. A failure
 * half-way (a full disk) may leave a part of the bytes in an existing file.
 *
 * Two calls on one file may run in parallel on two workers; if the order matters, the caller waits
 * for the first. But while bytes are written in place (files_write(), files_clear(),
 * files_copy_range()), no reader of the share runs: a single read sees all of them, or none.
 */
#ifndef STORAGE_FOLDERS_CHANGE_H
#define STORAGE_FOLDERS_CHANGE_H

#include <sys/types.h>

#include "storage/folders/files.h"

struct file_result {
    enum file_fault fault;
    struct file_facts facts;  /* facts of the present file; all 0 after a removal or a failure */
    bool existed;             /* the new file replaced an existing one */
    bool owes;                /* see files_stage(); also for `added` */
    bool added;               /* bytes were appended, or may have been although the append failed */
    struct file_facts before; /* facts of the file at the target, if `existed` */
    uint8_t md5[FILES_MD5];   /* of the written bytes, if requested */
    uint64_t crc64;           /* of the written bytes, and of files_crc64() */
    struct file_range *range; /* files_data(): valid during the callback */
    size_t ranges;
    const bool *there;      /* files_there(): for each path; valid during the callback */
    const uint64_t *copied; /* upload_copy(): the bytes of each part; valid during the callback */
};

/* `why` is NULL on success; `r` is valid in any case, during the callback. */
typedef void (*files_changed)(void *ctx, const struct err *why, const struct file_result *r);

/* From now on, written data need not be on disk when a callback comes: for tests. */
void files_without_sync(struct files *f);
/* Whether written data must be on disk when a callback runs. */
bool files_sync(const struct files *f);

/* From now on, changed files and directories get their times from this clock (microseconds; called
 * on the loop), and every write gets a different time. While it returns 0 they get the machine's
 * time. For tests. */
void files_in_time(struct files *f, int64_t (*now_us)(void *ctx), void *ctx);
/* The time (ns) that a write gets now, for callers that write themselves. FILES_TIME_KEPT: do not
 * set a time, so that the file gets the kernel's. */
int64_t files_time_ns(struct files *f);

/* Which of the files exist, below the folder `share`. */
void files_there(struct files *f, const char *share, const char *const *paths, size_t n,
                 files_changed cb, void *ctx);
/* Queries a path: a file or a directory. */
void files_facts(struct files *f, const struct file_place *at, files_changed cb, void *ctx);

/* Makes a directory. Fails if the path exists: FILE_IS_DIRECTORY, FILE_IS_FILE. `mode` is exact,
 * whatever the umask. */
void files_make_directory(struct files *f, const struct file_place *at, mode_t mode,
                          files_changed cb, void *ctx);
/* Removes an empty directory. Fails with FILE_NOT_EMPTY or FILE_IS_FILE. */
void files_remove_directory(struct files *f, const struct file_place *at, files_changed cb,
                            void *ctx);
/* Removes a file; of a link to a file, removes the link. Fails with FILE_IS_DIRECTORY for a
 * directory. */
void files_remove_file(struct files *f, const struct file_place *at, files_changed cb, void *ctx);

/* As a time: leaves the time of the file or directory unchanged. */
#define FILES_TIME_KEPT INT64_MIN
/* Cuts or lengthens a file. */
void files_set_size(struct files *f, const struct file_place *at, uint64_t size, files_changed cb,
                    void *ctx);
/* Sets the times of a file or directory, in ns since 1970. */
void files_set_times(struct files *f, const struct file_place *at, int64_t mtime_ns,
                     int64_t atime_ns, files_changed cb, void *ctx);

/* As an offset: append at the file's end, wherever that is. */
#define FILES_AT_END UINT64_MAX
struct files_write {
    struct file_place at;
    uint64_t offset;
    char *bytes; /* malloc'ed; files_write() frees them */
    size_t n;
    bool appends; /* `offset` must be the file's end: FILE_BEYOND_END. Otherwise all bytes must lie
                     within the file. A caller has one append to a file at a time. */
    bool keeps_mtime;
    bool wants_md5;
    const uint8_t *md5; /* expected hash, or NULL; FILE_MD5_WRONG: nothing was written. Copied. */
    bool wants_crc64;
    bool has_crc64; /* `crc64` is the expected sum; FILE_CRC64_WRONG: nothing was written */
    uint64_t crc64;
};
void files_write(struct files *f, const struct files_write *what, files_changed cb, void *ctx);
/* Takes back an append of `n` bytes to a file that had the facts `was` before. The file gets its
 * size and time back. Does nothing if another file is in its place, or more bytes were added.
 * FILE_BEYOND_END: fewer bytes were added, perhaps by another process. */
void files_cut_back(struct files *f, const struct file_place *at, const struct file_facts *was,
                    size_t n, files_changed cb, void *ctx);
struct files_copy_range {
    struct file_place at;
    uint64_t offset; /* all bytes must lie within the file */
    struct file_place from;
    struct file_range range; /* FILE_BEYOND_END: the source lacks these bytes. A few MiB at most */
    bool keeps_mtime;
};
/* FILE_MISSING and other faults may concern either file. The result has the CRC64 of the bytes. */
void files_copy_range(struct files *f, const struct files_copy_range *what, files_changed cb,
                      void *ctx);
struct files_clear {
    struct file_place at;
    struct file_range range; /* within the file, otherwise FILE_BEYOND_END */
    bool keeps_mtime;
};
/* Makes the range read as zeros; if the file system supports holes, it takes no space. */
void files_clear(struct files *f, const struct files_clear *what, files_changed cb, void *ctx);
/* The MD5 of a range of a few MiB at most; the part beyond the file's end is ignored. */
void files_md5(struct files *f, const struct file_place *at, const struct file_range *range,
               files_changed cb, void *ctx);
/* The CRC64 of a range of a few MiB at most; the part beyond the file's end is ignored. */
void files_crc64(struct files *f, const struct file_place *at, const struct file_range *range,
                 files_changed cb, void *ctx);
/* The ranges that contain data, as far as the file system reports them; in order, with a gap
 * between any two ranges. */
void files_data(struct files *f, const struct file_place *at, files_changed cb, void *ctx);

struct files_rename {
    struct file_place at;
    const char *to; /* in the share of `at` */
    bool replaces;  /* a file may replace an existing file */
};
/* FILE_MISSING: the source does not exist. FILE_PARENT_MISSING: the parent of `to` does not exist.
 * FILE_IS_FILE, FILE_IS_DIRECTORY: `to` is a file or directory. */
void files_rename(struct files *f, const struct files_rename *what, files_changed cb, void *ctx);

/* Removes unfinished uploads (upload.h) that a killed daemon left in a folder that only the daemon
 * uses. Blocks, so call it on a worker. In shares, listing a directory removes them. */
void files_sweep(const char *folder);

#endif
