/* SPDX-License-Identifier: MIT
 *
 * Containers: made, shown, deleted, and who else may read them.
 */
#include <string.h>
#include <strings.h>

#include "api/plane/blob/handlers.h"
#include "api/plane/storage/leases.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

static int read_access(struct request *r, enum public_access *out, struct err *e)
{
    const char *text = request_header(r, "x-ms-blob-public-access");
    *out = PUBLIC_NONE;
    if (!text || !*text)
        return 0;
    *out = strcasecmp(text, "container") == 0 ? PUBLIC_CONTAINER : PUBLIC_BLOB;
    if (*out == PUBLIC_BLOB && strcasecmp(text, "blob") != 0)
        return err_set(e, AZSTORAGE_HEADER, "x-ms-blob-public-access",
                       "x-ms-blob-public-access is '%.40s'; it must be container or blob.", text);
    if (plane_may_be_public(grant_of(r)))
        return 0;
    return err_set(e, AZSTORAGE_NOT_PUBLIC, NULL,
                   "Public access is not permitted on this storage account "
                   "(allowBlobPublicAccess).");
}

/* --- made, deleted -------------------------------------------------------------------------- */

static struct replied *refuse(struct request *r, const struct err *why)
{
    struct err e = *why;
    const char *name = request_param(r, "container");
    if (why->code == ERR_CONFLICT)
        err_set(&e, AZSTORAGE_CONTAINER_EXISTS, NULL,
                "The specified container already exists: '%.80s'.", name);
    else if (why->code == ERR_BEING_DELETED)
        err_set(&e, AZSTORAGE_CONTAINER_GOING, NULL,
                "The specified container is being deleted. Try operation later.");
    return reply_err(r, &e);
}

static struct replied *created(struct request *r)
{
    struct grant *g = grant_of(r);
    struct err e;
    int rc = st_share_by_name(azstorage_of(r)->storage, &r->arena, g->account.id, SHARE_BLOBS,
                              request_param(r, "container"), &g->share, &e);
    if (rc <= 0)
        return rc < 0 ? reply_err(r, &e) : reply_empty(r, 201);
    reply_state(r, (uint64_t)g->share.etag, g->share.updated_us);
    return reply_empty(r, 201);
}

static void on_made(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why ? refuse(r, why) : created(r));
}

struct replied *azcontainer_create(struct request *r)
{
    const struct grant *g = grant_of(r);
    struct err e;
    struct share s = {.account_id = g->account.id,
                      .account = g->account.name,
                      .name = request_param(r, "container"),
                      .kind = SHARE_BLOBS};
    if (plane_check_name(s.name, &e) < 0 || read_access(r, &s.public_access, &e) < 0 ||
        metadata_read(r, &s.metadata, &e) < 0)
        return reply_err(r, &e);
    if (shares_make(azstorage_of(r)->shares, &s, r->now_us, on_made, r, &e) < 0)
        return refuse(r, &e);
    return reply_later(r);
}

static int check_lease(struct request *r, bool deletes, struct err *e)
{
    static const struct lease_errors errors = {"container", AZSTORAGE_LEASE_CONTAINER,
                                               AZSTORAGE_LEASE_NOT_CONTAINER};
    const struct lease l = lease_of_share(&grant_of(r)->share);
    return lease_check(r, &l, deletes, &errors, e);
}

static void on_deleted(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why ? reply_err(r, why) : reply_empty(r, 202));
}

static int check(struct request *r, struct err *e)
{
    const struct grant *g = grant_of(r);
    if (plane_share(r, e) < 0)
        return -1;
    const struct condition_state now = {true, (uint64_t)g->share.etag, g->share.updated_us};
    return conditions_check(r, &now, e);
}

struct replied *azcontainer_delete(struct request *r)
{
    struct err e;
    if (check(r, &e) < 0 || check_lease(r, true, &e) < 0 ||
        shares_delete(azstorage_of(r)->shares, &grant_of(r)->share, r->now_us, on_deleted, r, &e) <
            0)
        return reply_err(r, &e);
    return reply_later(r);
}

/* --- shown, changed ------------------------------------------------------------------------- */

static void access_header(struct request *r, const struct share *s)
{
    if (s->public_access != PUBLIC_NONE)
        reply_header_text(r, "x-ms-blob-public-access",
                          s->public_access == PUBLIC_CONTAINER ? "container" : "blob");
}

struct replied *azcontainer_get(struct request *r)
{
    struct err e;
    const struct share *s = &grant_of(r)->share;
    if (check(r, &e) < 0 || check_lease(r, false, &e) < 0)
        return reply_err(r, &e);
    reply_state(r, (uint64_t)s->etag, s->updated_us);
    metadata_reply(r, s->metadata);
    access_header(r, s);
    const struct lease l = lease_of_share(s);
    lease_headers(r, &l);
    reply_header_text(r, "x-ms-has-immutability-policy", "false");
    reply_header_text(r, "x-ms-has-legal-hold", "false");
    return reply_empty(r, 200);
}

static struct replied *update(struct request *r, struct share *s, int status)
{
    struct err e;
    int64_t was = s->etag;
    s->etag = st_next_etag(was, r->now_us);
    s->updated_us = r->now_us;
    if (st_share_update(azstorage_of(r)->storage, s, was, &e) < 0)
        return reply_err(r, &e);
    reply_state(r, (uint64_t)s->etag, s->updated_us);
    return reply_empty(r, status);
}

struct replied *azcontainer_set_metadata(struct request *r)
{
    struct err e;
    struct share *s = &grant_of(r)->share;
    if (check(r, &e) < 0 || check_lease(r, false, &e) < 0 || metadata_read(r, &s->metadata, &e) < 0)
        return reply_err(r, &e);
    return update(r, s, 200);
}

struct replied *azcontainer_get_acl(struct request *r)
{
    struct err e;
    const struct share *s = &grant_of(r)->share;
    if (check(r, &e) < 0 || check_lease(r, false, &e) < 0)
        return reply_err(r, &e);
    reply_state(r, (uint64_t)s->etag, s->updated_us);
    access_header(r, s);
    return reply_policies(r, s->acl);
}

struct replied *azcontainer_set_acl(struct request *r)
{
    struct err e;
    struct share *s = &grant_of(r)->share;
    if (check(r, &e) < 0 || check_lease(r, false, &e) < 0 || policies_read(r, &s->acl, &e) < 0 ||
        read_access(r, &s->public_access, &e) < 0)
        return reply_err(r, &e);
    return update(r, s, 200);
}

struct replied *azcontainer_lease(struct request *r)
{
    struct err e;
    struct share *s = &grant_of(r)->share;
    if (check(r, &e) < 0)
        return reply_err(r, &e);
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
