/* SPDX-License-Identifier: MIT
 *
 * File servers, and the list filter they share with clusters.
 */
#include <assert.h>

#include "storage/storage_priv.h"

void q_filter(struct q *q, struct storage *st, const struct st_filter *f,
              const struct filter_statements *by)
{
    if (f->workspace_id) {
        q_read(q, st, by->workspace);
        q_int(q, f->workspace_id);
    } else if (f->group_id) {
        q_read(q, st, by->group);
        q_int(q, f->group_id);
    } else if (f->workspace) {
        q_read(q, st, by->named);
        q_text(q, f->subscription);
        q_text(q, f->workspace);
    } else {
        q_read(q, st, by->subscription);
        q_text(q, f->subscription);
    }
}

int st_file_server_insert(struct storage *st, const struct file_server *f, const char *secrets,
                          int64_t *id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_FILE_SERVER_INSERT, e) < 0)
        return -1;
    q_row(&q, &file_server_row, f, secrets);
    return q_insert(&q, id, e);
}

int st_file_server_get(struct storage *st, struct arena *a, int64_t workspace_id, const char *name,
                       struct file_server *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_FILE_SERVER_GET);
    q_int(&q, workspace_id);
    q_text(&q, name);
    return q_one(&q, a, &file_server_row, out, e);
}

int st_file_server_by_id(struct storage *st, struct arena *a, int64_t id, struct file_server *out,
                         struct err *e)
{
    struct q q;
    q_read(&q, st, ST_FILE_SERVER_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, &file_server_row, out, e);
}

int st_file_server_secrets(struct storage *st, struct arena *a, int64_t id, const char **secrets,
                           struct err *e)
{
    struct q q;
    q_read(&q, st, ST_FILE_SERVER_SECRETS);
    q_int(&q, id);
    return q_secret(&q, a, secrets, e);
}

int st_file_server_move(struct storage *st, int64_t id, enum prov_state from, enum prov_event ev,
                        int64_t now_us, struct err *e)
{
    enum prov_state to = prov_next(from, ev);
    struct q q;
    assert(to != 0);
    if (q_write(&q, st, ST_FILE_SERVER_MOVE, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, from);
    q_int(&q, to);
    q_int(&q, now_us);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_FILE_SERVER_STATE, "File server", prov_state_names, id, (int)from,
                   (int)to, e);
}

int st_file_server_creating_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                                struct err *e)
{
    struct q q;
    q_read(&q, st, ST_FILE_SERVER_CREATING);
    return q_ids(&q, a, ids, n, e);
}

int st_file_server_served_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                              struct err *e)
{
    struct q q;
    q_read(&q, st, ST_FILE_SERVER_SERVED);
    return q_ids(&q, a, ids, n, e);
}

int st_file_server_list(struct storage *st, struct arena *a, const struct st_filter *f,
                        int64_t after, int limit, struct file_server **rows, size_t *n,
                        struct err *e)
{
    static const struct filter_statements by = {
        ST_FILE_SERVER_LIST_SUBSCRIPTION, ST_FILE_SERVER_LIST_GROUP, ST_FILE_SERVER_LIST_WORKSPACE,
        ST_FILE_SERVER_LIST_NAMED};
    struct q q;
    q_filter(&q, st, f, &by);
    q_int(&q, after);
    q_int(&q, limit);
    void *items;
    if (q_rows(&q, a, &file_server_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}
