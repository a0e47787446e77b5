/* SPDX-License-Identifier: MIT
 *
 * A tar archive of POSIX.1-2001 (pax): a long name or a large size is in a record before the entry.
 * The list of files gives the archive's length, so the archive is sent in pieces, each as large as
 * one request may be. If a file became shorter, zeros fill its place; if it grew, only the listed
 * length is copied. Both are reported by name. File modes permit every account on the job's nodes
 * to change the copy, like files that the job makes.
 */
#include "daemon/cli/folder_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cli/interrupt.h"
#include "daemon/cli/progress.h"
#include "daemon/cli/table.h"
#include "lib/fs.h"
#include "lib/strbuf.h"

#define BLOCK     512
#define NAME_MAX_ 100 /* the most bytes of a name, and of a link's target, in a plain header */
#define SIZE_MAX_ INT64_C(077777777777)
#define PIECE     (4U << 20) /* the most bytes of a file that one request may write */

struct copy {
    struct daemon_client *c;
    struct folder *f;
    struct client_put put; /* the requests that write the archive */
    char *piece;
    size_t n; /* bytes in `piece` */
    int64_t sent, total;
    struct progress progress;
};

/* --- headers ---------------------------------------------------------------------------------- */

/* The fields of a header with their widths, as in
 * https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06 */
struct ustar {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
    char magic[8], owner[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct ustar) == BLOCK, "a header is one block");

static void fill(struct ustar *h, const char *name, char type, unsigned mode, int64_t size,
                 int64_t mtime)
{
    unsigned sum = 0;
    memset(h->sum, ' ', sizeof h->sum);
    memcpy(h->name, name, strnlen(name, sizeof h->name));
    snprintf(h->mode, sizeof h->mode, "%07o", mode);
    snprintf(h->uid, sizeof h->uid, "%07o", 0U);
    snprintf(h->gid, sizeof h->gid, "%07o", 0U);
    snprintf(h->size, sizeof h->size, "%011" PRIo64, size > SIZE_MAX_ ? 0 : size);
    snprintf(h->mtime, sizeof h->mtime, "%011" PRIo64, mtime < 0 ? 0 : mtime & SIZE_MAX_);
    h->type = type;
    memcpy(h->magic, "ustar\00000", sizeof h->magic);
    for (size_t i = 0; i < sizeof *h; i++)
        sum += ((const unsigned char *)h)[i];
    snprintf(h->sum, sizeof h->sum, "%06o", sum & 0777777);
}

/* Adds the record "LENGTH KEY=VALUE\n"; LENGTH counts its own digits, too. */
static void add_record(struct strbuf *b, const char *key, const char *value)
{
    size_t rest = strlen(key) + strlen(value) + 3, n = rest + 1;
    for (size_t before = 0; before != n;) {
        before = n;
        n = rest + (size_t)snprintf(NULL, 0, "%zu", before);
    }
    strbuf_printf(b, "%zu %s=%s\n", n, key, value);
}

static size_t padding(int64_t n)
{
    return (size_t)((BLOCK - n % BLOCK) % BLOCK);
}

static void add_zeros(struct strbuf *b, size_t n)
{
    memset(strbuf_room(b, n), 0, n);
    b->len += n;
}

/* Adds the header of an entry, after the records that belong to the entry. */
static void add_header(struct strbuf *b, const struct folder_entry *entry)
{
    struct ustar h = {.type = 0};
    struct strbuf records = STRBUF_INIT;
    bool is_dir = entry->kind == FOLDER_DIR, is_link = entry->kind == FOLDER_LINK;
    char size[24];
    if (strlen(entry->path) > NAME_MAX_)
        add_record(&records, "path", entry->path);
    if (is_link && strlen(entry->target) > NAME_MAX_)
        add_record(&records, "linkpath", entry->target);
    snprintf(size, sizeof size, "%" PRId64, entry->size);
    if (entry->size > SIZE_MAX_)
        add_record(&records, "size", size);
    if (records.len) {
        struct ustar pax = {.type = 0};
        fill(&pax, "././@PaxHeader", 'x', 0644, (int64_t)records.len, 0);
        strbuf_add(b, &pax, sizeof pax);
        strbuf_add(b, records.s, records.len);
        add_zeros(b, padding((int64_t)records.len));
    }
    if (is_link)
        memcpy(h.link, entry->target, strnlen(entry->target, sizeof h.link));
    fill(&h, entry->path,
         is_dir    ? '5'
         : is_link ? '2'
                   : '0',
         is_dir || is_link || entry->executable ? 0777 : 0666, entry->size, entry->changed.tv_sec);
    strbuf_add(b, &h, sizeof h);
    strbuf_free(&records);
}

int64_t folder_copy_size(const struct folder *f)
{
    struct strbuf b = STRBUF_INIT;
    int64_t sum = INT64_C(2) * BLOCK; /* the archive ends with two blocks of zeros */
    for (size_t i = 0; i < f->n; i++) {
        b.len = 0;
        add_header(&b, &f->entries[i]);
        sum += (int64_t)b.len + f->entries[i].size + (int64_t)padding(f->entries[i].size);
    }
    strbuf_free(&b);
    return sum;
}

/* --- sending ---------------------------------------------------------------------------------- */

