/* SPDX-License-Identifier: MIT
 *
 * Changes to the files of shares, one call each: looked at, made, removed, renamed, written in
 * place. Each is refused with FILE_UNAVAILABLE while the share hangs (files.h). Links are followed
 * inside the share only, and nothing is written through one that leads out. FIFOs, devices and
 * sockets are neither opened nor removed.
 *
 * A callback comes after what was done is on disk, unless files_without_sync() was called. What
 * failed half-way (a disk that fills) may have left a part of the bytes in a file that was there.
 *
 * Nothing keeps two calls on one file apart, as they have two workers; a caller to whom their order
 * matters waits for the first. But while bytes are written in place (files_write(), files_clear(),
 * files_copy_range()) nobody of the share reads any: what is read in one go has all of them, or
 * none.
 */
#ifndef STORAGE_FOLDERS_CHANGE_H
#define STORAGE_FOLDERS_CHANGE_H

#include <sys/types.h>

#include "storage/folders/files.h"

struct file_result {
    enum file_fault fault;
    struct file_facts facts;  /* of what is there now; all 0 after a removal or a failure */
    bool existed;             /* what was made had been there before: it was replaced */
    bool owes;                /* see files_stage(), as for the next */
    struct file_facts before; /* of what is at the place, if `existed` */
    uint8_t md5[FILES_MD5];   /* of the bytes that were written, if it was asked for */
    uint64_t crc64;           /* likewise, and of files_crc64() */
    struct file_range *range; /* files_data(): valid during the callback */
    size_t ranges;
    const bool *there; /* files_there(): for each path; likewise */
};

/* `why` is NULL on success; `r` is valid in any case, during the callback. */
typedef void (*files_changed)(void *ctx, const struct err *why, const struct file_result *r);

/* What is written from now on need not be on disk when a callback comes: for tests. */
void files_without_sync(struct files *f);
/* Whether it must be. */
bool files_sync(const struct files *f);

/* What is written from now on, and the directories in which names come and go, get their time from
 * this clock (microseconds; on the loop), and no two writes the same one. While it says 0 they get
 * the machine's, as without it: for tests. */
void files_in_time(struct files *f, int64_t (*now_us)(void *ctx), void *ctx);
/* The time of what is written now, in ns, for who writes by himself. FILES_TIME_KEPT: the kernel's.
 */
int64_t files_time_ns(struct files *f);

/* Which of these files there are, below the folder `share`. */
void files_there(struct files *f, const char *share, const char *const *paths, size_t n,
                 files_changed cb, void *ctx);
/* Looks what is there: a file or a directory. */
void files_facts(struct files *f, const struct file_place *at, files_changed cb, void *ctx);

/* Fails if something is there: FILE_IS_DIRECTORY, FILE_IS_FILE. `mode` holds whatever the umask. */
void files_make_directory(struct files *f, const struct file_place *at, mode_t mode,
                          files_changed cb, void *ctx);
/* FILE_NOT_EMPTY; FILE_IS_FILE. */
void files_remove_directory(struct files *f, const struct file_place *at, files_changed cb,
                            void *ctx);
/* A link to a file is removed, not the file. FILE_IS_DIRECTORY. */
void files_remove_file(struct files *f, const struct file_place *at, files_changed cb, void *ctx);

/* Leaves a file's or directory's time as it is. */
#define FILES_TIME_KEPT INT64_MIN
/* Cuts or lengthens a file. */
void files_set_size(struct files *f, const struct file_place *at, uint64_t size, files_changed cb,
                    void *ctx);
/* Of a file or directory, in ns since 1970. */
void files_set_times(struct files *f, const struct file_place *at, int64_t mtime_ns,
                     int64_t atime_ns, files_changed cb, void *ctx);

/* Where an append begins: at the file's end, wherever that is. */
#define FILES_AT_END UINT64_MAX
struct files_write {
    struct file_place at;
    uint64_t offset;
    char *bytes; /* malloc; becomes the room's */
    size_t n;
    bool appends; /* `offset` must be the file's end: FILE_BEYOND_END. Else all bytes must lie
                     within the file. A caller has one append to a file at a time. */
    bool keeps_mtime;
    bool wants_md5;
    const uint8_t *md5; /* expected, or NULL; FILE_MD5_WRONG: nothing was written. Copied. */
    bool wants_crc64;
    bool has_crc64; /* likewise; FILE_CRC64_WRONG */
    uint64_t crc64;
};
void files_write(struct files *f, const struct files_write *what, files_changed cb, void *ctx);
struct files_copy_range {
    struct file_place at;
    uint64_t offset; /* all bytes must lie within the file */
    struct file_place from;
    struct file_range range; /* FILE_BEYOND_END: it has no such bytes. A few MiB at most */
    bool keeps_mtime;
};
/* FILE_MISSING and the like are of either file. The result has the CRC64 of the bytes. */
void files_copy_range(struct files *f, const struct files_copy_range *what, files_changed cb,
                      void *ctx);
struct files_clear {
    struct file_place at;
    struct file_range range; /* within the file, else FILE_BEYOND_END */
    bool keeps_mtime;
};
/* The range reads as zeros, and where the file system can, takes no room. */
void files_clear(struct files *f, const struct files_clear *what, files_changed cb, void *ctx);
/* The MD5 of a range of a few MiB at most, or of what of it lies within the file. */
void files_md5(struct files *f, const struct file_place *at, const struct file_range *range,
               files_changed cb, void *ctx);
/* Likewise. */
void files_crc64(struct files *f, const struct file_place *at, const struct file_range *range,
                 files_changed cb, void *ctx);
/* Which ranges hold data, as far as the file system knows; in order, without gaps of 0 bytes. */
void files_data(struct files *f, const struct file_place *at, files_changed cb, void *ctx);

struct files_rename {
    struct file_place at;
    const char *to; /* in the same share */
    bool replaces;  /* a file by a file */
};
/* FILE_MISSING: what is to be renamed is. FILE_PARENT_MISSING: the directory above `to` is.
 * FILE_IS_FILE, FILE_IS_DIRECTORY: that is what is at `to`. */
void files_rename(struct files *f, const struct files_rename *what, files_changed cb, void *ctx);

/* Removes what was not finished (upload.h) in a folder of the daemon's own when it was killed.
 * Blocks: for workers. In shares this is done as they are listed. */
void files_sweep(const char *folder);

#endif
