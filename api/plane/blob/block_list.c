/* SPDX-License-Identifier: MIT
 *
 * Get Block List and Put Block List.
 * https://learn.microsoft.com/rest/api/storageservices/put-block-list
 *
 *   WAITING -> LOOKING -> LISTING -> SHOWING ------------------------------------> OVER
 *                            |                                                      ^
 *                            '-----> CHOOSING -> OPENING -> COPYING -> PLACING -> CLEANING
 *
 *   WAITING   another request holds the blob's turn (write_lock.h)
 *   LOOKING   this request holds the turn; reads the blob's row and the facts of its file
 *   LISTING   lists the folder of the waiting (uncommitted) blocks
 *   SHOWING   Get Block List: renders the reply, some blocks per turn of the loop
 *   CHOOSING  Put Block List: finds the blocks of the request's list
 *   OPENING   opens the upload; a second time if the blob's file must be in the hidden folder
 *   COPYING   copies blocks, all adjacent blocks of one folder at a time
 *   PLACING   puts the new blob in its place (placing.c)
 *   CLEANING  removes the folder of the waiting blocks
 *   OVER      the reply is finished
 *
 * An error leads to OVER. From LOOKING to OVER the request holds the blob's turn, also for Get
 * Block List, because row, file and folder together say which blocks exist. The request owns the
 * work, and its connection is suspended until the reply. All runs on the loop's thread.
 */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "api/http/xml.h"
#include "api/plane/blob/blocks_priv.h"
#include "api/plane/storage/tiers.h"
#include "api/plane/storage/write_lock.h"
#include "api/plane/storage/xml_write.h"
#include "lib/crc64.h"

#define BLOCKS_MAX 50000 /* most committed blocks; there may be twice as many waiting blocks */
#define LIST_STEP  5000  /* blocks of a list found or shown per turn of the loop: a few ms */

/* --- the work ------------------------------------------------------------------------------- */

enum blocks_phase {
    BLOCKS_WAITING,
    BLOCKS_LOOKING,
    BLOCKS_LISTING,
    BLOCKS_SHOWING,
    BLOCKS_CHOOSING,
    BLOCKS_OPENING,
    BLOCKS_COPYING,
    BLOCKS_PLACING,
    BLOCKS_CLEANING,
    BLOCKS_OVER
};

/* Where the bytes of a block are. */
struct from {
    /* true: a file in the folder of waiting blocks; false: a part of the blob's file */
    bool waiting;
    struct file_part part;
};

/* Put Block List. */
struct commit {
    struct share_item item;     /* the row to write */
    uint64_t crc64;             /* CRC64 of the request's list */
    const struct xml *next_xml; /* the next block to read from the list; NULL: all have been read */
    const struct block **by_id; /* committed blocks sorted by id; in the arena */
    struct blocks blocks;       /* the blocks of the new blob; in the arena */
    struct from *from;          /* the place of each of these blocks */
    size_t copied, copying;     /* parts that were copied; parts that are being copied */
    struct file_upload *upload; /* owned */
    struct placing placing;
};

/* Get Block List. */
struct block_listing {
    struct strbuf text; /* owned */
    struct {
        const char *name;
        const struct blocks *blocks;
    } list[2];
    size_t n, at; /* number of lists; index of the present list */
    size_t block; /* index of the next block of the present list */
};

/* A request that needs the list of a blob's blocks. */
struct blocks_work {
    struct request *r;
    enum blocks_phase phase;
    struct blob blob;
    bool exists; /* whether the blob exists; then `facts` is set */
    struct file_facts facts;
    struct blocks committed, waiting;
    struct turn turn;
    struct commit *commit; /* NULL: Get Block List */
    struct block_listing *showing;
};

/* Enters a phase and begins its work. Defined below, after the table of phases. */
static void enter(struct blocks_work *b, enum blocks_phase phase);

static void finish(struct blocks_work *b, struct replied *done)
{
    assert(b->phase >= BLOCKS_LOOKING); /* the request holds the blob's turn */
    enter(b, BLOCKS_OVER);
    turn_finish(b->r, done, &b->turn);
}

static void fail(struct blocks_work *b, const struct err *e)
{
    finish(b, reply_err(b->r, e));
}

