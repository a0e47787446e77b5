/* SPDX-License-Identifier: MIT
 *
 * What files, directories and blobs have beside their bytes.
 */
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

int st_item_remove(struct storage *st, int64_t share_id, const char *path, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_ITEM_REMOVE, e) < 0)
        return -1;
    q_int(&q, share_id);
    q_text(&q, path);
    return q_run(&q, e);
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
