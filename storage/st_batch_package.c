/* SPDX-License-Identifier: MIT
 *
 * Applications of Azure Batch and their packages.
 */
#include "storage/storage_priv.h"

int st_batch_application_insert(struct storage *st, const struct batch_application *x, int64_t *id,
                                struct err *e)
{
    return q_new(st, ST_BATCH_APPLICATION_INSERT, &batch_application_row, x, NULL, id, e);
}

int st_batch_application_get(struct storage *st, struct arena *a, int64_t account_id,
                             const char *name, struct batch_application *out, struct err *e)
{
    return q_named(st, ST_BATCH_APPLICATION_GET, a, account_id, name, &batch_application_row, out,
                   e);
}

static int list(struct storage *st, enum stmt_id id, struct arena *a, int64_t of, int64_t after,
                int limit, const struct st_row *row, void **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, id);
    q_int(&q, of);
    q_int(&q, after);
    q_int(&q, limit);
    return q_rows(&q, a, row, rows, n, e);
}

int st_batch_application_list(struct storage *st, struct arena *a, int64_t account_id,
                              int64_t after, int limit, struct batch_application **rows, size_t *n,
                              struct err *e)
{
    void *items = NULL;
    int rc = list(st, ST_BATCH_APPLICATION_LIST, a, account_id, after, limit,
                  &batch_application_row, &items, n, e);
    *rows = items;
    return rc;
}

int st_batch_application_list_usable(struct storage *st, struct arena *a, int64_t account_id,
                                     const char *after, int limit, struct batch_application **rows,
                                     size_t *n, struct err *e)
{
    struct q q;
    void *items = NULL;
    q_read(&q, st, ST_BATCH_APPLICATION_USABLE);
    q_int(&q, account_id);
    q_text(&q, after);
    q_int(&q, limit);
    int rc = q_rows(&q, a, &batch_application_row, &items, n, e);
    *rows = items;
    return rc;
}

int st_batch_application_update(struct storage *st, const struct batch_application *x,
                                struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_APPLICATION_UPDATE, e) < 0)
        return -1;
    q_int(&q, x->id);
    q_text(&q, x->display_name);
    q_text(&q, x->default_version);
    q_int(&q, x->allow_updates);
    q_int(&q, x->updated_us);
    return q_change(&q, "application", x->id, e);
}

static int remove_row(struct storage *st, enum stmt_id id, const char *noun, int64_t row,
                      struct err *e)
{
    struct q q;
    if (q_write(&q, st, id, e) < 0)
        return -1;
    q_int(&q, row);
    return q_change(&q, noun, row, e);
}

int st_batch_application_remove(struct storage *st, int64_t id, struct err *e)
{
    return remove_row(st, ST_BATCH_APPLICATION_REMOVE, "application", id, e);
}

int st_batch_package_insert(struct storage *st, const struct batch_package *x, int64_t *id,
                            struct err *e)
{
    return q_new(st, ST_BATCH_PACKAGE_INSERT, &batch_package_row, x, NULL, id, e);
}

int st_batch_package_get(struct storage *st, struct arena *a, int64_t application_id,
                         const char *name, struct batch_package *out, struct err *e)
{
    return q_named(st, ST_BATCH_PACKAGE_GET, a, application_id, name, &batch_package_row, out, e);
}

int st_batch_package_list(struct storage *st, struct arena *a, int64_t application_id,
                          int64_t after, int limit, struct batch_package **rows, size_t *n,
                          struct err *e)
{
    void *items = NULL;
    int rc = list(st, ST_BATCH_PACKAGE_LIST, a, application_id, after, limit, &batch_package_row,
                  &items, n, e);
    *rows = items;
    return rc;
}

int st_batch_package_update(struct storage *st, const struct batch_package *x, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_PACKAGE_UPDATE, e) < 0)
        return -1;
    q_int(&q, x->id);
    q_text(&q, x->format);
    q_text(&q, x->hash);
    q_int(&q, x->size);
    q_int(&q, x->activated_us);
    q_int(&q, x->updated_us);
    return q_change(&q, "package", x->id, e);
}

int st_batch_package_remove(struct storage *st, int64_t id, struct err *e)
{
    return remove_row(st, ST_BATCH_PACKAGE_REMOVE, "package", id, e);
}

int st_batch_package_of_hash(struct storage *st, const char *hash, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_PACKAGE_OF_HASH);
    q_text(&q, hash);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}