static void fail_with(struct blocks_work *b, const struct err *why, enum file_fault fault)
{
    struct err e;
    blob_fault(why, fault, &e);
    fail(b, &e);
}

/* --- waiting, looking, listing -------------------------------------------------------------- */

static void on_turn(void *ctx)
{
    enter(ctx, BLOCKS_LOOKING);
}

static void want_turn(struct blocks_work *b)
{
    b->turn = (struct turn){
        .share_id = b->blob.item.share_id, .path = b->blob.name, .go = on_turn, .ctx = b};
    turn_want(azstorage_of(b->r)->turns, &b->turn);
}

static void on_facts(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blocks_work *b = ctx;
    struct err e;
    b->exists = !why && !f->facts.is_directory;
    if (b->exists)
        b->facts = blob_facts(&b->blob, &f->facts);
    else if (!why && !b->blob.aside)
        blob_aside(b->r, &b->blob); /* a directory has the blob's name */
    if (why && why->code == ERR_UNAVAILABLE)
        fail_with(b, why, f->fault);
    else if (blob_check(b->r, &b->blob, b->exists ? &b->facts : NULL, &e) < 0)
        fail(b, &e);
    else
        enter(b, BLOCKS_LISTING);
}

static void look(struct blocks_work *b)
{
    struct err e;
    if (blob_of(b->r, &b->blob, &e) < 0)
        fail(b, &e);
    else
        files_facts(azstorage_of(b->r)->files, &b->blob.at, on_facts, b);
}

/* Reads the blocks. `found` NULL: there are no waiting blocks. */
static int read_blocks(struct blocks_work *b, const struct file_items *found, struct err *e)
{
    const struct share_item *item = &b->blob.item;
    if (blob_load(b->r, &b->blob, e) < 0)
        return -1;
    if (!b->exists)
        blob_without_lease(&b->blob);
    if (b->exists && blob_type_of(item) != BLOB_BLOCK)
        return err_set(e, AZSTORAGE_BLOB_TYPE, NULL,
                       "The blob type is invalid for this operation: it is an %s, which has no "
                       "block list.",
                       blob_type_name(blob_type_of(item)));
    b->committed = blocks_committed(&b->r->arena, item, &b->facts);
    if (found)
        b->waiting = blocks_waiting(b->r, found, item);
    return 0;
}

static void on_listed(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_items *found)
{
    struct blocks_work *b = ctx;
    struct err e;
    bool none = why && (fault == FILE_MISSING || fault == FILE_PARENT_MISSING);
    if (why && !none)
        fail_with(b, why, fault);
    else if (read_blocks(b, none ? NULL : found, &e) < 0)
        fail(b, &e);
    else
        enter(b, b->commit ? BLOCKS_CHOOSING : BLOCKS_SHOWING);
}

static void list_waiting(struct blocks_work *b)
{
    const struct files_page page = {.at = {blob_account_folder(b->r), blocks_folder(b->r)},
                                    .max = 2 * BLOCKS_MAX};
    files_page(azstorage_of(b->r)->files, &page, on_listed, b);
}

static REPLIED begin(struct request *r, struct commit *commit)
{
    struct err e;
    struct blocks_work *b = arena_alloc(&r->arena, sizeof *b);
    *b = (struct blocks_work){.r = r, .commit = commit};
    if (blob_of(r, &b->blob, &e) < 0)
        return reply_err(r, &e);
    struct replied *token = reply_later(r);
    want_turn(b); /* the first phase */
    return token;
}

/* --- shown ---------------------------------------------------------------------------------- */

static void add_block(struct strbuf *text, struct arena *a, const struct block *one)
{
    const char *id = block_id_text(a, one->id);
    if (!id)
        return;
    xml_open(text, "Block");
    xml_element(text, "Name", id);
    xml_element(text, "Size", arena_printf(a, "%llu", (unsigned long long)one->size));
    xml_close(text, "Block");
}

