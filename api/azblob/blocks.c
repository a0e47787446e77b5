/* SPDX-License-Identifier: MIT
 *
 * Blocks: what is put block by block becomes a blob when a list of them is committed. Blocks that
 * are not committed are files in a hidden folder of the account; those that are, are parts of the
 * blob, whose row says where each ends.
 * https://learn.microsoft.com/rest/api/storageservices/put-block-list
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/azblob/handlers.h"
#include "api/azstorage/turns.h"
#include "api/azstorage/xml_write.h"
#include "api/http/xml.h"
#include "files/walk.h"
#include "model/spec.h"
#include "storage/storage.h"

#define ID_MAX     64    /* bytes */
#define BLOCKS_MAX 50000 /* committed; twice as many may wait */
#define LIST_STEP  5000  /* blocks of a list that are found in one turn of the loop: some ms */

/* --- names ---------------------------------------------------------------------------------- */

const char *blocks_folder(struct request *r)
{
    unsigned char hash[16];
    char text[2 * sizeof hash + 1];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)r->rest, strlen(r->rest), NULL, 0);
    sodium_bin2hex(text, sizeof text, hash, sizeof hash);
    return arena_printf(&r->arena, SHARE_BLOCKS "/%lld/%s", (long long)grant_of(r)->share.id, text);
}

int block_id(struct request *r, const char *text, const char **out, struct err *e)
{
    unsigned char id[ID_MAX];
    char hex[2 * ID_MAX + 1];
    size_t n = 0;
    if (!text)
        return err_set(e, AZSTORAGE_QUERY_MISSING, "blockid",
                       "A query parameter that's mandatory for this request is not specified: "
                       "blockid.");
    if (sodium_base642bin(id, sizeof id, text, strlen(text), NULL, &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) < 0 ||
        n == 0)
        return err_set(e, AZSTORAGE_BLOCK_ID, "blockid",
                       "The specified block ID is invalid: '%.100s'. The block ID must be "
                       "Base64-encoded, of 1 to %d bytes.",
                       text, ID_MAX);
    *out = arena_strdup(&r->arena, sodium_bin2hex(hex, sizeof hex, id, n));
    return 0;
}

static const char *text_of_id(struct arena *a, const char *hex)
{
    unsigned char id[ID_MAX];
    size_t n = 0;
    char *text = arena_alloc(a, sodium_base64_ENCODED_LEN(ID_MAX, sodium_base64_VARIANT_ORIGINAL));
    if (sodium_hex2bin(id, sizeof id, hex, strlen(hex), NULL, &n, NULL) < 0)
        return NULL;
    return sodium_bin2base64(text,
                             sodium_base64_ENCODED_LEN(ID_MAX, sodium_base64_VARIANT_ORIGINAL), id,
                             n, sodium_base64_VARIANT_ORIGINAL);
}

/* --- what blocks there are ------------------------------------------------------------------ */

struct block {
    const char *id; /* in hexadecimal digits */
    uint64_t offset, size;
};

struct blocks {
    struct block *item; /* arena; committed ones in the blob's order, others in that of their ids */
    size_t n;
};

/* The next of [["ID",size],...], as blocks_text() writes it: as JSON, 50,000 of them would hold the
 * loop for 25 ms. */
static bool read_block(struct arena *a, const char **p, struct block *out)
{
    const char *id = *p + 2;
    if (strncmp(*p, "[\"", 2) != 0)
        return false;
    size_t n = strspn(id, "0123456789abcdef");
    if (strncmp(id + n, "\",", 2) != 0)
        return false;
    char *end;
    out->id = arena_strndup(a, id, n);
    out->size = strtoull(id + n + 2, &end, 10);
    if (*end != ']')
        return false;
    *p = end + 1;
    return true;
}

