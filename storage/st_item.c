/* SPDX-License-Identifier: MIT
 *
 * What files, directories and blobs have beside their bytes.
 */
#include <string.h>

#include "storage/storage_priv.h"

int st_item_get(struct storage *st, struct arena *a, int64_t share_id, const char *path,
                struct share_item *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_ITEM_GET);
    q_int(&q, share_id);
    q_text(&q, path);
    return q_one(&q, a, &item_row, out, e);
}

int st_item_put(struct storage *st, const struct share_item *i, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_ITEM_REPLACE, e) < 0)
        return -1;
    q_row(&q, &item_row, i, NULL);
    return q_run(&q, e);
}

static int remove_one(struct storage *st, enum stmt_id how, int64_t share_id, const char *path,
                      struct err *e)
{
    struct q q;
    if (q_write(&q, st, how, e) < 0)
        return -1;
    q_int(&q, share_id);
    q_text(&q, path);
    return q_run(&q, e);
}

int st_item_remove(struct storage *st, int64_t share_id, const char *path, struct err *e)
{
    return remove_one(st, ST_ITEM_REMOVE, share_id, path, e) < 0
               ? -1
               : st_kept_put_forget(st, share_id, path, e);
}

/* "a": everything from "a/" on, up to "a0", as 0 is the byte behind the slash. */
struct below {
    char *from, *to;
};

static struct below below(struct arena *a, const char *path)
{
    return (struct below){arena_concat(a, path, "/"), arena_concat(a, path, "0")};
}

int st_item_remove_tree(struct storage *st, int64_t share_id, const char *path, struct err *e)
{
    struct q q;
    struct arena a;
    if (st_item_remove(st, share_id, path, e) < 0 || q_write(&q, st, ST_ITEM_REMOVE_BELOW, e) < 0)
        return -1;
    arena_init(&a);
    const struct below b = below(&a, path);
    q_int(&q, share_id);
    q_text(&q, b.from);
    q_text(&q, b.to);
    int rc = q_run(&q, e);
    arena_free(&a);
    return rc;
}

static int move_one(struct storage *st, int64_t share_id, const char *from, const char *to,
                    struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_ITEM_MOVE, e) < 0)
        return -1;
    q_int(&q, share_id);
    q_text(&q, from);
    q_text(&q, to);
    return q_run(&q, e);
}

int st_item_move_tree(struct storage *st, int64_t share_id, const char *from, const char *to,
                      struct err *e)
{
    struct q q;
    struct arena a;
    if (move_one(st, share_id, from, to, e) < 0 || q_write(&q, st, ST_ITEM_MOVE_BELOW, e) < 0)
        return -1;
    arena_init(&a);
    const struct below b = below(&a, from);
    q_int(&q, share_id);
    q_text(&q, b.from);
    q_text(&q, b.to);
    q_text(&q, arena_concat(&a, to, "/"));
    int rc = q_run(&q, e);
    arena_free(&a);
    return rc;
}

int st_item_list(struct storage *st, struct arena *a, int64_t share_id, const char *from,
                 const char *to, bool aside, int limit, struct share_item **rows, size_t *n,
                 struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, aside ? ST_ITEM_ASIDE : ST_ITEM_LIST);
    q_int(&q, share_id);
    q_text(&q, from);
    q_text(&q, to);
    q_int(&q, limit);
    if (q_rows(&q, a, &item_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

/* --- small blobs whose files may not be on disk yet ------------------------------------------- */

int st_kept_put_add(struct storage *st, const struct kept_put *p, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_KEPT_PUT_ADD, e) < 0)
        return -1;
    q_int(&q, p->id);
    q_int(&q, p->share_id);
    q_text(&q, p->path);
    q_text(&q, p->aside);
    q_int(&q, p->inode);
    q_int(&q, p->mtime_ns);
    q_text(&q, p->boot);
    q_bytes(&q, p->bytes, p->n);
    return q_run(&q, e);
}

int st_kept_put_remove(struct storage *st, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_KEPT_PUT_REMOVE, e) < 0)
        return -1;
    q_int(&q, id);
    return q_run(&q, e);
}

int st_kept_put_forget(struct storage *st, int64_t share_id, const char *path, struct err *e)
{
    if (st->without_sync) /* none was kept */
        return 0;
    return remove_one(st, ST_KEPT_PUT_FORGET, share_id, path, e);
}

int st_kept_put_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_KEPT_PUT_IDS);
    return q_ids(&q, a, ids, n, e);
}

int st_kept_put_get(struct storage *st, struct arena *a, int64_t id, struct kept_put *out,
                    struct err *e)
{
    struct q q;
    q_read(&q, st, ST_KEPT_PUT_GET);
    q_int(&q, id);
    int rc = q_step(&q, e);
    if (rc <= 0)
        return rc;
    *out = (struct kept_put){.id = id};
    out->share_id = c_int(&q);
    out->path = c_text(&q, a);
    out->aside = c_text(&q, a);
    out->inode = c_int(&q);
    out->mtime_ns = c_int(&q);
    out->boot = c_text(&q, a);
    const void *bytes = c_blob(&q, &out->n);
    char *copy = arena_alloc(a, out->n + 1);
    memcpy(copy, out->n > 0 ? bytes : "", out->n);
    out->bytes = copy;
    q_end(&q);
    return 1;
}

int st_kept_put_last(struct storage *st, int64_t *id, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_KEPT_PUT_LAST);
    return q_one_int(&q, id, e) < 0 ? -1 : 0;
}
