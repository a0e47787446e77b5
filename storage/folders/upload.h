/* SPDX-License-Identifier: MIT
 *
 * Whole new files. The present file stays as it is until all bytes are on disk; then the new file
 * takes its place at once. An abandoned upload leaves nothing, and neither does the death of the
 * daemon, if the file system has files without a name (O_TMPFILE). Otherwise an unfinished file is
 * in the folder `beside`; if that is on another file system, the file is in the target's directory,
 * under a name that lists leave out.
 *
 *   files_upload() -> upload_write(), upload_copy() ... -> upload_finish() -> upload_end()
 *                                                    \-> upload_end(): given up
 *
 * upload_finish() makes missing directories above the file, unless `in_there` is set. Bytes go to
 * the disk while they arrive, and are hashed on the worker. One call at a time for each upload;
 * after a fault all further calls fail with it too, and after FILE_UNAVAILABLE only upload_end() is
 * allowed.
 */
#ifndef STORAGE_FOLDERS_UPLOAD_H
#define STORAGE_FOLDERS_UPLOAD_H

#include "storage/folders/change.h"

struct file_upload;

struct files_upload {
    struct file_place at;
    const char *beside; /* a folder of the daemon, not of clients, for unfinished files; or NULL */
    mode_t mode, directory_mode; /* exact modes of new files, whatever the umask */
    bool in_there;               /* make no directories: fail with FILE_PARENT_MISSING at the end */
    bool is_new;                 /* fail with FILE_IS_FILE if the target exists at the end */
    bool wants_md5;
    bool wants_crc64;
    bool has_crc64; /* `crc64` is the expected sum; FILE_CRC64_WRONG: the sum is another one */
    uint64_t crc64; /* the expected sum */
    uint64_t zeros; /* bytes of zeros at the beginning; they take no space */
    bool has_time;  /* the file gets mtime_ns instead of the time of writing */
    int64_t mtime_ns;
    /* for files_stage(): the file need not be on disk until files_settle() has called back */
    bool later;
};

/* If `why` is set, `fault` is its kind, and `upload` is NULL. FILE_PARENT_MISSING: a parent is a
 * file. FILE_MISSING: the share's folder does not exist. */
typedef void (*files_uploading)(void *ctx, const struct err *why, enum file_fault fault,
                                struct file_upload *upload);
void files_upload(struct files *f, const struct files_upload *what, files_uploading cb, void *ctx);

/* Adds bytes (malloc'ed); they are freed in any case. */
void upload_write(struct file_upload *u, char *bytes, size_t n, files_changed cb, void *ctx);

/* As a length: up to the end of the file. */
#define FILES_ALL UINT64_MAX
struct file_part {
    const char *path;
    struct file_range range; /* FILE_BEYOND_END: the file is shorter */
};
/* Adds parts of files of the folder `share`. The file system shares their blocks if it can. Holes
 * stay holes. For hashes all bytes are read. The callback gets the facts of the last file, and in
 * `copied` the bytes of each part, also for a part up to the file's end. */
void upload_copy(struct file_upload *u, const char *share, const struct file_part *parts, size_t n,
                 files_changed cb, void *ctx);
/* Puts the file into its place. `md5` (copied) may be NULL; it needs wants_md5. FILE_IS_DIRECTORY,
 * FILE_SPECIAL: the kind of the present file; it stays. The result has facts, md5, existed. */
void upload_finish(struct file_upload *u, const uint8_t *md5, files_changed cb, void *ctx);
/* The first half of upload_finish(): all bytes are on disk, and the file has its final inode, size
 * and times; `r` has these and the MD5. */
void upload_stage(struct file_upload *u, const uint8_t *md5, files_changed cb, void *ctx);
/* Chooses another place for the file, before upload_finish(), or after upload_finish() has failed
 * with FILE_IS_DIRECTORY or FILE_PARENT_MISSING; a staged file must be staged again. The place may
 * be in another folder: upload_finish() fails with FILE_LEADS_OUT if that is on another file
 * system. */
void upload_move(struct file_upload *u, const struct file_place *to);
/* Ends the upload; a pending call does not call back any more. An unfinished file is removed. */
void upload_end(struct file_upload *u);

/* All bytes of a file. */
struct file_content {
    char *bytes; /* malloc'ed; they are freed in any case */
    size_t n;
    const uint8_t *md5; /* what their MD5 must be; NULL: it is not checked */
};
/* All steps in one call, for small files. */
void files_put(struct files *f, const struct files_upload *what, const struct file_content *all,
               files_changed cb, void *ctx);

/* The first half of files_put(): the bytes are in a file that is not in its place yet, with its
 * final inode, size and times; upload_finish() puts it there. `r` also describes the present file
 * at the place (existed, before). With r->owes (only with `later`) the file may not be on disk: the
 * caller keeps the bytes, and passes the finished upload to files_settle(). If `why` is set,
 * `upload` is NULL. */
typedef void (*files_staged)(void *ctx, const struct err *why, const struct file_result *r,
                             struct file_upload *upload);
void files_stage(struct files *f, const struct files_upload *what, const struct file_content *all,
                 files_staged cb, void *ctx);
/* Appends bytes to an existing file, like files_write() with `appends`; the file gets `mtime_ns`. A
 * failure leaves the file unchanged. With r->owes the bytes may not be on disk, as after
 * files_stage(). */
void files_grow(struct files *f, const struct files_write *what, int64_t mtime_ns, files_staged cb,
                void *ctx);
/* Syncs `n` finished uploads (n > 0), their bytes and names, with one sync for each file system,
 * and then calls `cb`. If `cb` gets an error, some of the files may not be on disk. The array is
 * the caller's. */
void files_settle(struct file_upload *const *uploads, size_t n, files_done cb, void *ctx);

/* --- restore.c: effects of a power cut on a staged file --- */

struct files_restore {
    struct files_upload what;
    const char *bytes;
    size_t n;
    uint64_t inode;       /* inode of the staged file */
    int64_t mtime_ns;     /* mtime of the staged file */
    bool was_cut;         /* the kernel has started again since */
    uint64_t was_inode;   /* inode of the file that it replaced; 0: none */
    int64_t was_mtime_ns; /* mtime of that file */
};
/* Restores a put file, unless another process has changed or removed it since: then r->fault is
 * FILE_MISSING. *put: the path has a new file, with the facts of `r`. Afterwards the file is on
 * disk. Blocks: for the daemon's start. */
int files_restore(const struct files_restore *what, bool *put, struct file_result *r,
                  struct err *e) MUST_CHECK;

struct files_regrow {
    struct file_place at;
    const char *bytes;
    size_t n;
    uint64_t inode, offset; /* the file, and the offset of the bytes */
    int64_t was_mtime_ns, mtime_ns;
    bool was_cut;
};
/* Like files_restore(), for bytes that were added with files_grow(). *there: the file has the
 * bytes, and `facts` are its facts; false: the file is not the daemon's. */
int files_regrow(const struct files_regrow *what, bool *there, bool *put, struct file_facts *facts,
                 struct err *e) MUST_CHECK;

/* Queries a path; this and the next functions block, too. Fails for directories and special
 * files. */
enum file_fault files_facts_now(const struct file_place *at, struct file_facts *out);
int files_remove_now(const struct file_place *at, struct err *e) MUST_CHECK;
/* Cuts a file, and sets its time. */
int files_cut_now(const struct file_place *at, uint64_t size, int64_t mtime_ns,
                  struct err *e) MUST_CHECK;

#endif
