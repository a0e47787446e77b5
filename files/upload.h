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
#ifndef FILES_UPLOAD_H
#define FILES_UPLOAD_H

#include "files/change.h"

struct file_upload;

struct files_upload {
    struct file_place at;
    const char *beside;          /* a folder of the daemon's own for what is unfinished, or NULL */
    mode_t mode, directory_mode; /* of what is made, whatever the umask */
    bool is_new;                 /* FILE_IS_FILE, if there is a file when it is finished */
    bool wants_md5;
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
 * stay holes. The callback's facts are those of the last file. */
void upload_copy(struct file_upload *u, const char *share, const struct file_part *parts, size_t n,
                 files_changed cb, void *ctx);
/* Puts it into place. `md5` (copied) may be NULL; it needs wants_md5. FILE_IS_DIRECTORY,
 * FILE_SPECIAL: that is at the place, and stays there. The result has facts, md5, existed. */
void upload_finish(struct file_upload *u, const uint8_t *md5, files_changed cb, void *ctx);
/* A call under way does not call back any more. What is not finished is given up. */
void upload_end(struct file_upload *u);

/* All of it in one go, for small files: `bytes` (malloc) become the room's. */
void files_put(struct files *f, const struct files_upload *what, char *bytes, size_t n,
               const uint8_t *md5, files_changed cb, void *ctx);

#endif
