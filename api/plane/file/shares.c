/* SPDX-License-Identifier: MIT
 *
 * Shares: made, shown, deleted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/plane/file/handlers.h"
#include "api/plane/storage/leases.h"
#include "api/plane/storage/plane_shares.h"
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

struct replied *azshare_create(struct request *r)
{
    struct err e;
    struct share s = {.access_tier = request_header(r, "x-ms-access-tier")};
    if (plane_check_name(request_param(r, "share"), &e) < 0 ||
        azshare_quota(r, QUOTA_DEFAULT, &s.quota, &e) < 0)
        return reply_err(r, &e);
    return plane_make_share(r, &s);
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
    return reply_empty(r, 200);
}

struct replied *azshare_delete(struct request *r)
{
    struct err e;
    return azshare_find(r, true, &e) < 0 ? reply_err(r, &e) : plane_delete_share(r);
}
