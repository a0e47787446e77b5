/* SPDX-License-Identifier: MIT
 *
 * Append Block From URL: the bytes of a blob or file of this daemon's accounts, or of a part of it,
 * are read as if they were the request's body, and count as such in limits. Then the block is
 * appended like any other. The source is read before the request holds the target blob's turn
 * (write_lock.h), so a blob may be appended to itself.
 *
 * opened -> piece -> ... -> piece -> compared with the hashes -> appended
 *
 * If the source was overwritten between the reads of its row and of its file, the request takes the
 * source's turn and opens it again.
 *   https://learn.microsoft.com/rest/api/storageservices/append-block-from-url
 */
#include <gnutls/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/body.h"
#include "api/plane/blob/handlers.h"
#include "api/plane/storage/range.h"
#include "api/plane/storage/source.h"
#include "api/plane/storage/write_lock.h"
#include "lib/crc64.h"

struct append_copy {
    struct request *r;
    void (*append)(struct request *r);
    struct source from;
    struct file_range range;
    struct file *file;      /* owned; NULL: not open */
    bool is_read;           /* all wanted bytes were read when the file was opened */
    uint64_t since;         /* turns_now() before the source's notes were read */
    struct turn turn;       /* the source's turn, taken if the source was overwritten meanwhile */
    uint8_t md5[FILES_MD5]; /* the MD5 that the bytes must have, if has_md5 */
    uint64_t crc64;
    bool has_md5, has_crc64;
    /* MD5 of the bytes that were read, computed piece by piece; NULL: no MD5 is needed */
    gnutls_hash_hd_t md5_so_far;
    uint64_t crc64_so_far;
};

static void copy_free(void *ctx)
{
    struct append_copy *c = ctx;
    if (c->file)
        file_close(c->file);
    if (c->md5_so_far)
        gnutls_hash_deinit(c->md5_so_far, NULL);
}

/* Releases the source: its file and its turn. */
static void leave(struct append_copy *c)
{
    request_release(c->r);
    turn_end(azstorage_of(c->r)->turns, &c->turn);
}

static void fail(struct append_copy *c, const struct err *e)
{
    leave(c);
    request_finish(c->r, reply_err(c->r, e));
}

/* --- read ------------------------------------------------------------------------------------- */

/* Adds one piece to the hashes. Hashing all 100 MiB at once would block the loop. */
static void hash(struct append_copy *c, const char *bytes, size_t n)
{
    if (c->has_crc64)
        c->crc64_so_far = crc64_add(c->crc64_so_far, bytes, n);
    if (c->md5_so_far)
        gnutls_hash(c->md5_so_far, bytes, n);
}

static int check_hashes(const struct append_copy *c, struct err *e)
{
    uint8_t is[FILES_MD5] = {0};
    if (c->has_crc64 && c->crc64_so_far != c->crc64)
        return err_set(e, AZSTORAGE_CRC64_MISMATCH, NULL,
                       "The CRC64 value specified in x-ms-source-content-crc64 did not match with "
                       "the CRC64 value of the source's bytes.");
    if (c->md5_so_far)
        gnutls_hash_output(c->md5_so_far, is);
    if (c->has_md5 && memcmp(is, c->md5, sizeof is) != 0)
        return err_set(e, AZSTORAGE_MD5_MISMATCH, NULL,
                       "The MD5 value specified in x-ms-source-content-md5 did not match with the "
                       "MD5 value of the source's bytes.");
    return 0;
}

static void became_shorter(struct append_copy *c)
{
    struct err e;
    err_set(&e, AZSTORAGE_SOURCE_CONDITION, NULL,
            "The source has become shorter while it was read.");
    fail(c, &e);
}

static void take(struct append_copy *c, const char *bytes, size_t n);

static void on_piece(void *ctx, const struct err *why, char *bytes, size_t n)
{
    struct append_copy *c = ctx;
    struct err e;
    if (why) {
        err_set(&e, why->code == ERR_UNAVAILABLE ? ERR_UNAVAILABLE : ERR_IO, NULL,
                "The source cannot be read: %s.", why->msg);
        fail(c, &e);
    } else if (n == 0) {
        became_shorter(c);
    } else {
        take(c, bytes, n);
    }
    free(bytes);
}

/* Adds a piece, and asks for the next. */
static void take(struct append_copy *c, const char *bytes, size_t n)
{
    struct strbuf *raw = &c->r->raw;
    size_t piece = files_piece(azstorage_of(c->r)->files);
    struct err e;
    strbuf_add(raw, bytes, n);
    hash(c, bytes, n);
    uint64_t left = c->range.len - raw->len;
    if (left > 0 && c->is_read) {
        became_shorter(c);
    } else if (left > 0) {
        file_read(c->file, c->range.offset + raw->len, left < piece ? (size_t)left : piece,
                  on_piece, c);
    } else if (check_hashes(c, &e) < 0) {
        fail(c, &e);
    } else {
        leave(c);
        c->append(c->r);
    }
}

