/* SPDX-License-Identifier: MIT
 *
 * Snapshots of blobs.
 */
#include "storage/storage_priv.h"

int st_snapshot_get(struct storage *st, struct arena *a, int64_t share_id, const char *path,
                    int64_t taken_us, struct blob_snapshot *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_SNAPSHOT_GET);
    q_int(&q, share_id);
    q_text(&q, path);
    q_int(&q, taken_us);
    int rc = q_one(&q, a, &snapshot_row, out, e);
    if (rc > 0)
        out->item.lease_state = LEASE_AVAILABLE;
    return rc;
}

int st_snapshot_put(struct storage *st, const struct blob_snapshot *s, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SNAPSHOT_REPLACE, e) < 0)
        return -1;
    q_row(&q, &snapshot_row, s, NULL);
    return q_run(&q, e);
}

int st_snapshot_remove(struct storage *st, int64_t share_id, const char *path, int64_t taken_us,
                       struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SNAPSHOT_REMOVE, e) < 0)
        return -1;
    q_int(&q, share_id);
    q_text(&q, path);
    q_int(&q, taken_us);
    return q_run(&q, e);
}

int st_snapshot_newest(struct storage *st, int64_t share_id, const char *path, int64_t *taken_us,
                       struct err *e)
{
    struct q q;
    q_read(&q, st, ST_SNAPSHOT_NEWEST);
    q_int(&q, share_id);
    q_text(&q, path);
    return q_one_int(&q, taken_us, e);
}

int st_snapshot_list(struct storage *st, struct arena *a, int64_t share_id, const char *from,
                     int64_t after_us, const char *to, int limit, struct blob_snapshot **rows,
                     size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_SNAPSHOT_LIST);
    q_int(&q, share_id);
    q_text(&q, from);
    q_int(&q, after_us);
    q_text(&q, to);
    q_int(&q, limit);
    if (q_rows(&q, a, &snapshot_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    for (size_t i = 0; i < *n; i++)
        (*rows)[i].item.lease_state = LEASE_AVAILABLE;
    return 0;
}
