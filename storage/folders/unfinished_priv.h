/* SPDX-License-Identifier: MIT
 *
 * A new file that is not in its place yet. All functions run on workers, one worker at a time for
 * each file, with the noted exceptions.
 */
#ifndef STORAGE_FOLDERS_UNFINISHED_PRIV_H
#define STORAGE_FOLDERS_UNFINISHED_PRIV_H

#include <gnutls/crypto.h>

#include "storage/folders/place_priv.h"
#include "storage/folders/upload.h"

struct unfinished {
    char *share, *path, *beside; /* beside may be NULL */
    mode_t mode, directory_mode;
    bool has_crc64, wants_crc64;
    uint64_t crc64_wanted, crc64;
    bool is_new, in_there, wants_md5, sync;
    /* its sync is requested to come later; from unfinished_begin() on: it does come later */
    bool later;
    bool is_staged; /* its time was reported to the caller */
    bool is_safe;   /* its bytes are on disk */
    bool is_brief;  /* all bytes come at once */
    int fd;         /* -1: not begun, or ended */
    int dir;        /* the directory in which it has `name` */
    char *name;     /* its temporary name; NULL: none */
    int above;      /* its target directory, if that existed at the beginning; or -1 */
    int replaced;   /* the large file that was in its place; or -1 */
    uint64_t replaced_size;
    gnutls_hash_hd_t md5;
    uint8_t is[FILES_MD5]; /* the hash, after the last byte */
    uint64_t zeros;
    bool has_time; /* the file gets mtime_ns, not the time of writing */
    int64_t mtime_ns;
    int64_t time_ns;       /* the mtime to set after the last byte; FILES_TIME_KEPT: the kernel's */
    uint64_t size, device; /* device: known when it is staged or finished */
    uint64_t sent, safe;   /* the disk was asked to write the bytes before `sent`, and has written
                              those before `safe` */
    enum file_fault fault;
    int error; /* errno of `fault` */
};

/* `time_ns`: the mtime to set, or FILES_TIME_KEPT. If an mtime is to be set, the sync is never
 * delayed. */
struct unfinished *unfinished_new(const struct files_upload *what, bool sync, int64_t time_ns);
enum file_fault unfinished_begin(struct unfinished *u);
enum file_fault unfinished_add(struct unfinished *u, const char *bytes, size_t n);
/* The two halves of unfinished_add(). They may run in parallel, after unfinished_begin(). */
enum file_fault unfinished_write(struct unfinished *u, const char *bytes, size_t n);
void unfinished_hash(struct unfinished *u, const char *bytes, size_t n);
/* Whether hashes are needed. */
bool unfinished_hashes(const struct unfinished *u);
/* Adds up to `max` bytes of the descriptor `from`, from *offset on. Raises *offset and lowers *left
 * (FILES_ALL: up to the file's end); *left is 0 when all bytes are added. */
enum file_fault unfinished_copy(struct unfinished *u, int from, uint64_t *offset, uint64_t *left,
                                uint64_t max);
/* Syncs a part of the bytes. True: there is more to sync. */
bool unfinished_settle(struct unfinished *u);
/* Queries the file that is at the target now; call after unfinished_begin(). FILE_MISSING: there is
 * none. */
enum file_fault unfinished_look(const struct unfinished *u, struct file_facts *out);
/* Completes the file, without putting it in its place. `md5`: the expected hash, or NULL.
 * Afterwards all bytes are on disk, unless the sync is delayed; the result has facts, md5, owes. */
enum file_fault unfinished_stage(struct unfinished *u, const uint8_t *md5, struct file_result *r);
enum file_fault unfinished_finish(struct unfinished *u, const uint8_t *md5, struct file_result *r);
/* For use instead of the functions above: appends bytes to an existing file that ends at `offset`.
 * A fault leaves the file unchanged. */
enum file_fault unfinished_grow(struct unfinished *u, const char *bytes, size_t n, uint64_t offset,
                                struct file_result *r);
/* Syncs finished files whose sync was delayed, and closes them. Returns errno. */
int unfinished_settle_all(struct unfinished *const *all, size_t n);
/* Chooses another place, and forgets a fault of the present one. Does not block; for the loop,
 * while no worker uses the file. */
void unfinished_move(struct unfinished *u, const struct file_place *to);
/* Removes a file that is not in its place. Closes, so it may hang. */
void unfinished_give_up(struct unfinished *u);
/* Frees a file that was abandoned or never begun. */
void unfinished_free(struct unfinished *u);

/* Removes an unfinished file without a writer: a leftover of a killed daemon, even of another
 * daemon that used the folder. */
void unfinished_sweep(int dir, const char *name);
/* Calls unfinished_sweep() for all names in a directory. */
void unfinished_sweep_all(int at, const char *path);

#endif
