/* SPDX-License-Identifier: MIT
 *
 * Shares: made, shown, deleted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/plane/file/handlers.h"
#include "api/plane/storage/leases.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

#define QUOTA_DEFAULT 5120 /* GiB, as the service's */

int azshare_quota(struct request *r, int fallback, int *out, struct err *e)
{
    const char *text = request_header(r, "x-ms-share-quota");
    char *end;
    *out = fallback;
    if (!text)
        return 0;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < 1 || n > SHARE_QUOTA_MAX)
        return err_set(e, AZSTORAGE_HEADER, "x-ms-share-quota",
                       "x-ms-share-quota is '%.40s'; it must be a number of GiB from 1 to %d.",
                       text, SHARE_QUOTA_MAX);
    *out = (int)n;
    return 0;
}

static struct replied *refuse(struct request *r, const struct err *why)
{
    struct err e = *why;
    const char *name = request_param(r, "share");
    if (why->code == ERR_CONFLICT)
        err_set(&e, AZSTORAGE_SHARE_EXISTS, NULL, "The specified share already exists: '%.80s'.",
                name);
    else if (why->code == ERR_BEING_DELETED)
        err_set(&e, AZSTORAGE_SHARE_GOING, NULL,
                "The specified share is being deleted. Try operation later.");
    return reply_err(r, &e);
}

static struct replied *created(struct request *r)
{
    struct grant *g = grant_of(r);
    struct err e;
    int rc = st_share_by_name(azstorage_of(r)->storage, &r->arena, g->account.id, SHARE_FILES,
                              request_param(r, "share"), &g->share, &e);
    if (rc < 0)
        return reply_err(r, &e);
    if (rc > 0)
        reply_state(r, (uint64_t)g->share.etag, g->share.updated_us);
    return reply_empty(r, 201);
}

static void on_made(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why ? refuse(r, why) : created(r));
}

struct replied *azshare_create(struct request *r)
{
    const struct grant *g = grant_of(r);
    struct err e;
    struct share s = {.account_id = g->account.id,
                      .account = g->account.name,
                      .name = request_param(r, "share"),
                      .kind = SHARE_FILES,
                      .access_tier = request_header(r, "x-ms-access-tier")};
    if (plane_check_name(s.name, &e) < 0 || azshare_quota(r, QUOTA_DEFAULT, &s.quota, &e) < 0 ||
        metadata_read(r, &s.metadata, &e) < 0)
        return reply_err(r, &e);
    if (shares_make(azstorage_of(r)->shares, &s, r->now_us, on_made, r, &e) < 0)
        return refuse(r, &e);
    return reply_later(r);
}

static const struct lease_errors leased = {"share", AZSTORAGE_LEASE_SHARE,
                                           AZSTORAGE_LEASE_NOT_SHARE};

int azshare_find(struct request *r, bool needs_id, struct err *e)
{
    const struct share *s = &grant_of(r)->share;
    if (plane_share(r, e) < 0)
        return -1;
    const struct lease l = lease_of_share(s);
    return lease_check(r, &l, needs_id, &leased, e);
}

struct replied *azshare_get(struct request *r)
{
    struct err e;
    const struct share *s = &grant_of(r)->share;
    if (azshare_find(r, false, &e) < 0)
        return reply_err(r, &e);
    reply_state(r, (uint64_t)s->etag, s->updated_us);
    metadata_reply(r, s->metadata);
    reply_header(r, "x-ms-share-quota", "%d", s->quota > 0 ? s->quota : QUOTA_DEFAULT);
    reply_header_text(r, "x-ms-access-tier",
                      s->access_tier ? s->access_tier : "TransactionOptimized");
    const struct lease l = lease_of_share(s);
    if (grant_of(r)->version >= SHARE_LEASES_SINCE)
        lease_headers(r, &l);
    reply_header_text(r, "x-ms-has-immutability-policy", "false");
    reply_header_text(r, "x-ms-has-legal-hold", "false");
    return reply_empty(r, 200);
}

static void on_deleted(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why ? reply_err(r, why) : reply_empty(r, 202));
}

struct replied *azshare_delete(struct request *r)
{
    struct err e;
    if (azshare_find(r, true, &e) < 0 || shares_delete(azstorage_of(r)->shares, &grant_of(r)->share,
                                                       r->now_us, on_deleted, r, &e) < 0)
        return reply_err(r, &e);
    return reply_later(r);
}
