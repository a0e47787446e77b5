/* SPDX-License-Identifier: MIT
 *
 * Asynchronous operations. They outlive the resource they were about.
 */
#include "storage/storage_priv.h"

static void read_op(struct q *q, struct arena *a, void *row)
{
    struct operation *op = row;
    op->guid = c_text(q, a);
    op->subscription = c_text(q, a);
    op->location = c_text(q, a);
    op->resource_key = c_text(q, a);
    op->api_version = c_text(q, a);
    op->kind = (enum resource_kind)c_int(q);
    op->resource_id = c_int(q);
    op->is_delete = c_int(q) != 0;
    op->status = (enum op_status)c_int(q);
    op->start_us = c_int(q);
    op->end_us = c_int(q);
    op->error_code = c_text(q, a);
    op->error_message = c_text(q, a);
}

int st_op_insert(struct storage *st, const struct operation *op, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_OP_INSERT, e) < 0)
        return -1;
    q_text(&q, op->guid);
    q_text(&q, op->subscription);
    q_text(&q, op->location);
    q_text(&q, op->resource_key);
    q_text(&q, op->api_version);
    q_int(&q, op->kind);
    q_int(&q, op->resource_id);
    q_int(&q, op->is_delete);
    q_int(&q, op->status);
    q_int(&q, op->start_us);
    q_int(&q, op->end_us);
    q_text(&q, op->error_code);
    q_text(&q, op->error_message);
    return q_run(&q, e);
}

int st_op_get(struct storage *st, struct arena *a, const char *guid, struct operation *out,
              struct err *e)
{
    struct q q;
    q_read(&q, st, ST_OP_GET);
    q_text(&q, guid);
    return q_one(&q, a, read_op, out, e);
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
    *gone = sqlite3_changes(st->db);
    return 0;
}