/* Of the bytes that are there now; somebody else's file has no blocks. */
static struct blocks committed_of(struct arena *a, const struct share_item *i,
                                  const struct file_facts *f)
{
    struct blocks b = {0};
    const char *p = i->blocks && item_is_of(i, f) ? i->blocks : "";
    size_t room = 1;
    uint64_t at = 0;
    for (const char *c = p; *c; c++)
        room += *c == '[';
    b.item = arena_alloc(a, room * sizeof *b.item);
    while (*p == '[' || *p == ',') {
        struct block *one = &b.item[b.n];
        p++;
        if (!read_block(a, &p, one))
            return (struct blocks){.item = b.item};
        one->offset = at;
        at += one->size;
        b.n++;
    }
    return b;
}

/* Blocks that were there before the blob was put whole are forgotten. Once the clock was set back,
 * times do not say which: all count, until the clock is where it was. */
static struct blocks waiting_of(struct request *r, const struct file_items *found,
                                const struct share_item *i)
{
    struct arena *a = &r->arena;
    struct blocks b = {.item = arena_alloc(a, (found->n + 1) * sizeof *b.item)};
    bool is_ordered = i->id && !i->blocks && i->mtime_ns / 1000 <= r->now_us;
    int64_t since_ns = is_ordered ? i->mtime_ns : INT64_MIN;
    for (size_t k = 0; k < found->n; k++) {
        const struct file_item *f = &found->item[k];
        if (!f->facts.is_directory && f->facts.mtime_ns > since_ns)
            b.item[b.n++] = (struct block){arena_strdup(a, f->name), 0, f->facts.size};
    }
    return b;
}

static const struct block *find_waiting(const struct blocks *b, const char *id)
{
    size_t low = 0, high = b->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(b->item[middle].id, id);
        if (order == 0)
            return &b->item[middle];
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
    }
    return NULL;
}

