/* SPDX-License-Identifier: MIT
 *
 * Reads a database file without SQLite, because SQLite would make or change a WAL even for reading.
 * The header is page 1 of the file or, after a crash, the newest committed page 1 in the WAL.
 * Formats: https://sqlite.org/fileformat2.html ("The Database Header", "WAL File Format").
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/strbuf.h"
#include "storage/storage_priv.h"

#define HEADER_SIZE     100
#define WAL_HEADER_SIZE 32
#define WAL_FRAME_SIZE  24
#define WAL_MAGIC       0x377f0682u /* + 1: checksums over big-endian words */

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t le32(const unsigned char *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* user_version stands at offset 60 of the header, application_id at 68. */
static void read_header(const unsigned char *h, struct st_peek *out)
{
    out->user_version = be32(h + 60);
    out->application_id = be32(h + 68);
}

struct wal_sum {
    bool big_endian;
    uint32_t s0, s1;
};

static void sum_add(struct wal_sum *c, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i += 8) {
        c->s0 += (c->big_endian ? be32(p + i) : le32(p + i)) + c->s1;
        c->s1 += (c->big_endian ? be32(p + i + 4) : le32(p + i + 4)) + c->s0;
    }
}

static bool read_exact(int fd, unsigned char *buf, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = read(fd, buf + got, n - got);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return false;
        got += (size_t)r;
    }
    return true;
}

/* True if the frame belongs to the WAL with the header `wal`: salts and running checksum match. */
static bool frame_valid(const unsigned char *wal, const unsigned char *frame, size_t page,
                        struct wal_sum *sum)
{
    if (memcmp(frame + 8, wal + 16, 8) != 0)
        return false;
    sum_add(sum, frame, 8);
    sum_add(sum, frame + WAL_FRAME_SIZE, page);
    return sum->s0 == be32(frame + 16) && sum->s1 == be32(frame + 20);
}

static void walk_frames(int fd, const unsigned char *wal, size_t page, struct wal_sum sum,
                        struct st_peek *out)
{
    unsigned char *frame = xcalloc(1, WAL_FRAME_SIZE + page);
    struct st_peek open = *out; /* values of the transaction that is being read */
    while (read_exact(fd, frame, WAL_FRAME_SIZE + page) && frame_valid(wal, frame, page, &sum)) {
        if (be32(frame) == 1)
            read_header(frame + WAL_FRAME_SIZE, &open);
        if (be32(frame + 4) != 0) /* the last frame of a commit */
            *out = open;
    }
    free(frame);
}

static void peek_wal(const char *path, struct st_peek *out)
{
    struct strbuf name = STRBUF_INIT;
    strbuf_printf(&name, "%s-wal", path);
    int fd = open(name.s, O_RDONLY | O_CLOEXEC);
    strbuf_free(&name);
    if (fd < 0)
        return;
    unsigned char wal[WAL_HEADER_SIZE];
    if (read_exact(fd, wal, sizeof wal) && (be32(wal) & ~1u) == WAL_MAGIC) {
        struct wal_sum sum = {.big_endian = be32(wal) & 1};
        size_t page = be32(wal + 8);
        sum_add(&sum, wal, 24);
        if (page >= 512 && page <= 65536 && sum.s0 == be32(wal + 24) && sum.s1 == be32(wal + 28))
            walk_frames(fd, wal, page, sum, out);
    }
    close(fd);
}

static int peek_file(int fd, const char *path, struct st_peek *out, struct err *e)
{
    struct stat s;
    if (fstat(fd, &s) < 0)
        return err_errno(e, ERR_STORAGE, "cannot look at %s", path);
    if (s.st_size == 0)
        return 0;
    unsigned char header[HEADER_SIZE];
    if (!read_exact(fd, header, sizeof header) || memcmp(header, "SQLite format 3", 16) != 0)
        return err_set(
            e, ERR_STORAGE, NULL,
            "%s is damaged or not a database: its first bytes are wrong. Restore it from a backup",
            path);
    out->exists = true;
    out->size = s.st_size;
    read_header(header, out);
    return 0;
}

int st_peek(const char *path, struct st_peek *out, struct err *e)
{
    *out = (struct st_peek){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_errno(e, ERR_STORAGE, "cannot open %s", path);
    int rc = peek_file(fd, path, out, e);
    close(fd);
    if (rc == 0 && out->exists)
        peek_wal(path, out);
    return rc;
}
