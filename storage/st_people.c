/* SPDX-License-Identifier: MIT
 *
 * Users, service principals and applications, what they log in with, and their roles.
 */
#include "storage/seeding.h"
#include "storage/storage_priv.h"

int st_identity_insert(struct storage *st, const struct identity *i, int64_t *id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_IDENTITY_INSERT, e) < 0)
        return -1;
    q_row(&q, &identity_row, i, NULL);
    return q_insert(&q, id, e);
}

int st_identity_get(struct storage *st, struct arena *a, const char *object_id,
                    struct identity *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_IDENTITY_GET);
    q_text(&q, object_id);
    return q_one(&q, a, &identity_row, out, e);
}

int st_identity_by_app(struct storage *st, struct arena *a, enum identity_kind kind,
                       const char *app_id, struct identity *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_IDENTITY_BY_APP);
    q_int(&q, kind);
    q_text(&q, app_id);
    return q_one(&q, a, &identity_row, out, e);
}

int st_identity_user(struct storage *st, struct arena *a, const char *name, struct identity *out,
                     struct err *e)
{
    struct q q;
    q_read(&q, st, ST_IDENTITY_USER);
    q_text(&q, name);
    return q_one(&q, a, &identity_row, out, e);
}

int st_identity_list(struct storage *st, struct arena *a, enum identity_kind kind, int64_t after,
                     int limit, struct identity **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items = NULL;
    q_read(&q, st, ST_IDENTITY_LIST);
    q_int(&q, kind);
    q_int(&q, after);
    q_int(&q, limit);
    int rc = q_rows(&q, a, &identity_row, &items, n, e);
    *rows = items;
    return rc;
}

static int remove_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct identity *i = ctx;
    struct q q;
    int gone;
    if (st_credential_remove(st, i->id, NULL, &gone, e) < 0 ||
        q_write(&q, st, ST_ROLE_ASSIGNMENT_REMOVE_OF, e) < 0)
        return -1;
    q_text(&q, i->object_id);
    if (q_run(&q, e) < 0 || q_write(&q, st, ST_IDENTITY_REMOVE, e) < 0)
        return -1;
    q_int(&q, i->id);
    return q_change(&q, "identity", i->id, e);
}

int st_identity_remove(struct storage *st, const struct identity *i, struct err *e)
{
    struct identity copy = *i;
    return st_tx(st, "identity remove", remove_in_tx, &copy, e);
}

/* --- credentials ------------------------------------------------------------------------------ */

int st_credential_insert(struct storage *st, const struct credential *c, struct err *e)
{
    struct q q;
    int64_t id;
    if (q_write(&q, st, ST_CREDENTIAL_INSERT, e) < 0)
        return -1;
    q_row(&q, &credential_row, c, NULL);
    return q_insert(&q, &id, e);
}

static int credentials(struct q *q, struct arena *a, struct credential **rows, size_t *n,
                       struct err *e)
{
    void *items = NULL;
    int rc = q_rows(q, a, &credential_row, &items, n, e);
    *rows = items;
    return rc;
}

int st_credential_list(struct storage *st, struct arena *a, int64_t identity_id,
                       struct credential **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_CREDENTIAL_OF);
    q_int(&q, identity_id);
    return credentials(&q, a, rows, n, e);
}

int st_credential_of_app(struct storage *st, struct arena *a, const char *app_id,
                         struct credential **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_CREDENTIAL_OF_APP);
    q_text(&q, app_id);
    return credentials(&q, a, rows, n, e);
}

int st_credential_remove(struct storage *st, int64_t identity_id, const char *key_id, int *gone,
                         struct err *e)
{
    struct q q;
    if (q_write(&q, st, key_id ? ST_CREDENTIAL_REMOVE : ST_CREDENTIAL_REMOVE_ALL, e) < 0)
        return -1;
    q_int(&q, identity_id);
    if (key_id)
        q_text(&q, key_id);
    if (q_run(&q, e) < 0)
        return -1;
    *gone = q_changed(st);
    return 0;
}

/* --- role assignments ------------------------------------------------------------------------- */

int st_role_assignment_insert(struct storage *st, const struct role_assignment *x, struct err *e)
{
    struct q q;
    int64_t id;
    if (q_write(&q, st, ST_ROLE_ASSIGNMENT_INSERT, e) < 0)
        return -1;
    q_row(&q, &role_assignment_row, x, NULL);
    return q_insert(&q, &id, e);
}

int st_role_assignment_get(struct storage *st, struct arena *a, const char *guid,
                           struct role_assignment *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_ROLE_ASSIGNMENT_GET);
    q_text(&q, guid);
    return q_one(&q, a, &role_assignment_row, out, e);
}

static int assignments(struct q *q, struct arena *a, struct role_assignment **rows, size_t *n,
                       struct err *e)
{
    void *items = NULL;
    int rc = q_rows(q, a, &role_assignment_row, &items, n, e);
    *rows = items;
    return rc;
}

int st_role_assignment_of(struct storage *st, struct arena *a, const char *principal,
                          struct role_assignment **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_ROLE_ASSIGNMENT_OF);
    q_text(&q, principal);
    return assignments(&q, a, rows, n, e);
}

int st_role_assignment_list(struct storage *st, struct arena *a, int64_t after, int limit,
                            struct role_assignment **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_ROLE_ASSIGNMENT_LIST);
    q_int(&q, after);
    q_int(&q, limit);
    return assignments(&q, a, rows, n, e);
}

int st_role_assignment_remove(struct storage *st, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_ROLE_ASSIGNMENT_REMOVE, e) < 0)
        return -1;
    q_int(&q, id);
    return q_change(&q, "role assignment", id, e);
}

/* --- subscriptions ---------------------------------------------------------------------------- */

int st_subscription_insert(struct storage *st, const struct subscription *x, int64_t *id,
                           struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SUBSCRIPTION_INSERT, e) < 0)
        return -1;
    q_row(&q, &subscription_row, x, NULL);
    return q_insert(&q, id, e);
}

int st_subscription_get(struct storage *st, struct arena *a, const char *guid,
                        struct subscription *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_SUBSCRIPTION_GET);
    q_text(&q, guid);
    return q_one(&q, a, &subscription_row, out, e);
}

int st_subscription_list(struct storage *st, struct arena *a, struct subscription **rows, size_t *n,
                         struct err *e)
{
    struct q q;
    void *items = NULL;
    q_read(&q, st, ST_SUBSCRIPTION_LIST);
    int rc = q_rows(&q, a, &subscription_row, &items, n, e);
    *rows = items;
    return rc;
}

int st_subscription_remove(struct storage *st, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SUBSCRIPTION_REMOVE, e) < 0)
        return -1;
    q_int(&q, id);
    return q_change(&q, "subscription", id, e);
}

int st_subscription_name(struct storage *st, int64_t id, const char *name, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SUBSCRIPTION_NAME, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, name);
    return q_change(&q, "subscription", id, e);
}
