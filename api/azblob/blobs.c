/* SPDX-License-Identifier: MIT
 *
 * Blobs that are there: sent, looked at, changed in what is noted of them, deleted.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/azblob/handlers.h"
#include "api/azstorage/leases.h"
#include "api/azstorage/link.h"
#include "api/azstorage/turns.h"
#include "storage/storage.h"

/* A file that a job wrote is a block blob. */
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
    reply_state(r, item_etag(f, i), f->mtime_us);
}

void blob_headers(struct request *r, const struct file_facts *f, const struct share_item *i,
                  const char **type)
{
    char when[TIMEFMT_SIZE];
    bool ranged = range_header(r) != NULL;
    blob_state(r, f, i);
    properties_reply(r, i, type);
    if (i->md5 && item_is_of(i, f))
        reply_header_text(r, ranged ? "x-ms-blob-content-md5" : "Content-MD5", i->md5);
    metadata_reply(r, i->metadata);
    timefmt_http(i->created_us ? i->created_us : f->mtime_us, when);
    reply_header(r, "x-ms-creation-time", "%s", when);
    reply_header_text(r, "x-ms-blob-type", blob_type_name(blob_type_of(i)));
    reply_header_text(r, "x-ms-server-encrypted", "true");
    reply_header_text(r, "Accept-Ranges", "bytes");
    const struct lease lease = lease_of_item(i);
    lease_headers(r, &lease);
    if (blob_type_of(i) == BLOB_APPEND)
        reply_header(r, "x-ms-blob-committed-block-count", "%d", append_count(i));
    if (blob_type_of(i) == BLOB_BLOCK && strcmp(r->method, "HEAD") == 0) {
        reply_header_text(r, "x-ms-access-tier", "Hot");
        reply_header_text(r, "x-ms-access-tier-inferred", "true");
    }
}

/* --- sent ----------------------------------------------------------------------------------- */

static int show(struct request *r, const struct file_facts *f, const char **type, struct err *e)
{
    struct blob b;
    if (blob_of(r, &b, e) < 0 || blob_check(r, &b, f, e) < 0)
        return -1;
    blob_headers(r, f, &b.item, type);
    return 0;
}

struct replied *azblob_get(struct request *r)
{
    struct blob b;
    struct err e;
    if (blob_of(r, &b, &e) < 0)
        return reply_err(r, &e);
    const struct file_reply what = {.folder = b.at.share,
                                    .path = b.at.path,
                                    .range = range_header(r),
                                    .look = show,
                                    .missing = AZSTORAGE_BLOB_NOT_FOUND};
    return reply_file(r, azstorage_of(r)->files, &what);
}

/* --- looked at, changed --------------------------------------------------------------------- */

struct look {
    struct blob_work *work;
    blob_then then;
    struct turn turn;
    bool in_turn;
};

static void look_finish(struct look *l, struct replied *done)
{
    bool in_turn = l->in_turn;
    l->in_turn = false;
    request_finish(l->work->r, done);
    if (in_turn)
        turn_end(azstorage_of(l->work->r)->turns, &l->turn);
}

void blob_finish(struct blob_work *w, struct replied *done)
{
    look_finish(w->look, done);
}

static void on_looked(void *ctx, const struct err *why, const struct file_result *f)
{
    struct look *l = ctx;
    struct blob_work *w = l->work;
    struct request *r = w->r;
    struct err e;
    int rc = 0;
    if (why)
        rc = blob_fault(why, f->fault, &e);
    else if (f->facts.is_directory)
        rc = blob_not_found(&w->blob, &e);
    /* What is noted may have changed meanwhile. */
    if (rc < 0 || item_load(r, w->blob.name, &w->blob.item, &e) < 0 ||
        blob_check(r, &w->blob, &f->facts, &e) < 0) {
        look_finish(l, reply_err(r, &e));
        return;
    }
    w->item = w->blob.item;
    l->then(w, &f->facts);
}

static void on_turn(void *ctx)
{
    struct look *l = ctx;
    l->in_turn = true;
    files_facts(azstorage_of(l->work->r)->files, &l->work->blob.at, on_looked, l);
}

static struct replied *look(struct request *r, bool changes, blob_then then)
{
    struct blob b;
    struct err e;
    if (blob_of(r, &b, &e) < 0)
        return reply_err(r, &e);
    struct look *l = arena_alloc(&r->arena, sizeof *l);
    struct blob_work *w = blob_work(r, &b);
    struct replied *token = reply_later(r);
    *l = (struct look){.work = w, .then = then};
    w->look = l;
    l->turn = (struct turn){.share_id = b.item.share_id, .path = b.name, .go = on_turn, .ctx = l};
    if (changes)
        turn_want(azstorage_of(r)->turns, &l->turn);
    else
        files_facts(azstorage_of(r)->files, &b.at, on_looked, l);
    return token;
}