static int by_id(const void *a, const void *b)
{
    const struct block *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

/* Committed blocks by their ids; an array of n pointers. */
static const struct block **sorted(struct arena *a, const struct blocks *b)
{
    const struct block **list = arena_alloc(a, (b->n + 1) * sizeof(struct block *));
    for (size_t i = 0; i < b->n; i++)
        list[i] = &b->item[i];
    qsort(list, b->n, sizeof(struct block *), by_id);
    return list;
}

/* A request that needs to know what blocks there are. */
struct blocks_work {
    struct blob_work *w;
    bool exists;
    struct file_facts facts;
    struct blocks committed, waiting;
    void (*then)(struct blocks_work *b);
    struct turn turn;
    bool in_turn;
    /* commit: */
    struct share_item item;
    struct commit *commit;
};

static void finish(struct blocks_work *b, struct replied *done)
{
    bool in_turn = b->in_turn;
    b->in_turn = false;
    request_finish(b->w->r, done);
    if (in_turn)
        turn_end(azstorage_of(b->w->r)->turns, &b->turn);
}

static void on_waiting(void *ctx, const struct err *why, enum file_fault fault,
                       struct file_items *found)
{
    struct blocks_work *b = ctx;
    struct request *r = b->w->r;
    struct err e;
    bool none = why && (fault == FILE_MISSING || fault == FILE_PARENT_MISSING);
    if (why && !none) {
        blob_fault(why, fault, &e);
        finish(b, reply_err(r, &e));
        return;
    }
    if (blob_load(r, &b->w->blob, &e) < 0) {
        finish(b, reply_err(r, &e));
        return;
    }
    const struct share_item *item = &b->w->blob.item;
    if (b->exists && blob_type_of(item) != BLOB_BLOCK) {
        err_set(&e, AZSTORAGE_BLOB_TYPE, NULL,
                "The blob type is invalid for this operation: it is an %s, which has no block "
                "list.",
                blob_type_name(blob_type_of(item)));
        finish(b, reply_err(r, &e));
        return;
    }
    b->committed = committed_of(&r->arena, item, &b->facts);
    if (!none)
        b->waiting = waiting_of(r, found, item);
    b->then(b);
}

static void on_facts(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blocks_work *b = ctx;
    struct request *r = b->w->r;
    struct err e;
    b->exists = !why && !f->facts.is_directory;
    if (b->exists)
        b->facts = blob_facts(&b->w->blob, &f->facts);
    else if (!why && !b->w->blob.aside)
        blob_aside(r, &b->w->blob); /* a directory has its name */
    if ((why && why->code == ERR_UNAVAILABLE && blob_fault(why, f->fault, &e) < 0) ||
        blob_check(r, &b->w->blob, b->exists ? &b->facts : NULL, &e) < 0) {
        finish(b, reply_err(r, &e));
        return;
    }
    const struct files_page page = {.at = {blob_account_folder(r), blocks_folder(r)},
                                    .max = 2 * BLOCKS_MAX};
    files_page(azstorage_of(r)->files, &page, on_waiting, b);
}

static void on_turn(void *ctx)
{
    struct blocks_work *b = ctx;
    b->in_turn = true;
    files_facts(azstorage_of(b->w->r)->files, &b->w->blob.at, on_facts, b);
}

static struct replied *with_blocks(struct request *r, bool changes,
                                   void (*then)(struct blocks_work *b), struct blocks_work *b)
{
    struct blob blob;
    struct err e;
    if (blob_of(r, &blob, &e) < 0)
        return reply_err(r, &e);
    b->w = blob_work(r, &blob);
    b->then = then;
    struct replied *token = reply_later(r);
    b->turn =
        (struct turn){.share_id = blob.item.share_id, .path = blob.name, .go = on_turn, .ctx = b};
    if (changes)
        turn_want(azstorage_of(r)->turns, &b->turn);
    else
        files_facts(azstorage_of(r)->files, &blob.at, on_facts, b);
    return token;
}

/* --- the list ------------------------------------------------------------------------------- */

static void add_list(struct strbuf *text, struct arena *a, const char *name, const struct blocks *b)
{
    xml_open(text, name);
    for (size_t i = 0; i < b->n; i++) {
        const char *id = text_of_id(a, b->item[i].id);
        if (!id)
            continue;
        xml_open(text, "Block");
        xml_element(text, "Name", id);
        xml_element(text, "Size", arena_printf(a, "%llu", (unsigned long long)b->item[i].size));
        xml_close(text, "Block");
    }
    xml_close(text, name);
}

static bool is_kind(struct request *r, const char *kind)
{
    const char *asked = request_query(r, "blocklisttype");
    return strcasecmp(asked && *asked ? asked : "committed", kind) == 0;
}

static void show(struct blocks_work *b)
{
    struct request *r = b->w->r;
    struct err e;
    bool all = is_kind(r, "all"), waiting = all || is_kind(r, "uncommitted");
    if (!b->exists && b->waiting.n == 0) {
        blob_not_found(&b->w->blob, &e);
        finish(b, reply_err(r, &e));
        return;
    }
    struct strbuf text = STRBUF_INIT;
    xml_begin_document(&text);
    xml_open(&text, "BlockList");
    if (all || !waiting)
        add_list(&text, &r->arena, "CommittedBlocks", &b->committed);
    if (waiting)
        add_list(&text, &r->arena, "UncommittedBlocks", &b->waiting);
    xml_close(&text, "BlockList");
    if (b->exists)
        blob_state(r, &b->facts, &b->w->blob.item);
    reply_header(r, "x-ms-blob-content-length", "%llu", (unsigned long long)b->facts.size);
    finish(b, reply_text(r, 200, "application/xml", strbuf_take(&text)));
}

struct replied *azblocks_get(struct request *r)
{
    struct err e;
    if (!is_kind(r, "committed") && !is_kind(r, "uncommitted") && !is_kind(r, "all")) {
        err_set(&e, ERR_INVALID_QUERY, "blocklisttype",
                "blocklisttype is '%.40s'; it must be committed, uncommitted or all.",
                request_query(r, "blocklisttype"));
        return reply_err(r, &e);
    }
    return with_blocks(r, false, show, arena_alloc(&r->arena, sizeof(struct blocks_work)));
}

/* --- committed ------------------------------------------------------------------------------ */

/* One block of a list that is to be committed. */
struct chosen {
    bool waiting;
    struct file_part part;
    const char *id;
    uint64_t size;
};

struct commit {
    const struct xml *next_chosen;  /* of the request's list; NULL: all are read */
    const struct block **committed; /* arena; by their ids */
    struct chosen *item;            /* arena */
    size_t n, next;
    struct file_upload *upload; /* owned */
};

static void commit_free(void *ctx)
{
    struct commit *c = ctx;
    if (c->upload)
        upload_end(c->upload);
}

static void fail(struct blocks_work *b, const struct err *why, enum file_fault fault)
{
    struct err e;
    blob_fault(why, fault, &e);
    finish(b, reply_err(b->w->r, &e));
}

/* Ids are hexadecimal digits, which need no escapes. */
static const char *blocks_text(struct arena *a, const struct commit *c)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_putc(&b, '[');
    for (size_t i = 0; i < c->n; i++) {
        strbuf_concat(&b, i ? ",[\"" : "[\"", c->item[i].id, "\",");
        strbuf_int(&b, (int64_t)c->item[i].size);
        strbuf_putc(&b, ']');
    }
    strbuf_putc(&b, ']');
    const char *copy = arena_strdup(a, b.s);
    strbuf_free(&b);
    return copy;
}