/* Renders up to `max` blocks of the present list. Returns their number. */
static size_t add_blocks(struct block_listing *s, struct arena *a, size_t max)
{
    const struct blocks *b = s->list[s->at].blocks;
    size_t first = s->block, end = b->n - first < max ? b->n : first + max;
    if (first == 0)
        xml_open(&s->text, s->list[s->at].name);
    for (; s->block < end; s->block++)
        add_block(&s->text, a, &b->item[s->block]);
    if (end == b->n) {
        xml_close(&s->text, s->list[s->at++].name);
        s->block = 0;
    }
    return end - first;
}

static void show_some(struct request *r, void *ctx)
{
    struct blocks_work *b = ctx;
    struct block_listing *s = b->showing;
    for (size_t added = 0; s->at < s->n && added < LIST_STEP;)
        added += add_blocks(s, &r->arena, LIST_STEP - added);
    if (s->at < s->n) {
        request_again(r, show_some, b);
        return;
    }
    xml_close(&s->text, "BlockList");
    if (b->exists)
        blob_state(r, &b->facts, &b->blob.item);
    reply_header(r, "x-ms-blob-content-length", "%llu", (unsigned long long)b->facts.size);
    finish(b, reply_text(r, 200, "application/xml", strbuf_take(&s->text)));
}

static void showing_free(void *ctx)
{
    struct block_listing *s = ctx;
    strbuf_free(&s->text);
}

static bool is_kind(struct request *r, const char *kind)
{
    const char *asked = request_query(r, "blocklisttype");
    return strcasecmp(asked && *asked ? asked : "committed", kind) == 0;
}

static void show(struct blocks_work *b)
{
    struct request *r = b->r;
    struct err e;
    bool all = is_kind(r, "all"), waiting = all || is_kind(r, "uncommitted");
    if (!b->exists && b->waiting.n == 0) {
        blob_not_found(&b->blob, &e);
        fail(b, &e);
        return;
    }
    struct block_listing *s = b->showing = arena_alloc(&r->arena, sizeof *s);
    *s = (struct block_listing){.text = STRBUF_INIT};
    request_keep(r, s, showing_free);
    xml_begin_document(&s->text);
    xml_open(&s->text, "BlockList");
    if (all || !waiting) {
        s->list[s->n].name = "CommittedBlocks";
        s->list[s->n++].blocks = &b->committed;
    }
    if (waiting) {
        s->list[s->n].name = "UncommittedBlocks";
        s->list[s->n++].blocks = &b->waiting;
    }
    show_some(r, b);
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
    return begin(r, NULL);
}

/* --- committed ------------------------------------------------------------------------------ */

/* Finds a block that the request's list names. "Latest" means the waiting block if there is one,
 * else the committed block. */
static int choose(struct blocks_work *b, const struct xml *x, struct err *e)
{
    struct arena *a = &b->r->arena;
    struct commit *c = b->commit;
    const char *id = "";
    bool latest = strcmp(x->name, "Latest") == 0;
    const struct block *found = NULL;
    if (block_id(b->r, x->text, &id, e) < 0)
        return -1;
    if (latest || strcmp(x->name, "Uncommitted") == 0)
        found = blocks_find(&b->waiting, id);
    bool waiting = found != NULL;
    if (!found && (latest || strcmp(x->name, "Committed") == 0))
        found = blocks_find_sorted(c->by_id, b->committed.n, id);
    if (!found)
        return err_set(e, AZSTORAGE_BLOCK_LIST, NULL,
                       "The specified block list is invalid: there is no block '%.100s'.", x->text);
    c->from[c->blocks.n] =
        waiting
            ? (struct from){true, {arena_concat(a, blocks_folder(b->r), "/", id), {0, FILES_ALL}}}
            : (struct from){false, {b->blob.at.path, {found->offset, found->size}}};
    c->blocks.item[c->blocks.n++] = *found;
    return 0;
}

static int begin_list(struct blocks_work *b, struct err *e)
{
    struct arena *a = &b->r->arena;
    struct commit *c = b->commit;
    size_t n = 0;
    c->next_xml = b->r->xml ? b->r->xml->child : NULL;
    for (const struct xml *x = c->next_xml; x; x = x->next)
        n++;
    if (n > BLOCKS_MAX)
        return err_set(e, AZSTORAGE_BLOCK_COUNT, NULL,
                       "The block list has %zu blocks; a blob may have %d.", n, BLOCKS_MAX);
    c->blocks.item = arena_alloc(a, (n + 1) * sizeof *c->blocks.item);
    c->from = arena_alloc(a, (n + 1) * sizeof *c->from);
    c->by_id = blocks_sorted(a, &b->committed);
    return 0;
}

