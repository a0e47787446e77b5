/* SPDX-License-Identifier: MIT
 *
 * A file before it is in its place. All of it runs on workers, for one at a time, except where it
 * says otherwise.
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
    bool is_new, wants_md5, sync;
    bool later;     /* begun as such; from then on: its sync is owed */
    bool is_staged; /* its time is known to others */
    bool is_safe;   /* its bytes are on disk */
    bool is_brief;  /* all of it is there at once */
    int fd;         /* -1: not begun, or ended */
    int dir;        /* where it has a name */
    char *name;     /* there; NULL: it has none */
    int above;      /* the directory that it will be in, if it was there at the beginning; or -1 */
    gnutls_hash_hd_t md5;
    uint8_t is[FILES_MD5]; /* what that was, after the last byte */
    uint64_t zeros;
    bool has_time; /* of its own */
    int64_t mtime_ns;
    int64_t time_ns;       /* that it gets with its last byte; FILES_TIME_KEPT: the kernel's */
    uint64_t size, device; /* device: known once it is staged or finished */
    uint64_t sent, safe; /* the disk was asked to take the bytes before `sent`, and has those before
                            `safe` */
    enum file_fault fault;
    int error; /* errno of that */
};

/* What has a time of its own is never synced later. */
struct unfinished *unfinished_new(const struct files_upload *what, bool sync, int64_t time_ns);
enum file_fault unfinished_begin(struct unfinished *u);
enum file_fault unfinished_add(struct unfinished *u, const char *bytes, size_t n);
/* The two halves of that, which may run at the same time, once it is begun. */
enum file_fault unfinished_write(struct unfinished *u, const char *bytes, size_t n);
void unfinished_hash(struct unfinished *u, const char *bytes, size_t n);
/* Whether there is something to be hashed. */
bool unfinished_hashes(const struct unfinished *u);
/* Adds up to `max` bytes of the descriptor, from *offset on, which grows; *left (or FILES_ALL)
 * shrinks, and is 0 at the end. */
enum file_fault unfinished_copy(struct unfinished *u, int from, uint64_t *offset, uint64_t *left,
                                uint64_t max);
/* Some of what is not on disk yet; true: that was not all. */
bool unfinished_settle(struct unfinished *u);
/* What is at its place, now that it is begun. FILE_MISSING. */
enum file_fault unfinished_look(const struct unfinished *u, struct file_facts *out);
/* `md5`: expected, or NULL. All bytes are there, and on disk afterwards unless that is owed; the
 * result has facts, md5, owes. */
enum file_fault unfinished_stage(struct unfinished *u, const uint8_t *md5, struct file_result *r);
enum file_fault unfinished_finish(struct unfinished *u, const uint8_t *md5, struct file_result *r);
/* Instead of all that: adds bytes to a file that is in its place and ends at `offset`. It is left
 * as it was with a fault. */
enum file_fault unfinished_grow(struct unfinished *u, const char *bytes, size_t n, uint64_t offset,
                                struct file_result *r);
/* Brings finished ones whose sync is owed to the disk, and closes them. Returns errno. */
int unfinished_settle_all(struct unfinished *const *all, size_t n);
/* Removes what is not in place. Closes, so it may hang. */
void unfinished_give_up(struct unfinished *u);
/* Of one that was given up or never begun. */
void unfinished_free(struct unfinished *u);

/* Removes an unfinished file that nobody is writing: what a daemon that was killed has left, also
 * another one that served the same folder. */
void unfinished_sweep(int dir, const char *name);
/* All in a directory. */
void unfinished_sweep_all(int at, const char *path);

#endif
