/* SPDX-License-Identifier: MIT
 *
 * The blocks of a blob: their ids, their folder, and the lists of blocks. block_list.c changes
 * them.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/plane/blob/blocks_priv.h"
#include "model/spec.h"

#define ID_MAX 64 /* most bytes of an id */

/* --- names ---------------------------------------------------------------------------------- */

const char *blocks_folder(struct request *r)
{
    return blocks_folder_of(r, r->rest);
}

const char *blocks_folder_of(struct request *r, const char *name)
{
    unsigned char hash[16];
    char text[2 * sizeof hash + 1];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)name, strlen(name), NULL, 0);
    sodium_bin2hex(text, sizeof text, hash, sizeof hash);
    return arena_printf(&r->arena, SHARE_BLOCKS "/%lld/%s", (long long)grant_of(r)->share.id, text);
}

#define LATER_NS 1000 /* file systems round times */

void blocks_set_time(struct files_upload *block, const struct request *r,
                     const struct share_item *blob)
{
    block->has_time = blob->id && blob->mtime_ns / 1000 >= r->now_us;
    block->mtime_ns = block->has_time ? blob->mtime_ns + LATER_NS : 0;
}

bool blocks_outlive(const struct share_item *old, const struct share_item *now)
{
    return old->id && old->mtime_ns > now->mtime_ns;
}

void blocks_remove(struct request *r, files_done cb, void *ctx)
{
    const char *account = blob_account_folder(r);
    files_remove_tree(azstorage_of(r)->files, account,
                      arena_concat(&r->arena, account, "/", blocks_folder(r)), cb, ctx);
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

const char *block_id_text(struct arena *a, const char *hex)
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

/* --- texts of blocks -------------------------------------------------------------------------- */

/* The ids need no escapes, because they are hexadecimal digits. */
const char *blocks_text(struct arena *a, const struct blocks *b)
{
    struct strbuf text = STRBUF_INIT;
    strbuf_putc(&text, '[');
    for (size_t i = 0; i < b->n; i++) {
        strbuf_concat(&text, i ? ",[\"" : "[\"", b->item[i].id, "\",");
        strbuf_int(&text, (int64_t)b->item[i].size);
        strbuf_putc(&text, ']');
    }
    strbuf_putc(&text, ']');
    const char *copy = arena_strdup(a, text.s);
    strbuf_free(&text);
    return copy;
}

/* Reads the next block of [["ID",size],...], as blocks_text() writes it. The JSON parser would
 * block the loop for 25 ms with 50,000 blocks. */
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

/* The committed blocks of the present file. If a job has written the file, there are none. */
struct blocks blocks_committed(struct arena *a, const struct share_item *i,
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

/* Leaves out blocks that are older than the blob. Such blocks exist because a put of a whole blob
 * does not remove them, and their removal after a block list may have failed. (A block that is put
 * right after a block list may have the same time as the blob.) If the blob's time is later than
 * the clock, which was set back, times prove nothing, so no block is left out. */
struct blocks blocks_waiting(struct request *r, const struct file_items *found,
                             const struct share_item *i)
{
    struct arena *a = &r->arena;
    struct blocks b = {.item = arena_alloc(a, (found->n + 1) * sizeof *b.item)};
    bool is_ordered = i->id && i->mtime_ns / 1000 <= r->now_us;
    int64_t since_ns = is_ordered ? i->mtime_ns - (i->blocks != NULL) : INT64_MIN;
    for (size_t k = 0; k < found->n; k++) {
        const struct file_item *f = &found->item[k];
        if (!f->facts.is_directory && f->facts.mtime_ns > since_ns)
            b.item[b.n++] = (struct block){arena_strdup(a, f->name), 0, f->facts.size};
    }
    return b;
}

const struct block *blocks_find(const struct blocks *b, const char *id)
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

const struct block **blocks_sorted(struct arena *a, const struct blocks *b)
{
    const struct block **list = arena_alloc(a, (b->n + 1) * sizeof(struct block *));
    for (size_t i = 0; i < b->n; i++)
        list[i] = &b->item[i];
    qsort(list, b->n, sizeof(struct block *), by_id);
    return list;
}

const struct block *blocks_find_sorted(const struct block **list, size_t n, const char *id)
{
    const struct block key = {.id = id}, *pointer = &key;
    const struct block **at = bsearch(&pointer, list, n, sizeof(struct block *), by_id);
    return at ? *at : NULL;
}
