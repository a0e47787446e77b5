/* SPDX-License-Identifier: MIT
 *
 * minizip reads the archive; this file decides which archives are refused.
 */
#include "nodeagent-proto/agent/zip/zip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent-proto/agent/zip/zip_priv.h"

#define ENCRYPTED    1U
#define MADE_ON_UNIX 3U
#define NAME_BYTES   4096
#define PIECE        ((size_t)64 * 1024)

enum { METHOD_STORED = 0, METHOD_DEFLATED = 8 };

const struct zip_limits zip_usual_limits = {ZIP_BYTES_MAX, ZIP_ENTRIES_MAX};

static int refuse(const struct zip_entry *x, const char *why, struct err *e)
{
    return err_set(e, ERR_INVALID_CONTENT, NULL, "The entry '%.200s' of the archive %s.", x->path,
                   why);
}

/* Reading failed: either the disk failed (ERR_IO), or the archive is damaged
 * (ERR_INVALID_CONTENT). */
static int unreadable(const struct zip *z, struct err *e)
{
    return z->failed ? err_set(e, ERR_IO, NULL, "The archive cannot be read.")
                     : err_set(e, ERR_INVALID_CONTENT, NULL,
                               "The archive is not a zip file, or is damaged.");
}

/* --- the file, as minizip sees it ------------------------------------------------------------- */

static voidpf file_open(voidpf opaque, const void *name, int mode)
{
    (void)name, (void)mode;
    return opaque;
}

static uLong file_read(voidpf opaque, voidpf stream, void *buf, uLong size)
{
    struct zip *z = opaque;
    uLong n = 0;
    (void)stream;
    while (n < size) {
        ssize_t got = pread(z->fd, (char *)buf + n, size - n, (off_t)(z->at + n));
        if (got < 0 && errno == EINTR)
            continue;
        z->failed = z->failed || got < 0;
        if (got <= 0)
            break;
        n += (uLong)got;
    }
    z->at += n;
    return n;
}

static ZPOS64_T file_tell(voidpf opaque, voidpf stream)
{
    (void)stream;
    return ((const struct zip *)opaque)->at;
}

static long file_seek(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
    struct zip *z = opaque;
    uint64_t from = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                    : origin == ZLIB_FILEFUNC_SEEK_CUR ? z->at
                                                       : z->file_size;
    (void)stream;
    if (offset > INT64_MAX - from)
        return -1;
    z->at = from + offset;
    return 0;
}

static int file_close(voidpf opaque, voidpf stream)
{
    (void)opaque, (void)stream;
    return 0;
}

static int file_error(voidpf opaque, voidpf stream)
{
    (void)stream;
    return ((const struct zip *)opaque)->failed;
}

/* --- the directory ---------------------------------------------------------------------------- */

/* Refuses entries that are neither files nor directories. Only entries that were made on Unix have
 * a mode. */
static int check_mode(struct zip_entry *x, const unz_file_info64 *info, struct err *e)
{
    uLong mode = info->external_fa >> 16, kind = mode & S_IFMT;
    if (info->version >> 8 != MADE_ON_UNIX || mode == 0) {
        x->is_program = true;
        return 0;
    }
    x->is_program = mode & 0111;
    if (kind == S_IFLNK)
        return refuse(x, "is a symbolic link", e);
    if (kind != 0 && kind != (x->is_directory ? (uLong)S_IFDIR : (uLong)S_IFREG))
        return refuse(x, "is neither a file nor a directory", e);
    return 0;
}

static int check_entry(struct zip_entry *x, const unz_file_info64 *info, struct err *e)
{
    if (info->flag & ENCRYPTED)
        return refuse(x, "is encrypted", e);
    if (info->compression_method != METHOD_STORED && info->compression_method != METHOD_DEFLATED)
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "The entry '%.200s' of the archive is packed by method %lu; only stored (0) "
                       "and deflated (8) ones can be read.",
                       x->path, info->compression_method);
    if (info->compression_method == METHOD_STORED && x->size != info->compressed_size)
        return refuse(x, "has two sizes", e);
    if (x->is_directory && x->size != 0)
        return refuse(x, "is a directory with bytes", e);
    return check_mode(x, info, e);
}

static int read_entry(struct zip *z, struct zip_entry *x, uint64_t *packed, struct err *e)
{
    unz_file_info64 info;
    char name[NAME_BYTES + 1] = "";
    if (unzGetCurrentFileInfo64(z->unz, &info, name, NAME_BYTES, NULL, 0, NULL, 0) != UNZ_OK ||
        unzGetFilePos64(z->unz, &x->place) != UNZ_OK)
        return unreadable(z, e);
    size_t n = info.size_filename < NAME_BYTES ? info.size_filename : NAME_BYTES;
    x->size = info.uncompressed_size;
    *packed = info.compressed_size;
    return zip_name(z, name, n, x, e) < 0 ? -1 : check_entry(x, &info, e);
}

