/* SPDX-License-Identifier: MIT
 *
 * Where ended jobs ran.
 */
#include "storage/storage_priv.h"

static void read_place(struct q *q, struct arena *a, void *row)
{
    (void)a;
    struct job_place *p = row;
    p->job_id = c_int(q);
    p->rank = (int)c_int(q);
    p->node_id = c_int(q);
    p->kept = c_int(q) != 0;
}

static void read_dir(struct q *q, struct arena *a, void *row)
{
    struct kept_dir *d = row;
    d->job_id = c_int(q);
    d->name = c_text(q, a);
}

static int insert(struct storage *st, const struct job_place *p, int64_t now_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_PLACE_INSERT, e) < 0)
        return -1;
    q_int(&q, p->job_id);
    q_int(&q, p->rank);
    q_int(&q, p->node_id);
    q_int(&q, now_us);
    q_int(&q, p->kept);
    return q_run(&q, e);
}

int st_place_insert(struct storage *st, const struct job_place *p, int64_t now_us, int keep,
                    struct err *e)
{
    struct q q;
    if (insert(st, p, now_us, e) < 0)
        return -1;
    if (!p->kept)
        return 0;
    if (q_write(&q, st, ST_PLACE_TRIM, e) < 0)
        return -1;
    q_int(&q, p->node_id);
    q_int(&q, keep);
    return q_run(&q, e);
}

int st_place_of_job(struct storage *st, struct arena *a, int64_t job_id, struct job_place **rows,
                    size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_PLACE_OF_JOB);
    q_int(&q, job_id);
    void *items;
    if (q_rows(&q, a, read_place, sizeof **rows, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_place_kept_dirs(struct storage *st, struct arena *a, int64_t node_id, struct kept_dir **rows,
                       size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_PLACE_KEPT_DIRS);
    q_int(&q, node_id);
    void *items;
    if (q_rows(&q, a, read_dir, sizeof **rows, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_place_lost(struct storage *st, int64_t node_id, int64_t job_id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_PLACE_LOST, e) < 0)
        return -1;
    q_int(&q, node_id);
    q_int(&q, job_id);
    return q_run(&q, e);
}
