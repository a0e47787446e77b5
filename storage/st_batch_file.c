/* SPDX-License-Identifier: MIT
 *
 * Files of Azure Batch's tasks that a seed told of.
 */
#include <string.h>

#include "storage/seeding.h"
#include "storage/storage_priv.h"

int st_batch_file_add(struct storage *st, int64_t task_id, const struct batch_seeded_file *f,
                      struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_FILE_ADD, e) < 0)
        return -1;
    q_int(&q, task_id);
    q_text(&q, f->path);
    q_int(&q, f->mtime_us);
    q_bytes(&q, f->bytes, (size_t)f->size);
    return q_run(&q, e);
}

/* The next three columns. */
static void read_facts(struct q *q, struct arena *a, struct batch_seeded_file *out)
{
    *out = (struct batch_seeded_file){.path = c_text(q, a)};
    out->mtime_us = c_int(q);
    out->size = c_int(q);
}

int st_batch_file_get(struct storage *st, struct arena *a, int64_t task_id, const char *path,
                      struct batch_seeded_file *out, struct err *e)
{
    struct q q;
    size_t n;
    q_read(&q, st, ST_BATCH_FILE_GET);
    q_int(&q, task_id);
    q_text(&q, path);
    int rc = q_step(&q, e);
    if (rc <= 0)
        return rc;
    read_facts(&q, a, out);
    const void *bytes = c_blob(&q, &n);
    char *copy = arena_alloc(a, n + 1);
    memcpy(copy, n > 0 ? bytes : "", n);
    out->bytes = copy;
    out->size = (int64_t)n;
    q_end(&q);
    return 1;
}

int st_batch_file_list(struct storage *st, struct arena *a, int64_t task_id,
                       struct batch_seeded_file **rows, size_t *n, struct err *e)
{
    struct q q;
    size_t cap = 0;
    int rc;
    *rows = NULL;
    *n = 0;
    q_read(&q, st, ST_BATCH_FILE_LIST);
    q_int(&q, task_id);
    while ((rc = q_step(&q, e)) > 0) {
        if (*n == cap) {
            struct batch_seeded_file *more = arena_alloc(a, (cap = cap * 2 + 16) * sizeof *more);
            if (*n > 0)
                memcpy(more, *rows, *n * sizeof *more);
            *rows = more;
        }
        read_facts(&q, a, &(*rows)[(*n)++]);
    }
    return rc;
}

int st_batch_file_remove(struct storage *st, int64_t task_id, const char *path, int *n,
                         struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_FILE_REMOVE, e) < 0)
        return -1;
    q_int(&q, task_id);
    q_text(&q, path);
    int rc = q_run(&q, e);
    *n = q_changed(st);
    return rc;
}