/* Adds `more` to the total; fails above the bound `most`. */
static int add_within(uint64_t *total, uint64_t more, uint64_t most)
{
    if (more > most || *total > most - more)
        return -1;
    *total += more;
    return 0;
}

static int read_directory(struct zip *z, const struct zip_limits *limits, struct err *e)
{
    unz_global_info64 all;
    uint64_t bytes = 0, packed = 0, of_file = 0;
    if (unzGetGlobalInfo64(z->unz, &all) != UNZ_OK)
        return unreadable(z, e);
    if (all.number_entry > limits->entries)
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "The archive has %llu entries; it may have %zu.",
                       (unsigned long long)all.number_entry, limits->entries);
    z->entries = arena_alloc(&z->a, ((size_t)all.number_entry + 1) * sizeof *z->entries);
    int rc = all.number_entry > 0 ? unzGoToFirstFile(z->unz) : UNZ_END_OF_LIST_OF_FILE;
    for (; rc == UNZ_OK && z->n < all.number_entry; rc = unzGoToNextFile(z->unz)) {
        struct zip_entry *x = &z->entries[z->n++];
        if (read_entry(z, x, &packed, e) < 0)
            return -1;
        if (add_within(&bytes, x->size, limits->bytes) < 0)
            return err_set(e, ERR_INVALID_CONTENT, NULL,
                           "The archive unpacks to more than %llu bytes.",
                           (unsigned long long)limits->bytes);
        /* Entries that share compressed bytes would make a small archive unpack to a very large
         * one. */
        if (add_within(&of_file, packed, z->file_size) < 0)
            return refuse(x, "shares bytes with another entry, or lies beyond the archive's end",
                          e);
    }
    return z->n == all.number_entry ? 0 : unreadable(z, e);
}

int zip_open(int fd, const struct zip_limits *limits, struct zip **out, struct err *e)
{
    struct stat st;
    *out = NULL;
    if (fstat(fd, &st) < 0)
        return err_set(e, ERR_IO, NULL, "The archive cannot be read: %s.", strerror(errno));
    struct zip *z = xcalloc(1, sizeof *z);
    zlib_filefunc64_def files = {.zopen64_file = file_open,
                                 .zread_file = file_read,
                                 .ztell64_file = file_tell,
                                 .zseek64_file = file_seek,
                                 .zclose_file = file_close,
                                 .zerror_file = file_error,
                                 .opaque = z};
    z->fd = fd;
    z->file_size = (uint64_t)st.st_size;
    arena_init(&z->a);
    z->unz = unzOpen2_64("archive", &files);
    int rc = z->unz ? read_directory(z, limits, e) : unreadable(z, e);
    if (rc < 0 || zip_check_paths(z, e) < 0) {
        zip_close(z);
        return -1;
    }
    *out = z;
    return 0;
}

void zip_close(struct zip *z)
{
    if (!z)
        return;
    if (z->unz)
        unzClose(z->unz);
    arena_free(&z->a);
    free(z);
}

size_t zip_entries(const struct zip *z)
{
    return z->n;
}

const struct zip_entry *zip_entry(const struct zip *z, size_t i)
{
    return &z->entries[i];
}

/* --- bytes ------------------------------------------------------------------------------------ */

static int read_pieces(struct zip *z, const struct zip_entry *x, zip_sink sink, void *ctx,
                       struct err *e)
{
    char *piece = xcalloc(1, PIECE);
    uint64_t size = 0;
    int got, rc = 0;
    while (rc == 0 && (got = unzReadCurrentFile(z->unz, piece, (unsigned)PIECE)) != 0) {
        if (got < 0)
            rc = z->failed ? unreadable(z, e) : refuse(x, "is damaged", e);
        else
            rc = sink(ctx, piece, (size_t)got, e);
        size += got > 0 ? (uint64_t)got : 0;
    }
    free(piece);
    return rc == 0 && size != x->size ? refuse(x, "is shorter than its recorded size", e) : rc;
}

int zip_read(struct zip *z, size_t i, zip_sink sink, void *ctx, struct err *e)
{
    const struct zip_entry *x = &z->entries[i];
    if (unzGoToFilePos64(z->unz, &x->place) != UNZ_OK || unzOpenCurrentFile(z->unz) != UNZ_OK)
        return z->failed ? unreadable(z, e) : refuse(x, "is not at the recorded place", e);
    int rc = read_pieces(z, x, sink, ctx, e);
    int closed = unzCloseCurrentFile(z->unz);
    return rc == 0 && closed != UNZ_OK ? refuse(x, "has a wrong checksum", e) : rc;
}
