/* SPDX-License-Identifier: MIT
 *
 * Resource groups.
 */
#include "storage/seeding.h"
#include "storage/storage_priv.h"

int st_group_insert(struct storage *st, const struct resource_group *g, int64_t *id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_GROUP_INSERT, e) < 0)
        return -1;
    q_row(&q, &group_row, g, NULL);
    return q_insert(&q, id, e);
}

int st_group_update(struct storage *st, int64_t id, const char *tags, int64_t now_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_GROUP_UPDATE, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, tags);
    q_int(&q, now_us);
    return q_change(&q, "resource group", id, e);
}

int st_group_making(struct storage *st, int64_t id, struct err *e)
{
    return q_change_of(st, ST_GROUP_MAKING, id, "resource group", e);
}

int st_group_made(struct storage *st, int64_t id, struct err *e)
{
    return q_change_of(st, ST_GROUP_MADE, id, "resource group", e);
}

int st_group_unmade(struct storage *st, struct arena *a, struct resource_group **rows, size_t *n,
                    struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_GROUP_UNMADE);
    if (q_rows(&q, a, &group_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_group_busy_machines(struct storage *st, int64_t id, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_GROUP_BUSY_MACHINES);
    q_int(&q, id);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}

int st_group_get(struct storage *st, struct arena *a, const char *subscription, const char *name,
                 struct resource_group *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_GROUP_GET);
    q_text(&q, subscription);
    q_text(&q, name);
    return q_one(&q, a, &group_row, out, e);
}

int st_group_by_id(struct storage *st, struct arena *a, int64_t id, struct resource_group *out,
                   struct err *e)
{
    struct q q;
    q_read(&q, st, ST_GROUP_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, &group_row, out, e);
}

int st_group_list(struct storage *st, struct arena *a, const char *subscription, int64_t after,
                  int limit, struct resource_group **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_GROUP_LIST);
    q_text(&q, subscription);
    q_int(&q, after);
    q_int(&q, limit);
    void *items;
    if (q_rows(&q, a, &group_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_pool_is_unmade(struct storage *st, int64_t pool_id, bool *unmade, struct err *e)
{
    struct q q;
    int64_t n = 0;
    q_read(&q, st, ST_POOL_IS_UNMADE);
    q_int(&q, pool_id);
    int rc = q_one_int(&q, &n, e);
    *unmade = n > 0;
    return rc < 0 ? -1 : 0;
}