/* Blocks that were not used are thrown away, too; what is put from now on is for the next list. A
 * folder that cannot be removed is not worth a failure: the blob is there. */
static void on_blocks_removed(void *ctx, const struct err *why)
{
    struct blocks_work *b = ctx;
    (void)why;
    reply_header_text(b->w->r, "x-ms-request-server-encrypted", "true");
    finish(b, reply_empty(b->w->r, 201));
}

static void on_finished(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blocks_work *b = ctx;
    struct request *r = b->w->r;
    struct err e;
    struct share_item *item = &b->item;
    if (why) {
        fail(b, why, f->fault);
        return;
    }
    item_set_file(item, &f->facts);
    item->blocks = blocks_text(&r->arena, b->commit);
    item->aside = b->w->blob.aside ? b->w->blob.at.path : NULL;
    if (blob_note(r, &b->w->blob, item, &e) < 0) {
        finish(b, reply_err(r, &e));
        return;
    }
    blob_state(r, &f->facts, item);
    const char *account = blob_account_folder(r);
    files_remove_tree(azstorage_of(r)->files, account,
                      arena_concat(&r->arena, account, "/", blocks_folder(r)), on_blocks_removed,
                      b);
}

static void copy_next(struct blocks_work *b);

static void on_copied(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blocks_work *b = ctx;
    if (why)
        fail(b, why, f->fault);
    else
        copy_next(b);
}

/* As many as lie in one folder at a time. */
static void copy_next(struct blocks_work *b)
{
    struct commit *c = b->commit;
    struct request *r = b->w->r;
    if (c->next == c->n) {
        upload_finish(c->upload, NULL, on_finished, b);
        return;
    }
    size_t first = c->next;
    bool waiting = c->item[first].waiting;
    while (c->next < c->n && c->item[c->next].waiting == waiting)
        c->next++;
    size_t n = c->next - first;
    struct file_part *parts = arena_alloc(&r->arena, n * sizeof *parts);
    for (size_t i = 0; i < n; i++)
        parts[i] = c->item[first + i].part;
    upload_copy(c->upload, waiting ? blob_account_folder(r) : b->w->blob.at.share, parts, n,
                on_copied, b);
}

static void open_upload(struct blocks_work *b);

static void on_opened(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_upload *upload)
{
    struct blocks_work *b = ctx;
    b->commit->upload = upload;
    if (!why) {
        copy_next(b);
    } else if (!b->w->blob.aside && (fault == FILE_PARENT_MISSING || fault == FILE_BAD_NAME)) {
        blob_aside(b->w->r, &b->w->blob);
        open_upload(b);
    } else {
        fail(b, why, fault);
    }
}

static void open_upload(struct blocks_work *b)
{
    const struct files_upload what = {.at = b->w->blob.at,
                                      .mode = 0666,
                                      .directory_mode = 0777,
                                      .is_new = conditions_want_new(b->w->r)};
    files_upload(azstorage_of(b->w->r)->files, &what, on_opened, b);
}