/* Finds some blocks of the list; continues in further turns of the loop. */
static void choose_some(struct request *r, void *ctx)
{
    struct blocks_work *b = ctx;
    struct commit *c = b->commit;
    struct err e;
    for (size_t i = 0; i < LIST_STEP && c->next_xml; i++, c->next_xml = c->next_xml->next)
        if (choose(b, c->next_xml, &e) < 0) {
            fail(b, &e);
            return;
        }
    if (c->next_xml)
        request_again(r, choose_some, b);
    else
        enter(b, BLOCKS_OPENING);
}

static void choose_all(struct blocks_work *b)
{
    struct err e;
    if (begin_list(b, &e) < 0)
        fail(b, &e);
    else
        choose_some(b->r, b);
}

static void go_on(struct blocks_work *b)
{
    enter(b, b->commit->copied < b->commit->blocks.n ? BLOCKS_COPYING : BLOCKS_PLACING);
}

static void on_opened(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_upload *upload)
{
    struct blocks_work *b = ctx;
    b->commit->upload = upload;
    if (!why) {
        go_on(b);
    } else if (!b->blob.aside && (fault == FILE_PARENT_MISSING || fault == FILE_BAD_NAME)) {
        blob_aside(b->r, &b->blob);
        enter(b, BLOCKS_OPENING);
    } else {
        fail_with(b, why, fault);
    }
}

static void open_upload(struct blocks_work *b)
{
    const struct files_upload what = {.at = b->blob.at,
                                      .mode = 0666,
                                      .directory_mode = 0777,
                                      .is_new = blob_must_be_new(b->r, &b->blob.item)};
    files_upload(azstorage_of(b->r)->files, &what, on_opened, b);
}

/* Stores the size of each block as it was copied: the client may have put a waiting block again
 * since the folder was listed. */
static void on_copied(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blocks_work *b = ctx;
    struct commit *c = b->commit;
    if (why) {
        fail_with(b, why, f->fault);
        return;
    }
    for (size_t i = 0; i < c->copying; i++)
        c->blocks.item[c->copied + i].size = f->copied[i];
    c->copied += c->copying;
    go_on(b);
}

/* Copies the next blocks up to the first one in another folder. */
static void copy_some(struct blocks_work *b)
{
    struct commit *c = b->commit;
    const struct from *first = &c->from[c->copied];
    size_t n = 0;
    while (c->copied + n < c->blocks.n && first[n].waiting == first->waiting)
        n++;
    struct file_part *parts = arena_alloc(&b->r->arena, n * sizeof *parts);
    for (size_t i = 0; i < n; i++)
        parts[i] = first[i].part;
    c->copying = n;
    upload_copy(c->upload, first->waiting ? blob_account_folder(b->r) : b->blob.at.share, parts, n,
                on_copied, b);
}

static void fill(void *ctx, const struct file_result *f)
{
    struct blocks_work *b = ctx;
    (void)f;
    b->commit->item.blocks = blocks_text(&b->r->arena, &b->commit->blocks);
}

static void on_placed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blocks_work *b = ctx;
    if (why) {
        fail_with(b, why, f->fault);
        return;
    }
    blob_state(b->r, &f->facts, &b->commit->item);
    enter(b, BLOCKS_CLEANING);
}

static void place(struct blocks_work *b)
{
    struct commit *c = b->commit;
    c->placing = (struct placing){.r = b->r,
                                  .blob = &b->blob,
                                  .item = &c->item,
                                  .upload = c->upload,
                                  .was = b->exists ? &b->facts : NULL,
                                  .fill = fill,
                                  .done = on_placed,
                                  .ctx = b};
    blob_place(&c->placing);
}

/* Replies. Ignores an error of the removal, because the blob is complete without it. */
static void on_removed(void *ctx, const struct err *why)
{
    struct blocks_work *b = ctx;
    (void)why;
    crc64_reply(b->r, b->commit->crc64);
    reply_header_text(b->r, "x-ms-request-server-encrypted", "true");
    finish(b, reply_empty(b->r, 201));
}