struct replied *blob_look(struct request *r, blob_then then)
{
    return look(r, false, then);
}

struct replied *blob_change(struct request *r, blob_then then)
{
    return look(r, true, then);
}

static void refuse(struct blob_work *w, const struct err *e)
{
    blob_finish(w, reply_err(w->r, e));
}

static void head(struct blob_work *w, const struct file_facts *f)
{
    const char *type = BYTES_TYPE;
    blob_headers(w->r, f, &w->item, &type);
    blob_finish(w, reply_length(w->r, type, f->size));
}

struct replied *azblob_head(struct request *r)
{
    return blob_look(r, head);
}

static void note(struct blob_work *w, const struct file_facts *f)
{
    struct request *r = w->r;
    struct err e;
    w->item.revision++;
    w->item.created_us = w->item.created_us ? w->item.created_us : f->mtime_us;
    if (st_item_put(azstorage_of(r)->storage, &w->item, &e) < 0) {
        refuse(w, &e);
        return;
    }
    blob_state(r, f, &w->item);
    reply_header_text(r, "x-ms-request-server-encrypted", "true");
    blob_finish(w, reply_empty(r, 200));
}

static void set_metadata(struct blob_work *w, const struct file_facts *f)
{
    struct err e;
    if (metadata_read(w->r, &w->item.metadata, &e) < 0)
        refuse(w, &e);
    else
        note(w, f);
}

struct replied *azblob_set_metadata(struct request *r)
{
    return blob_change(r, set_metadata);
}

/* All properties are set anew: those that are missing are cleared. */
static void set_properties(struct blob_work *w, const struct file_facts *f)
{
    struct err e;
    const char *md5 = property_given(w->r, "x-ms-blob-", "content-md5");
    if (properties_read(w->r, "x-ms-blob-", &w->item.properties, &e) < 0) {
        refuse(w, &e);
        return;
    }
    w->item.md5 = md5;
    if (md5)
        item_set_file(&w->item, f);
    note(w, f);
}

struct replied *azblob_set_properties(struct request *r)
{
    return blob_change(r, set_properties);
}

/* --- leased --------------------------------------------------------------------------------- */

/* The action itself says whether its id is right. */
static void lease(struct blob_work *w, const struct file_facts *f)
{
    struct request *r = w->r;
    struct err e;
    struct lease l = lease_of_item(&w->item);
    int status = lease_act(r, &l, false, &e);
    lease_to_item(&l, &w->item);
    w->item.revision++;
    if (status < 0 || st_item_put(azstorage_of(r)->storage, &w->item, &e) < 0) {
        refuse(w, &e);
        return;
    }
    blob_state(r, f, &w->item);
    blob_finish(w, reply_empty(r, status));
}

struct replied *azblob_lease(struct request *r)
{
    return blob_change(r, lease);
}

/* --- deleted -------------------------------------------------------------------------------- */

static void on_removed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_work *w = ctx;
    struct request *r = w->r;
    struct err e;
    if ((why && blob_fault(why, f->fault, &e) < 0) ||
        st_item_remove(azstorage_of(r)->storage, w->item.share_id, w->item.path, &e) < 0) {
        refuse(w, &e);
        return;
    }
    reply_header_text(r, "x-ms-delete-type-permanent", "true");
    blob_finish(w, reply_empty(r, 202));
}

static void remove_it(struct blob_work *w, const struct file_facts *f)
{
    (void)f;
    files_remove_file(azstorage_of(w->r)->files, &w->blob.at, on_removed, w);
}

struct replied *azblob_delete(struct request *r)
{
    return blob_change(r, remove_it);
}

int blob_md5(struct request *r, const char *header, uint8_t out[FILES_MD5], struct err *e)
{
    const char *text = request_header(r, header);
    size_t n;
    if (!text)
        return 0;
    if (sodium_base642bin(out, FILES_MD5, text, strlen(text), NULL, &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) == 0 &&
        n == FILES_MD5)
        return 1;
    return err_set(e, AZSTORAGE_MD5, header,
                   "The MD5 value specified in the request is invalid: '%.60s'. MD5 value must be "
                   "128 bits and base64-encoded.",
                   text);
}
