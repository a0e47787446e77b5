/* SPDX-License-Identifier: MIT
 *
 * Users, service principals and applications, their credentials, and sessions that they ended.
 */
#include "storage/seeding.h"
#include "storage/storage_priv.h"

static int remove_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct identity *i = ctx;
    int gone;
    if (st_credential_remove(st, i->id, NULL, &gone, e) < 0 ||
        st_role_assignment_remove_of(st, i->object_id, e) < 0)
        return -1;
    return st_identity_remove_row(st, i->id, e);
}

int st_identity_remove(struct storage *st, const struct identity *i, struct err *e)
{
    struct identity copy = *i;
    return st_tx(st, "identity remove", remove_in_tx, &copy, e);
}

static int remove_subscription_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const int64_t *id = ctx;
    return st_end_roles_of_subscription(st, *id, e) < 0 ? -1
                                                        : st_subscription_remove_row(st, *id, e);
}

int st_subscription_remove(struct storage *st, int64_t id, struct err *e)
{
    return st_tx(st, "subscription remove", remove_subscription_in_tx, &id, e);
}

int st_credential_any(struct storage *st, struct err *e)
{
    bool any;
    return st_credential_exists(st, &any, e) < 0 ? -1 : any;
}

/* How many ended sessions of one principal are recorded. After that all of the principal's sessions
 * end that have begun so far, so that nobody fills the disk by logging in and out. */
#define ENDED_MAX 100

static int end_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct st_ended_session *s = ctx;
    int64_t n = 0;
    if (st_session_forget(st, s->now_us, e) < 0 || st_session_count(st, s->principal, &n, e) < 0)
        return -1;
    if (n < ENDED_MAX)
        return st_session_insert(st, s->principal, s->id, s->begun_us, s->until_us, e);
    if (st_session_remove_of(st, s->principal, e) < 0)
        return -1;
    return st_session_insert(st, s->principal, "*", s->now_us, s->until_us, e);
}

int st_session_end(struct storage *st, const struct st_ended_session *s, struct err *e)
{
    struct st_ended_session copy = *s;
    return st_tx(st, "session end", end_in_tx, &copy, e);
}
