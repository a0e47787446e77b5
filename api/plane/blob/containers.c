/* SPDX-License-Identifier: MIT
 *
 * Containers: creation, properties, leases, deletion, and public access. A container is a row of
 * the table of shares; storage/shares/ creates and removes its folder. On the loop's thread.
 */
#include <string.h>
#include <strings.h>

#include "api/plane/blob/handlers.h"
#include "api/plane/storage/leases.h"
#include "api/plane/storage/plane_shares.h"
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

struct replied *azcontainer_create(struct request *r)
{
    struct err e;
    struct share s = {0};
    if (plane_check_name(request_param(r, "container"), &e) < 0 ||
        read_access(r, &s.public_access, &e) < 0)
        return reply_err(r, &e);
    return plane_make_share(r, &s);
}

static int check_lease(struct request *r, bool deletes, struct err *e)
{
    static const struct lease_errors errors = {"container", AZSTORAGE_LEASE_CONTAINER,
                                               AZSTORAGE_LEASE_NOT_CONTAINER};
    const struct lease l = lease_of_share(&grant_of(r)->share);
    return lease_check(r, &l, deletes, &errors, e);
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
    if (check(r, &e) < 0 || check_lease(r, true, &e) < 0)
        return reply_err(r, &e);
    return plane_delete_share(r);
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

struct replied *azcontainer_set_metadata(struct request *r)
{
    struct err e;
    struct share *s = &grant_of(r)->share;
    if (check(r, &e) < 0 || check_lease(r, false, &e) < 0 || metadata_read(r, &s->metadata, &e) < 0)
        return reply_err(r, &e);
    return plane_update_share(r);
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
    return plane_update_share(r);
}

struct replied *azcontainer_lease(struct request *r)
{
    struct err e;
    return check(r, &e) < 0 ? reply_err(r, &e) : plane_lease_share(r);
}
