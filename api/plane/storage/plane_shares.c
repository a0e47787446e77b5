/* SPDX-License-Identifier: MIT
 *
 * Shares and containers as a whole: made, changed, deleted, leased. The row is in the request's
 * grant; words and kinds of errors are in the grant's plane. On the loop's thread.
 */
#include "api/plane/storage/plane_shares.h"

#include "api/plane/storage/leases.h"
#include "model/spec.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

/* Reads the share's row again. */
static int refresh(struct request *r, struct grant *g, struct err *e)
{
    int64_t id = g->share.id;
    int rc = st_share_by_name(azstorage_of(r)->storage, &r->arena, g->account.id, g->plane->kind,
                              g->share.name, &g->share, e);
    g->has_share = rc > 0 && g->share.state == SHARE_THERE && g->share.id == id;
    return rc < 0 ? -1 : 0;
}

int plane_share(struct request *r, struct err *e)
{
    struct grant *g = grant_of(r);
    const char *name = g->has_share ? g->share.name : r->segment[0];
    if (g->has_share && refresh(r, g, e) < 0)
        return -1;
    if (g->has_share)
        return 0;
    return err_set(e, g->plane->no_share, NULL, "The specified %s does not exist: '%.80s'.",
                   g->plane->share, name);
}

int plane_check_name(const char *name, struct err *e)
{
    if (container_name_valid(name))
        return 0;
    return err_set(e, ERR_INVALID_NAME, NULL,
                   "The specifed resource name contains invalid characters: '%.80s'; it must have "
                   "%s.",
                   name, container_name_rule);
}

/* --- made ----------------------------------------------------------------------------------- */

static const char *name_of(const struct request *r)
{
    return request_param(r, grant_of(r)->plane->share);
}

static struct replied *refuse(struct request *r, const struct err *why)
{
    struct err e = *why;
    const struct plane *p = grant_of(r)->plane;
    if (why->code == ERR_CONFLICT)
        err_set(&e, p->share_exists, NULL, "The specified %s already exists: '%.80s'.", p->share,
                name_of(r));
    else if (why->code == ERR_BEING_DELETED)
        err_set(&e, p->share_going, NULL, "The specified %s is being deleted. Try operation later.",
                p->share);
    return reply_err(r, &e);
}

static struct replied *created(struct request *r)
{
    struct grant *g = grant_of(r);
    struct err e;
    int rc = st_share_by_name(azstorage_of(r)->storage, &r->arena, g->account.id, g->plane->kind,
                              name_of(r), &g->share, &e);
    if (rc == 0)
        err_set(&e, ERR_STORAGE, NULL, "The %s could not be written; try again.", g->plane->share);
    if (rc <= 0)
        return reply_err(r, &e);
    reply_state(r, (uint64_t)g->share.etag, g->share.updated_us);
    return reply_empty(r, 201);
}

static void on_made(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why ? refuse(r, why) : created(r));
}

struct replied *plane_make_share(struct request *r, struct share *s)
{
    const struct grant *g = grant_of(r);
    struct err e;
    s->account_id = g->account.id;
    s->account = g->account.name;
    s->name = name_of(r);
    s->kind = g->plane->kind;
    if (metadata_read(r, &s->metadata, &e) < 0)
        return reply_err(r, &e);
    if (shares_make(azstorage_of(r)->shares, s, r->now_us, on_made, r, &e) < 0)
        return refuse(r, &e);
    return reply_later(r);
}

/* --- changed, deleted, leased ---------------------------------------------------------------- */

struct replied *plane_update_share(struct request *r)
{
    struct err e;
    struct share *s = &grant_of(r)->share;
    int64_t was = s->etag;
    s->etag = st_next_etag(was, r->now_us);
    s->updated_us = r->now_us;
    if (st_share_update(azstorage_of(r)->storage, s, was, &e) < 0)
        return reply_err(r, &e);
    reply_state(r, (uint64_t)s->etag, s->updated_us);
    return reply_empty(r, 200);
}

static void on_deleted(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why ? reply_err(r, why) : reply_empty(r, 202));
}

struct replied *plane_delete_share(struct request *r)
{
    struct err e;
    if (shares_delete(azstorage_of(r)->shares, &grant_of(r)->share, r->now_us, on_deleted, r, &e) <
        0)
        return reply_err(r, &e);
    return reply_later(r);
}

struct replied *plane_lease_share(struct request *r)
{
    struct err e;
    struct share *s = &grant_of(r)->share;
    struct lease l = lease_of_share(s);
    int status = lease_act(r, &l, false, &e);
    if (status < 0)
        return reply_err(r, &e);
    lease_to_share(&l, s);
    if (st_share_update(azstorage_of(r)->storage, s, s->etag, &e) < 0)
        return reply_err(r, &e);
    reply_state(r, (uint64_t)s->etag, s->updated_us);
    return reply_empty(r, status);
}
