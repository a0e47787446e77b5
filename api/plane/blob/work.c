/* SPDX-License-Identifier: MIT
 *
 * Shared steps of the operations on blobs: reading the facts of the blob's file (in the blob's turn
 * if the operation changes the blob), and the headers of all blobs.
 */
#include <gnutls/crypto.h>
#include <jansson.h>
#include <sodium.h>
#include <string.h>

#include "api/plane/blob/handlers.h"
#include "api/plane/storage/write_lock.h"
#include "lib/crc64.h"

/* A file that a job has written is a block blob. */
enum blob_type blob_type_of(const struct share_item *i)
{
    return i->type == BLOB_NONE ? BLOB_BLOCK : i->type;
}

const char *blob_type_name(enum blob_type t)
{
    return t == BLOB_APPEND ? "AppendBlob" : "BlockBlob";
}

void blob_state(struct request *r, const struct file_facts *f, const struct share_item *i)
{
    reply_state(r, item_etag(f, i), item_modified_us(f, i));
}

/* The row of an append blob has the number of its blocks as "[n]". */
int append_count(const struct share_item *i)
{
    json_auto_t *doc = i->blocks ? json_loads(i->blocks, 0, NULL) : NULL;
    return (int)json_integer_value(json_array_get(doc, 0));
}

int blob_crc64_in(struct request *r, const char *name, uint64_t *out, struct err *e)
{
    const char *text = request_header(r, name);
    uint8_t bytes[sizeof *out];
    size_t n = 0;
    if (!text)
        return 0;
    if (sodium_base642bin(bytes, sizeof bytes, text, strlen(text), NULL, &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) < 0 ||
        n != sizeof bytes)
        return err_set(e, AZSTORAGE_HEADER, name,
                       "%s is '%.40s'; it must be 64 bits, base64-encoded.", name, text);
    *out = 0;
    for (size_t i = 0; i < sizeof bytes; i++) /* the lowest byte first */
        *out |= (uint64_t)bytes[i] << (8 * i);
    return 1;
}

int blob_crc64(struct request *r, uint64_t *out, struct err *e)
{
    static const char name[] = "x-ms-content-crc64";
    if (request_header(r, name) && request_header(r, "Content-MD5"))
        return err_set(
            e, AZSTORAGE_HEADER, name,
            "The request has both Content-MD5 and x-ms-content-crc64; it must have only one.");
    return blob_crc64_in(r, name, out, e);
}

int blob_check_body(struct request *r, struct err *e)
{
    uint8_t md5[FILES_MD5], is[FILES_MD5];
    uint64_t crc64 = 0;
    int has_md5 = md5_read(r, "Content-MD5", md5, e);
    int has_crc64 = has_md5 < 0 ? -1 : blob_crc64(r, &crc64, e);
    if (has_crc64 < 0)
        return -1;
    if (has_crc64 && crc64_add(0, r->raw.s, r->raw.len) != crc64)
        return err_set(e, AZSTORAGE_CRC64_MISMATCH, NULL,
                       "The CRC64 value specified in the request did not match with the CRC64 "
                       "value calculated by the server.");
    if (has_md5 && (gnutls_hash_fast(GNUTLS_DIG_MD5, r->raw.s, r->raw.len, is) < 0 ||
                    memcmp(is, md5, sizeof is) != 0))
        return err_set(e, AZSTORAGE_MD5_MISMATCH, NULL,
                       "The MD5 value specified in the request did not match with the MD5 value "
                       "calculated by the server.");
    return 0;
}

/* --- looking --------------------------------------------------------------------------------- */

bool blob_is_torn(struct request *r, const struct blob *b, const struct file_facts *f,
                  uint64_t since)
{
    if (b->snapshot_us || (f && item_is_of(&b->item, f)))
        return false; /* a snapshot has only one version; or the row is of this very file */
    return turn_was_had(azstorage_of(r)->turns, b->item.share_id, b->name, since);
}

struct blob_looking {
    struct blob_work *work;
    blob_then then;
    struct turn turn;
    uint64_t since;
};

static void look_finish(struct blob_looking *l, struct replied *done)
{
    turn_finish(l->work->r, done, &l->turn);
}

void blob_finish(struct blob_work *w, struct replied *done)
{
    look_finish(w->look, done);
}

static void on_looked(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_looking *l = ctx;
    struct blob_work *w = l->work;
    struct request *r = w->r;
    struct err e;
    int rc = blob_load(r, &w->blob, &e); /* the row may have changed meanwhile */
    if (rc == 0 && !l->turn.is_held && !(why && why->code == ERR_UNAVAILABLE) &&
        blob_is_torn(r, &w->blob, why ? NULL : &f->facts, l->since)) {
        turn_want(azstorage_of(r)->turns, &l->turn);
        return;
    }
    if (rc == 0 && why)
        rc = blob_fault(why, f->fault, &e);
    else if (rc == 0 && f->facts.is_directory)
        rc = blob_not_found(&w->blob, &e);
    if (rc < 0) {
        look_finish(l, reply_err(r, &e));
        return;
    }
    const struct file_facts facts = blob_facts(&w->blob, &f->facts);
    if (blob_check(r, &w->blob, &facts, &e) < 0) {
        look_finish(l, reply_err(r, &e));
        return;
    }
    w->item = w->blob.item;
    l->then(w, &facts);
}

static void on_turn(void *ctx)
{
    struct blob_looking *l = ctx;
    struct err e;
    /* the blob's file may be at another place now */
    if (blob_of(l->work->r, &l->work->blob, &e) < 0)
        look_finish(l, reply_err(l->work->r, &e));
    else
        files_facts(azstorage_of(l->work->r)->files, &l->work->blob.at, on_looked, l);
}

static struct replied *look_at(struct request *r, struct blob b, bool changes, blob_then then)
{
    struct blob_looking *l = arena_alloc(&r->arena, sizeof *l);
    struct blob_work *w = arena_alloc(&r->arena, sizeof *w);
    struct replied *token = reply_later(r);
    *w = (struct blob_work){.r = r, .blob = b, .item = b.item, .look = l};
    *l = (struct blob_looking){.work = w, .then = then, .since = turns_now(azstorage_of(r)->turns)};
    l->turn = (struct turn){.share_id = b.item.share_id, .path = b.name, .go = on_turn, .ctx = l};
    if (changes)
        turn_want(azstorage_of(r)->turns, &l->turn);
    else
        files_facts(azstorage_of(r)->files, &b.at, on_looked, l);
    return token;
}

static struct replied *look(struct request *r, bool changes, blob_then then)
{
    struct blob b;
    struct err e;
    return blob_of(r, &b, &e) < 0 ? reply_err(r, &e) : look_at(r, b, changes, then);
}

struct replied *blob_look(struct request *r, blob_then then)
{
    return look(r, false, then);
}

struct replied *blob_change(struct request *r, blob_then then)
{
    return look(r, true, then);
}

void blob_change_later(struct request *r, blob_then then)
{
    struct blob b;
    struct err e;
    if (blob_of(r, &b, &e) < 0)
        request_finish(r, reply_err(r, &e));
    else
        (void)!look_at(r, b, true, then);
}
