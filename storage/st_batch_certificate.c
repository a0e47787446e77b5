/* SPDX-License-Identifier: MIT
 *
 * Azure Batch's certificates. What was given of each is one sealed text.
 */
#include "storage/batch_schedules.h"
#include "storage/storage_priv.h"

int st_batch_certificate_insert(struct storage *st, const struct batch_certificate *c,
                                const char *secrets, struct err *e)
{
    struct q q;
    int64_t id;
    if (q_write(&q, st, ST_BATCH_CERTIFICATE_INSERT, e) < 0)
        return -1;
    q_row(&q, &batch_certificate_row, c, secrets);
    return q_insert(&q, &id, e);
}

int st_batch_certificate_get(struct storage *st, struct arena *a, int64_t account_id,
                             const char *algorithm, const char *thumbprint,
                             struct batch_certificate *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_CERTIFICATE_GET);
    q_int(&q, account_id);
    q_text(&q, thumbprint);
    q_text(&q, algorithm);
    return q_one(&q, a, &batch_certificate_row, out, e);
}

int st_batch_certificate_secrets(struct storage *st, struct arena *a, int64_t id,
                                 const char **secrets, struct err *e)
{
    return q_secret_of(st, ST_BATCH_CERTIFICATE_SECRETS, a, id, secrets, e);
}

int st_batch_certificate_list(struct storage *st, struct arena *a, int64_t account_id,
                              const struct filter *filter, const char *after, int limit,
                              struct batch_certificate **rows, size_t *n, struct err *e)
{
    static const char *const columns[ST_CERTIFICATE_PROPERTIES] = {
        [ST_CERTIFICATE_STATE] = "bc.state", [ST_CERTIFICATE_STATE_TIME] = "bc.state_us"};
    struct q q;
    void *items;
    q_read_filtered(&q, st, ST_BATCH_CERTIFICATE_LIST, filter, columns);
    q_int(&q, account_id);
    q_text(&q, after);
    q_int(&q, limit);
    if (q_rows(&q, a, &batch_certificate_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_batch_certificate_set_state(struct storage *st, const struct batch_certificate *c,
                                   enum batch_certificate_state to, int64_t now_us,
                                   const char *error, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_CERTIFICATE_SET_STATE, e) < 0)
        return -1;
    q_int(&q, c->id);
    q_int(&q, c->state);
    q_int(&q, to);
    q_int(&q, now_us);
    q_text(&q, error);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_BATCH_CERTIFICATE_STATE, "certificate", batch_certificate_state_names,
                   c->id, (int)c->state, (int)to, e);
}

int st_batch_certificate_remove(struct storage *st, int64_t id, struct err *e)
{
    return q_change_of(st, ST_BATCH_CERTIFICATE_REMOVE, id, "certificate", e);
}
