/* SPDX-License-Identifier: MIT
 *
 * Azure Batch's job schedules.
 */
#include <assert.h>

#include "storage/batch_schedules.h"
#include "storage/storage_priv.h"

int st_batch_schedule_insert(struct storage *st, const struct batch_schedule *s,
                             const char *secrets, int64_t *id, struct err *e)
{
    return q_new(st, ST_BATCH_SCHEDULE_INSERT, &batch_schedule_row, s, secrets, id, e);
}

int st_batch_schedule_get(struct storage *st, struct arena *a, int64_t account_id, const char *name,
                          struct batch_schedule *out, struct err *e)
{
    return q_named(st, ST_BATCH_SCHEDULE_GET, a, account_id, name, &batch_schedule_row, out, e);
}

int st_batch_schedule_by_id(struct storage *st, struct arena *a, int64_t id,
                            struct batch_schedule *out, struct err *e)
{
    return q_by_id(st, ST_BATCH_SCHEDULE_BY_ID, a, id, &batch_schedule_row, out, e);
}

int st_batch_schedule_secrets(struct storage *st, struct arena *a, int64_t id, const char **secrets,
                              struct err *e)
{
    return q_secret_of(st, ST_BATCH_SCHEDULE_SECRETS, a, id, secrets, e);
}

int st_batch_schedule_list(struct storage *st, struct arena *a, int64_t account_id,
                           const struct filter *filter, const char *after, int limit,
                           struct batch_schedule **rows, size_t *n, struct err *e)
{
    static const char *const columns[ST_SCHEDULE_PROPERTIES] = {
        [ST_SCHEDULE_ID] = "bs.name",
        [ST_SCHEDULE_STATE] = "bs.state",
        [ST_SCHEDULE_STATE_TIME] = "bs.state_us",
        [ST_SCHEDULE_CREATED] = "bs.created_us",
        [ST_SCHEDULE_MODIFIED] = "bs.updated_us",
        [ST_SCHEDULE_ENDED] = "nullif(bs.end_us, 0)",
        [ST_SCHEDULE_UNTIL] = "nullif(bs.until_us, 0)",
        [ST_SCHEDULE_AFTER] = "nullif(bs.after_us, 0)",
    };
    struct q q;
    void *items;
    q_read_filtered(&q, st, ST_BATCH_SCHEDULE_LIST, filter, columns);
    q_int(&q, account_id);
    q_text(&q, after);
    q_int(&q, limit);
    if (q_rows(&q, a, &batch_schedule_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_batch_schedule_live_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                               struct err *e)
{
    return q_ids_of(st, ST_BATCH_SCHEDULE_LIVE, a, ids, n, e);
}

int st_batch_schedule_unfinished(struct storage *st, int64_t account_id, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_SCHEDULE_UNFINISHED);
    q_int(&q, account_id);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}

int st_batch_schedule_update(struct storage *st, const struct batch_schedule *s,
                             const char *secrets, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_SCHEDULE_UPDATE, e) < 0)
        return -1;
    q_int(&q, s->id);
    q_text(&q, s->doc);
    q_sealed(&q, secrets);
    q_int(&q, s->updated_us);
    q_int(&q, s->next_us);
    q_int(&q, s->until_us);
    q_int(&q, s->after_us);
    return q_change(&q, "job schedule", s->id, e);
}

int st_batch_schedule_set_next(struct storage *st, int64_t id, int number, int64_t next_us,
                               struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_SCHEDULE_SET_NEXT, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, number);
    q_int(&q, next_us);
    return q_change(&q, "job schedule", id, e);
}

int st_batch_schedule_set_pool(struct storage *st, int64_t id, const char *name, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_SCHEDULE_SET_POOL, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, name);
    return q_change(&q, "job schedule", id, e);
}

int st_batch_schedule_move(struct storage *st, const struct st_schedule_move *m, struct err *e)
{
    struct q q;
    assert(m->from != m->to);
    if (q_write(&q, st, ST_BATCH_SCHEDULE_MOVE, e) < 0)
        return -1;
    q_int(&q, m->id);
    q_int(&q, m->from);
    q_int(&q, m->to);
    q_int(&q, m->now_us);
    q_int(&q, m->by_user);
    q_int(&q, m->ends);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_BATCH_SCHEDULE_STATE, "job schedule", batch_schedule_state_names, m->id,
                   (int)m->from, (int)m->to, e);
}

int st_batch_schedule_remove(struct storage *st, int64_t id, struct err *e)
{
    return q_change_of(st, ST_BATCH_SCHEDULE_REMOVE, id, "job schedule", e);
}
