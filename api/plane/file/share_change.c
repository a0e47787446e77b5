/* SPDX-License-Identifier: MIT
 *
 * Changes of shares, and further operations on them.
 */
#include <inttypes.h>
#include <string.h>

#include "api/plane/file/handlers.h"
#include "api/plane/storage/leases.h"
#include "api/plane/storage/plane_shares.h"
#include "api/plane/storage/xml_write.h"
#include "storage/shares/usage.h"
#include "storage/storage.h"

/* --- properties, metadata, policies --------------------------------------------------------- */

struct replied *azshare_set_properties(struct request *r)
{
    struct err e;
    struct share *s = &grant_of(r)->share;
    if (azshare_find(r, false, &e) < 0 || azshare_quota(r, s->quota, &s->quota, &e) < 0)
        return reply_err(r, &e);
    if (request_header(r, "x-ms-access-tier"))
        s->access_tier = request_header(r, "x-ms-access-tier");
    return plane_update_share(r);
}

struct replied *azshare_set_metadata(struct request *r)
{
    struct err e;
    struct share *s = &grant_of(r)->share;
    if (azshare_find(r, false, &e) < 0 || metadata_read(r, &s->metadata, &e) < 0)
        return reply_err(r, &e);
    return plane_update_share(r);
}

struct replied *azshare_get_acl(struct request *r)
{
    struct err e;
    const struct share *s = &grant_of(r)->share;
    if (azshare_find(r, false, &e) < 0)
        return reply_err(r, &e);
    reply_state(r, (uint64_t)s->etag, s->updated_us);
    return reply_policies(r, s->acl);
}

struct replied *azshare_set_acl(struct request *r)
{
    struct err e;
    struct share *s = &grant_of(r)->share;
    if (azshare_find(r, false, &e) < 0 || policies_read(r, &s->acl, &e) < 0)
        return reply_err(r, &e);
    return plane_update_share(r);
}

struct replied *azshare_lease(struct request *r)
{
    struct err e;
    return plane_share(r, &e) < 0 ? reply_err(r, &e) : plane_lease_share(r);
}

/* --- how much is in it ---------------------------------------------------------------------- */

/* Replies of older api-versions have GiB; replies since this version have bytes. */
#define BYTES_SINCE 20180328

static struct replied *show_stats(struct request *r, uint64_t bytes)
{
    const struct share *s = &grant_of(r)->share;
    struct strbuf b = STRBUF_INIT;
    bool in_bytes = grant_of(r)->version == 0 || grant_of(r)->version >= BYTES_SINCE;
    uint64_t shown = in_bytes ? bytes : (bytes + (1 << 30) - 1) >> 30;
    xml_begin_document(&b);
    xml_open(&b, "ShareStats");
    xml_element(&b, in_bytes ? "ShareUsageBytes" : "ShareUsage",
                arena_printf(&r->arena, "%" PRIu64, shown));
    xml_close(&b, "ShareStats");
    reply_state(r, (uint64_t)s->etag, s->updated_us);
    return reply_text(r, 200, "application/xml", strbuf_take(&b));
}

static void on_counted(void *ctx, const struct err *why, enum file_fault fault, uint64_t bytes)
{
    struct request *r = ctx;
    struct err e;
    if (why)
        azfile_fault(why, fault, &e);
    request_finish(r, why ? reply_err(r, &e) : show_stats(r, bytes));
}

struct replied *azshare_stats(struct request *r)
{
    struct err e;
    if (azshare_find(r, false, &e) < 0)
        return reply_err(r, &e);
    shares_count(azstorage_of(r)->shares, &r->arena, &grant_of(r)->share, on_counted, r);
    return reply_later(r);
}

/* --- properties that folders lack ------------------------------------------------------------- */

struct replied *azshare_snapshot(struct request *r)
{
    struct err e;
    err_set(&e, AZSTORAGE_SNAPSHOTS, NULL,
            "Share snapshots are not supported: the share is a folder that jobs write to. Copy the "
            "files that you want to keep.");
    return reply_err(r, &e);
}

/* All files have this permission. */
#define PERMISSION     "O:SYG:SYD:(A;;FA;;;WD)"
#define PERMISSION_KEY "1*1"

struct replied *azshare_put_permission(struct request *r)
{
    struct err e;
    const char *text = json_string_value(json_object_get(r->body, "permission"));
    if (plane_share(r, &e) < 0)
        return reply_err(r, &e);
    if (!text || !*text) {
        err_set(&e, AZSTORAGE_INPUT, "permission",
                "The body must be a JSON object whose 'permission' is a text in SDDL.");
        return reply_err(r, &e);
    }
    reply_header_text(r, "x-ms-file-permission-key", PERMISSION_KEY);
    reply_header_text(r, "x-ms-request-server-encrypted", "true");
    return reply_empty(r, 201);
}

struct replied *azshare_get_permission(struct request *r)
{
    struct err e;
    if (plane_share(r, &e) < 0)
        return reply_err(r, &e);
    if (!request_header(r, "x-ms-file-permission-key")) {
        err_set(&e, AZSTORAGE_HEADER_MISSING, "x-ms-file-permission-key",
                "An HTTP header that's mandatory for this request is not specified: "
                "x-ms-file-permission-key.");
        return reply_err(r, &e);
    }
    return reply_json(r, 200, json_pack("{s:s}", "permission", PERMISSION));
}
