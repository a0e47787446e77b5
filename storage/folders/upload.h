/* SPDX-License-Identifier: MIT
 *
 * Whole new files: what is at the place before stays as it is until all bytes are on disk; then the
 * new file takes its place at once. A file that is given up leaves nothing, nor does the daemon's
 * death, as far as the file system has files without a name (O_TMPFILE); where it has none, an
 * unfinished file lies in `beside`, or, if that is elsewhere, in the directory under a name that
 * lists leave out.
 *
 *   files_upload() -> upload_write(), upload_copy() ... -> upload_finish() -> upload_end()
 *                                                    \-> upload_end(): given up
 *
 * Directories above that are missing are made when it is finished. Bytes go to the disk while they
 * arrive, and are hashed on the worker. One call at a time for each upload; after a fault all
 * further ones have it too, and after FILE_UNAVAILABLE there may only be upload_end().
 */
#ifndef STORAGE_FOLDERS_UPLOAD_H
#define STORAGE_FOLDERS_UPLOAD_H

#include "storage/folders/change.h"

struct file_upload;

struct files_upload {
    struct file_place at;
    const char *beside;          /* a folder of the daemon's own for what is unfinished, or NULL */
    mode_t mode, directory_mode; /* of what is made, whatever the umask */
    bool is_new;                 /* FILE_IS_FILE, if there is a file when it is finished */
    bool wants_md5;
    bool wants_crc64;
    bool has_crc64;   /* likewise; FILE_CRC64_WRONG */
    uint64_t crc64;   /* that is expected */
    uint64_t zeros;   /* that it begins with, and that take no room */
    bool has_time;    /* it gets this one, */
    int64_t mtime_ns; /* and not that at which it was made */
    bool later; /* of files_stage(): it need not be on disk until files_settle() has called back */
};

/* With a `why`, `fault` says which, and `upload` is NULL. FILE_PARENT_MISSING: a file is in the
 * place of a directory. FILE_MISSING: the share's folder is. */
typedef void (*files_uploading)(void *ctx, const struct err *why, enum file_fault fault,
                                struct file_upload *upload);
void files_upload(struct files *f, const struct files_upload *what, files_uploading cb, void *ctx);

/* Adds bytes (malloc), which become the room's in any case. */
void upload_write(struct file_upload *u, char *bytes, size_t n, files_changed cb, void *ctx);

/* To the end of the file, however far that is. */
#define FILES_ALL UINT64_MAX
struct file_part {
    const char *path;
    struct file_range range; /* FILE_BEYOND_END: the file has no such bytes */
};
/* Adds parts of files of the folder `share`. The file system shares their blocks if it can. Holes
 * stay holes. Where hashes are wanted all is read. The callback's facts are those of the last file.
 */
void upload_copy(struct file_upload *u, const char *share, const struct file_part *parts, size_t n,
                 files_changed cb, void *ctx);
/* Puts it into place. `md5` (copied) may be NULL; it needs wants_md5. FILE_IS_DIRECTORY,
 * FILE_SPECIAL: that is at the place, and stays there. The result has facts, md5, existed. */
void upload_finish(struct file_upload *u, const uint8_t *md5, files_changed cb, void *ctx);
/* The first half of that: all bytes are there, and on disk, and the file has the inode, size and
 * times that it will have in its place; `r` has these and the MD5. */
void upload_stage(struct file_upload *u, const uint8_t *md5, files_changed cb, void *ctx);
/* A call under way does not call back any more. What is not finished is given up. */
void upload_end(struct file_upload *u);

/* All of it in one go, for small files: `bytes` (malloc) become the room's. */
void files_put(struct files *f, const struct files_upload *what, char *bytes, size_t n,
               const uint8_t *md5, files_changed cb, void *ctx);

/* The first half of files_put(): the bytes are in a file that is not in its place yet, with the
 * inode, size and times that it will have there; upload_finish() puts it there. `r` says too what
 * is at the place now: existed, before. With r->owes (never without `later`) nothing of it is known
 * to be on disk: the caller keeps the bytes, and hands the finished upload to files_settle(). With
 * a `why`, `upload` is NULL. */
typedef void (*files_staged)(void *ctx, const struct err *why, const struct file_result *r,
                             struct file_upload *upload);
void files_stage(struct files *f, const struct files_upload *what, char *bytes, size_t n,
                 const uint8_t *md5, files_staged cb, void *ctx);
/* Adds bytes to the end of a file that is there, as files_write() does with `appends`; it gets
 * `mtime_ns`. What cannot be added leaves it as it was. With r->owes it is not known to be on disk,
 * as after files_stage(). */
void files_grow(struct files *f, const struct files_write *what, int64_t mtime_ns, files_staged cb,
                void *ctx);
/* Ends these finished uploads (at least one) once they are on disk with their names, one sync for
 * all on a file system. With a `why`, one or more may not be. The array is the caller's. */
void files_settle(struct file_upload *const *uploads, size_t n, files_done cb, void *ctx);

/* --- restore.c: what a power cut may have cost a file that was staged later ------------------- */

struct files_restore {
    struct files_upload what;
    const char *bytes;
    size_t n;
    uint64_t inode;       /* of the file that was staged, */
    int64_t mtime_ns;     /* and its time, which is when it was staged */
    bool was_cut;         /* the kernel has started again since */
    uint64_t was_inode;   /* the file that it replaced; 0: there was none */
    int64_t was_mtime_ns; /* its time */
};
/* Brings what was put back, unless somebody has changed or removed it since: r->fault says
 * FILE_MISSING then. *put: it has a new file, with the facts of r. Afterwards it is on disk.
 * Blocks: for the daemon's start. */
int files_restore(const struct files_restore *what, bool *put, struct file_result *r,
                  struct err *e) MUST_CHECK;

struct files_regrow {
    struct file_place at;
    const char *bytes;
    size_t n;
    uint64_t inode, offset; /* the file, and where they begin in it */
    int64_t was_mtime_ns, mtime_ns;
    bool was_cut;
};
/* Likewise bytes that were added with files_grow(). *there: the file has them, and its facts are
 * `facts`; else it is somebody else's by now. */
int files_regrow(const struct files_regrow *what, bool *there, bool *put, struct file_facts *facts,
                 struct err *e) MUST_CHECK;

/* What is there; these block, too. A directory, or what is special, is no file. */
enum file_fault files_facts_now(const struct file_place *at, struct file_facts *out);
int files_remove_now(const struct file_place *at, struct err *e) MUST_CHECK;
/* Cuts a file, which gets that time. */
int files_cut_now(const struct file_place *at, uint64_t size, int64_t mtime_ns,
                  struct err *e) MUST_CHECK;

#endif