/* Removes all waiting blocks, also those that the list does not name. Blocks that are put later are
 * for the next list. */
static void remove_waiting(struct blocks_work *b)
{
    blocks_remove(b->r, on_removed, b);
}

static void commit_free(void *ctx)
{
    struct commit *c = ctx;
    if (c->upload)
        upload_end(c->upload);
}

struct replied *azblocks_commit(struct request *r)
{
    struct err e;
    struct commit *c = arena_alloc(&r->arena, sizeof *c);
    *c = (struct commit){.crc64 = crc64_add(0, r->raw.s, r->raw.len),
                         .item = {.share_id = grant_of(r)->share.id,
                                  .path = r->rest,
                                  .type = BLOB_BLOCK,
                                  .lease_state = LEASE_AVAILABLE,
                                  .revision = 1,
                                  .created_us = r->now_us}};
    const char *tier;
    if (blob_check_body(r, &e) < 0 || md5_given(r, "x-ms-blob-", &c->item.md5, &e) < 0 ||
        metadata_read(r, &c->item.metadata, &e) < 0 ||
        properties_read(r, "x-ms-blob-", false, &c->item.properties, &e) < 0 ||
        tags_read_header(r, &c->item.tags, &e) < 0 || tier_read(r, &tier, &e) < 0)
        return reply_err(r, &e);
    if (tier)
        tier_set(&r->arena, &c->item, tier);
    request_keep(r, c, commit_free);
    return begin(r, c);
}

/* --- the phases ------------------------------------------------------------------------------ */

#define BIT(phase) (1U << (phase))

static const struct {
    void (*begin)(struct blocks_work *b); /* begins the work of the phase; NULL: none */
    unsigned next;                        /* the phases that may follow */
} phases[] = {
    [BLOCKS_WAITING] = {want_turn, BIT(BLOCKS_LOOKING)},
    [BLOCKS_LOOKING] = {look, BIT(BLOCKS_LISTING) | BIT(BLOCKS_OVER)},
    [BLOCKS_LISTING] = {list_waiting,
                        BIT(BLOCKS_SHOWING) | BIT(BLOCKS_CHOOSING) | BIT(BLOCKS_OVER)},
    [BLOCKS_SHOWING] = {show, BIT(BLOCKS_OVER)},
    [BLOCKS_CHOOSING] = {choose_all, BIT(BLOCKS_OPENING) | BIT(BLOCKS_OVER)},
    [BLOCKS_OPENING] = {open_upload, BIT(BLOCKS_OPENING) | BIT(BLOCKS_COPYING) |
                                         BIT(BLOCKS_PLACING) | BIT(BLOCKS_OVER)},
    [BLOCKS_COPYING] = {copy_some, BIT(BLOCKS_COPYING) | BIT(BLOCKS_PLACING) | BIT(BLOCKS_OVER)},
    [BLOCKS_PLACING] = {place, BIT(BLOCKS_CLEANING) | BIT(BLOCKS_OVER)},
    [BLOCKS_CLEANING] = {remove_waiting, BIT(BLOCKS_OVER)},
    [BLOCKS_OVER] = {NULL, 0},
};
static_assert(sizeof phases / sizeof phases[0] == BLOCKS_OVER + 1, "a row a phase");

/* Checks the invariants of a phase when it begins. */
static void check_phase(const struct blocks_work *b)
{
    bool commits = b->phase >= BLOCKS_CHOOSING, copies = b->phase >= BLOCKS_COPYING;
    if (b->phase == BLOCKS_OVER)
        return;
    assert(!commits || b->commit);
    assert(!b->commit || (b->commit->upload != NULL) == copies);
    assert(b->phase < BLOCKS_PLACING || b->commit->copied == b->commit->blocks.n);
}

static void enter(struct blocks_work *b, enum blocks_phase phase)
{
    assert(phases[b->phase].next & BIT(phase));
    b->phase = phase;
    check_phase(b);
    if (phases[phase].begin)
        phases[phase].begin(b);
}
