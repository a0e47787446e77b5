/* SPDX-License-Identifier: MIT
 *
 * Shares and containers, and the rows of their content: functions with more than one statement.
 * Each function runs in the transaction of its caller's turn, on the loop.
 */
#include "storage/storage_priv.h"

/* --- shares ---------------------------------------------------------------------------------- */

int st_share_update(struct storage *st, const struct share *s, int64_t was, struct err *e)
{
    if (st_share_write(st, s, was, e) < 0)
        return -1;
    if (q_changed(st) == 1)
        return 0;
    return err_set(e, ERR_CONFLICT, NULL, "%s has changed meanwhile, or is gone.", s->name);
}

static int move_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct st_share_move *m = ctx;
    if (m->to == SHARE_DELETED && st_end_roles_of_share(st, m->id, e) < 0)
        return -1;
    return st_share_move_row(st, m, e);
}

int st_share_move(struct storage *st, const struct st_share_move *m, struct err *e)
{
    struct st_share_move copy = *m;
    return st_tx(st, "share move", move_in_tx, &copy, e);
}

#define TICKS_OF_1970 INT64_C(621355968000000000)

int64_t st_next_etag(int64_t was, int64_t now_us)
{
    int64_t now = TICKS_OF_1970 + now_us * 10;
    return now > was ? now : was + 1;
}

int st_share_empty(struct storage *st, int64_t id, int limit, int *gone, struct err *e)
{
    int more = 0;
    if (st_share_empty_items(st, id, limit, gone, e) < 0 ||
        (*gone < limit && st_share_empty_snapshots(st, id, limit - *gone, &more, e) < 0))
        return -1;
    *gone += more;
    return 0;
}

/* --- items ----------------------------------------------------------------------------------- */

int st_item_put(struct storage *st, const struct share_item *i, struct err *e)
{
    return st_item_put_row(st, i, e) < 0 ? -1 : i->tags ? st_item_put_tags(st, i, e) : 0;
}

int st_item_remove(struct storage *st, int64_t share_id, const char *path, struct err *e)
{
    return st_item_remove_row(st, share_id, path, e) < 0
               ? -1
               : st_kept_put_forget(st, share_id, path, e);
}

int st_item_remove_tree(struct storage *st, int64_t share_id, const char *path, struct err *e)
{
    return st_item_remove(st, share_id, path, e) < 0 ? -1
                                                     : st_item_remove_below(st, share_id, path, e);
}

int st_item_move_tree(struct storage *st, int64_t share_id, const char *from, const char *to,
                      struct err *e)
{
    if (st_item_move_row(st, share_id, from, to, e) < 0 ||
        st_item_move_below(st, share_id, from, to, e) < 0)
        return -1;
    return st_item_remove_below(st, share_id, from, e);
}

int st_item_list(struct storage *st, struct arena *a, int64_t share_id, bool aside,
                 const struct st_paths *page, struct share_item_rows *rows, struct err *e)
{
    return aside ? st_item_list_aside(st, a, share_id, page, rows, e)
                 : st_item_list_all(st, a, share_id, page, rows, e);
}

int st_kept_put_forget(struct storage *st, int64_t share_id, const char *path, struct err *e)
{
    return st->without_sync ? 0 /* none was kept */ : st_kept_put_forget_at(st, share_id, path, e);
}

int st_uncommitted_add(struct storage *st, int64_t share_id, const char *path, int64_t now_us,
                       struct err *e)
{
    int64_t since_us;
    int rc = st_uncommitted_since(st, share_id, path, &since_us, e);
    if (rc < 0)
        return -1;
    return rc == 1 && since_us > now_us - ST_UNCOMMITTED_NEW_US
               ? 0 /* an earlier block wrote it */
               : st_uncommitted_put(st, share_id, path, now_us, e);
}