static int send_piece(struct copy *w, struct err *e)
{
    char range[64];
    struct strbuf path = STRBUF_INIT;
    const char *const headers[] = {"x-ms-write: update", range, NULL};
    if (w->n == 0)
        return 0;
    if (interrupt_seen())
        return err_set(e, ERR_IO, NULL, "interrupted");
    snprintf(range, sizeof range, "x-ms-range: bytes=%" PRId64 "-%" PRId64, w->sent,
             w->sent + (int64_t)w->n - 1);
    strbuf_concat(&path, w->put.path, "?comp=range");
    struct client_put put = w->put;
    put.path = path.s;
    put.headers = headers;
    put.bytes = w->piece;
    put.n = w->n;
    int rc = client_put_file(w->c, &put, e);
    strbuf_free(&path);
    w->sent += (int64_t)w->n;
    w->n = 0;
    progress_say_bytes(&w->progress, "copying the folder", w->sent, w->total);
    return rc;
}

/* Adds `n` bytes to the archive; `bytes` NULL: zeros. */
static int add_bytes(struct copy *w, const char *bytes, size_t n, struct err *e)
{
    while (n > 0) {
        size_t now = n < PIECE - w->n ? n : PIECE - w->n;
        if (bytes)
            memcpy(w->piece + w->n, bytes, now);
        else
            memset(w->piece + w->n, 0, now);
        bytes = bytes ? bytes + now : NULL;
        n -= now;
        w->n += now;
        if (w->n == PIECE && send_piece(w, e) < 0)
            return -1;
    }
    return 0;
}

/* --- files ------------------------------------------------------------------------------------ */

static bool is_same(const struct folder_entry *entry, const struct stat *st)
{
    return st->st_size == entry->size && st->st_mtim.tv_sec == entry->changed.tv_sec &&
           st->st_mtim.tv_nsec == entry->changed.tv_nsec;
}

/* Reads the file directly into the piece. *left: how many bytes the file is too short. */
static int add_content(struct copy *w, int fd, int64_t size, int64_t *left, struct err *e)
{
    ssize_t n = 1;
    for (*left = size; *left > 0 && n > 0;) {
        size_t room = PIECE - w->n;
        n = read(fd, w->piece + w->n, (int64_t)room < *left ? room : (size_t)*left);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0)
            return err_errno(e, ERR_IO, "it cannot be read");
        else {
            w->n += (size_t)n;
            *left -= n;
        }
        if (w->n == PIECE && send_piece(w, e) < 0)
            return -1;
    }
    return 0;
}

static int add_open_file(struct copy *w, int fd, const struct folder_entry *entry, struct err *e)
{
    struct stat before, after;
    int64_t left = 0;
    if (fstat(fd, &before) < 0 || !S_ISREG(before.st_mode))
        return err_set(e, ERR_CONFIG, NULL, "it is not a file any more");
    if (add_content(w, fd, entry->size, &left, e) < 0)
        return -1;
    bool same =
        left == 0 && fstat(fd, &after) == 0 && is_same(entry, &before) && is_same(entry, &after);
    if (!same)
        folder_note(w->f, &w->f->warnings, entry->path,
                    left ? "became shorter while it was copied; the copy ends with zeros"
                         : "changed while it was copied; the copy may be half old, half new");
    return add_bytes(w, NULL, (size_t)left + padding(entry->size), e);
}

/* Adds a file. If a FIFO or a link has replaced it, does not wait for the FIFO or follow the
 * link. */
static int add_file(struct copy *w, const struct folder_entry *entry, struct err *e)
{
    char *path = fs_join(w->f->dir, entry->path);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int rc =
        fd < 0 ? err_errno(e, ERR_CONFIG, "it cannot be opened") : add_open_file(w, fd, entry, e);
    if (rc < 0)
        err_prefix(e, "the folder cannot be copied, and nothing was submitted: %.300s", path);
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

static int add_all(struct copy *w, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < w->f->n; i++) {
        const struct folder_entry entry = w->f->entries[i];
        b.len = 0;
        add_header(&b, &entry);
        rc = add_bytes(w, b.s, b.len, e);
        if (rc == 0 && entry.kind == FOLDER_FILE)
            rc = add_file(w, &entry, e);
    }
    strbuf_free(&b);
    if (rc == 0)
        rc = add_bytes(w, NULL, (size_t)2 * BLOCK, e);
    return rc < 0 ? -1 : send_piece(w, e);
}

int folder_copy(struct daemon_client *c, struct folder *f, const char *account, const char *share,
                const char *archive, struct err *e)
{
    char length[64];
    const char *const headers[] = {"x-ms-type: file", length, NULL};
    struct copy w = {.c = c,
                     .f = f,
                     .put = {.account = account, .share = share, .path = archive},
                     .total = folder_copy_size(f)};
    snprintf(length, sizeof length, "x-ms-content-length: %" PRId64, w.total);
    struct client_put make = w.put;
    make.headers = headers;
    progress_begin(&w.progress);
    client_quiet(c, true);
    int rc = client_put_file(c, &make, e);
    w.piece = rc < 0 ? NULL : xcalloc(1, PIECE);
    if (rc == 0)
        rc = add_all(&w, e);
    progress_end(&w.progress);
    client_quiet(c, false);
    free(w.piece);
    return rc;
}

void folder_copy_remove(struct daemon_client *c, const char *account, const char *share,
                        const char *archive)
{
    struct err ignored;
    const struct client_put gone = {
        .method = "DELETE", .account = account, .share = share, .path = archive};
    if (client_put_file(c, &gone, &ignored) < 0)
        return;
}