static int unknown_block(const char *id, struct err *e)
{
    return err_set(e, AZSTORAGE_BLOCK_LIST, NULL,
                   "The specified block list is invalid: there is no block '%.100s'.", id);
}

/* Finds a block of the list: "Latest" is one that waits, or else a committed one. */
static int choose(struct blocks_work *b, const struct block **committed, const struct xml *x,
                  struct chosen *out, struct err *e)
{
    struct request *r = b->w->r;
    const char *id = "";
    bool latest = strcmp(x->name, "Latest") == 0;
    if (block_id(r, x->text, &id, e) < 0)
        return -1;
    const struct block *found = NULL;
    if (latest || strcmp(x->name, "Uncommitted") == 0)
        found = find_waiting(&b->waiting, id);
    if (found) {
        *out = (struct chosen){
            .waiting = true,
            .part = {arena_concat(&r->arena, blocks_folder(r), "/", id), {0, FILES_ALL}},
            .id = id,
            .size = found->size};
        return 0;
    }
    const struct block key = {.id = id}, *pointer = &key;
    if (latest || strcmp(x->name, "Committed") == 0) {
        const struct block **at =
            bsearch(&pointer, committed, b->committed.n, sizeof(struct block *), by_id);
        found = at ? *at : NULL;
    }
    if (!found)
        return unknown_block(x->text, e);
    *out = (struct chosen){
        .part = {b->w->blob.at.path, {found->offset, found->size}}, .id = id, .size = found->size};
    return 0;
}

static int begin_list(struct blocks_work *b, struct err *e)
{
    struct request *r = b->w->r;
    struct commit *c = b->commit;
    size_t n = 0;
    c->next_chosen = r->xml ? r->xml->child : NULL;
    for (const struct xml *x = c->next_chosen; x; x = x->next)
        n++;
    if (n > BLOCKS_MAX)
        return err_set(e, AZSTORAGE_BLOCK_COUNT, NULL,
                       "The block list has %zu blocks; a blob may have %d.", n, BLOCKS_MAX);
    c->item = arena_alloc(&r->arena, (n + 1) * sizeof *c->item);
    c->committed = sorted(&r->arena, &b->committed);
    return 0;
}

/* Finds some blocks of the list; the last turn begins to copy. */
static void read_list(struct request *r, void *ctx)
{
    struct blocks_work *b = ctx;
    struct commit *c = b->commit;
    struct err e;
    for (size_t i = 0; i < LIST_STEP && c->next_chosen; i++, c->next_chosen = c->next_chosen->next)
        if (choose(b, c->committed, c->next_chosen, &c->item[c->n++], &e) < 0) {
            finish(b, reply_err(r, &e));
            return;
        }
    if (c->next_chosen) {
        request_again(r, read_list, b);
        return;
    }
    /* The work is the arena's; from now on there is something to give back. */
    request_release(r);
    request_keep(r, b->commit, commit_free);
    open_upload(b);
}

static void commit(struct blocks_work *b)
{
    struct err e;
    if (begin_list(b, &e) < 0)
        finish(b, reply_err(b->w->r, &e));
    else
        read_list(b->w->r, b);
}

struct replied *azblocks_commit(struct request *r)
{
    struct err e;
    struct blocks_work *b = arena_alloc(&r->arena, sizeof *b);
    b->commit = arena_alloc(&r->arena, sizeof *b->commit);
    b->item = (struct share_item){.share_id = grant_of(r)->share.id,
                                  .path = r->rest,
                                  .type = BLOB_BLOCK,
                                  .lease_state = LEASE_AVAILABLE,
                                  .revision = 1,
                                  .created_us = r->now_us,
                                  .md5 = property_given(r, "x-ms-blob-", "content-md5")};
    const char *tier;
    if (metadata_read(r, &b->item.metadata, &e) < 0 ||
        properties_read(r, "x-ms-blob-", false, &b->item.properties, &e) < 0 ||
        tags_read_header(r, &b->item.tags, &e) < 0 || tier_read(r, &tier, &e) < 0)
        return reply_err(r, &e);
    if (tier)
        tier_set(&r->arena, &b->item, tier);
    return with_blocks(r, true, commit, b);
}
