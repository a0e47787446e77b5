/* SPDX-License-Identifier: MIT
 *
 * Asynchronous operations. They outlive the resource they were about.
 */
#include "storage/pace.h"
#include "storage/storage_priv.h"

int st_op_insert(struct storage *st, const struct operation *op, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_OP_INSERT, e) < 0)
        return -1;
    q_row(&q, &operation_row, op, NULL);
    return q_run(&q, e);
}

int st_op_get(struct storage *st, struct arena *a, const char *guid, struct operation *out,
              struct err *e)
{
    struct q q;
    q_read(&q, st, ST_OP_GET);
    q_text(&q, guid);
    return q_one(&q, a, &operation_row, out, e);
}

int st_op_under_way(struct storage *st, struct arena *a, enum resource_kind kind,
                    int64_t resource_id, bool is_delete, struct operation *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_OP_UNDER_WAY);
    q_int(&q, kind);
    q_int(&q, resource_id);
    q_int(&q, is_delete);
    return q_one(&q, a, &operation_row, out, e);
}

int st_run_queued_since(struct storage *st, int64_t run_id, int64_t *us, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_RUN_QUEUED_SINCE);
    q_int(&q, run_id);
    return q_one_int(&q, us, e);
}

int st_op_finish(struct storage *st, enum resource_kind kind, int64_t resource_id, bool is_delete,
                 const char *error_code, const char *error_message, int64_t now_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_OP_FINISH, e) < 0)
        return -1;
    q_int(&q, kind);
    q_int(&q, resource_id);
    q_int(&q, is_delete);
    q_int(&q, error_code ? OP_FAILED : OP_SUCCEEDED);
    q_int(&q, now_us);
    q_text(&q, error_code);
    q_text(&q, error_code ? error_message : NULL);
    return q_run(&q, e);
}

int st_op_expire(struct storage *st, int64_t before_us, int limit, int *gone, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_OP_EXPIRE, e) < 0)
        return -1;
    q_int(&q, before_us);
    q_int(&q, limit);
    if (q_run(&q, e) < 0)
        return -1;
    *gone = q_changed(st);
    return 0;
}