/* --- opened ----------------------------------------------------------------------------------- */

/* The range of bytes that is read first; runs on a worker. The loop checks the range before it
 * reads more. */
static struct file_range choose(const char *text, uint64_t size)
{
    uint64_t first = 0, last = 0;
    if (text && range_parse(text, size, &first, &last) != RANGE_PART)
        return (struct file_range){0};
    return text ? (struct file_range){first, last - first + 1} : (struct file_range){0, size};
}

/* If the source's bytes and row may be of two versions, waits for its turn to open it again: true.
 * False: they are of one version. */
static bool open_in_turn(struct append_copy *c, const struct file_facts *f)
{
    if (c->turn.is_held || !source_is_torn(c->r, &c->from, f, c->since))
        return false;
    if (c->file)
        file_close(c->file);
    c->file = NULL;
    turn_want(azstorage_of(c->r)->turns, &c->turn);
    return true;
}

static int check_source(struct append_copy *c, const struct file_facts *file, struct err *e)
{
    const struct file_facts f = c->from.is_snapshot ? item_facts(&c->from.item) : *file;
    if (source_check_conditions(c->r, &c->from, &f, e) < 0 ||
        source_check_online(c->r, &c->from, &f, e) < 0 || source_cut(&c->range, f.size, e) < 0)
        return -1;
    if (c->range.len == FILES_ALL)
        c->range.len = f.size;
    return body_reserve(c->r, (size_t)c->range.len, e);
}

static void on_opened(void *ctx, const struct err *why, struct file *file, struct file_start *start)
{
    struct append_copy *c = ctx;
    struct err e;
    bool hangs = why && why->code == ERR_UNAVAILABLE;
    c->file = file;
    if (!hangs && open_in_turn(c, why ? NULL : &start->facts))
        return;
    if (hangs) {
        blob_fault(why, start->fault, &e);
        fail(c, &e);
    } else if (why) {
        err_set(&e, AZSTORAGE_COPY_SOURCE, NULL, "The specified copy source does not exist.");
        fail(c, &e);
    } else if (check_source(c, &start->facts, &e) < 0) {
        fail(c, &e);
    } else {
        c->is_read = start->is_all;
        bool fits = start->range.offset == c->range.offset && start->n <= c->range.len;
        take(c, start->bytes ? start->bytes : "", fits ? start->n : 0);
    }
}

static void open_source(struct append_copy *c)
{
    const struct files_open open = {.at = {c->from.folder, c->from.path},
                                    .choose = choose,
                                    .text = request_header(c->r, "x-ms-source-range")};
    files_open(azstorage_of(c->r)->files, &open, on_opened, c);
}

static int find_source(struct append_copy *c, struct err *e)
{
    return source_of(c->r, "x-ms-copy-source", "r", &c->from, e);
}

static void on_turn(void *ctx)
{
    struct append_copy *c = ctx;
    struct err e;
    if (find_source(c, &e) < 0)
        fail(c, &e);
    else
        open_source(c);
}

/* --- the request ------------------------------------------------------------------------------ */

static int read_request(struct append_copy *c, struct err *e)
{
    struct request *r = c->r;
    if (r->raw.len > 0)
        return err_set(e, AZSTORAGE_HEADER, "Content-Length",
                       "A block that comes from a URL has no body, so Content-Length must be 0.");
    int md5 = md5_read(r, "x-ms-source-content-md5", c->md5, e);
    int crc64 = md5 < 0 ? -1 : blob_crc64_in(r, "x-ms-source-content-crc64", &c->crc64, e);
    c->has_md5 = md5 > 0;
    c->has_crc64 = crc64 > 0;
    return crc64 < 0 || source_range(r, &c->range, e) < 0 ? -1 : find_source(c, e);
}

struct replied *azappend_copy(struct request *r, void (*append)(struct request *r))
{
    struct err e;
    struct blob b;
    struct append_copy *c = arena_alloc(&r->arena, sizeof *c);
    *c = (struct append_copy){.r = r, .append = append, .since = turns_now(azstorage_of(r)->turns)};
    if (blob_of(r, &b, &e) < 0 || read_request(c, &e) < 0)
        return reply_err(r, &e);
    c->turn =
        (struct turn){.share_id = c->from.share.id, .path = c->from.name, .go = on_turn, .ctx = c};
    if (c->has_md5 && gnutls_hash_init(&c->md5_so_far, GNUTLS_DIG_MD5) < 0)
        c->md5_so_far = NULL; /* an MD5 that cannot be computed matches none */
    request_keep(r, c, copy_free);
    open_source(c);
    return reply_later(r);
}
