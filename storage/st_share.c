/* SPDX-License-Identifier: MIT
 *
 * Shares and containers.
 */
#include "storage/storage_priv.h"

int st_share_update(struct storage *st, const struct share *s, int64_t was, struct err *e)
{
    if (st_share_write(st, s, was, e) < 0)
        return -1;
    if (q_changed(st) == 1)
        return 0;
    return err_set(e, ERR_CONFLICT, NULL, "%s has changed meanwhile, or is gone.", s->name);
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
