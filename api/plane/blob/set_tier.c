/* SPDX-License-Identifier: MIT
 *
 * Set Blob Tier: changes only the blob's row. An archived blob is rehydrated (202); any other blob
 * gets its new tier at once (200). The ETag stays the same.
 * https://learn.microsoft.com/rest/api/storageservices/set-blob-tier
 */
#include <string.h>

#include "api/plane/blob/handlers.h"
#include "api/plane/storage/tiers.h"

#define TIER "x-ms-access-tier"

static int read_wanted(struct blob_work *w, const char **tier, const char **priority, struct err *e)
{
    if (tier_read(w->r, tier, e) < 0 || tier_read_priority(w->r, priority, e) < 0)
        return -1;
    if (!*tier)
        return err_set(e, AZSTORAGE_HEADER_MISSING, TIER,
                       "An HTTP header that's mandatory for this request is not specified: " TIER
                       ".");
    return tier_check_type(blob_type_of(&w->item), *tier, e);
}

/* While a blob is being rehydrated, a request may only raise the priority to High. */
static int change_rehydration(struct blob_work *w, const struct tier *now, const char *tier,
                              const char *priority, struct err *e)
{
    bool same = strcmp(tier, now->to) == 0;
    if (same && (!priority || strcmp(priority, now->priority) == 0))
        return 0;
    if (same && strcmp(priority, "High") == 0) {
        tier_hasten(w->r, &w->item);
        return 0;
    }
    return err_set(e, AZSTORAGE_REHYDRATED, TIER,
                   "This operation is not permitted because the blob is being rehydrated to %s, "
                   "with the priority %s. Until that is over only its priority may be raised to "
                   "High.",
                   now->to, now->priority);
}

/* Returns the status of the reply, or -1. */
static int change_tier(struct blob_work *w, const struct file_facts *f, struct err *e)
{
    const char *tier, *priority;
    const struct tier now = tier_here(w->r, &w->item, f);
    if (read_wanted(w, &tier, &priority, e) < 0)
        return -1;
    bool archives = strcmp(tier, "Archive") == 0;
    if (now.to)
        return change_rehydration(w, &now, tier, priority, e) < 0 ? -1 : 202;
    if (now.archived && !archives) {
        tier_rehydrate(w->r, &w->item, tier, priority && strcmp(priority, "High") == 0);
        return 202;
    }
    if (archives)
        item_follow_file(&w->item, f);
    tier_set(&w->r->arena, &w->item, tier);
    return 200;
}

static void set_tier(struct blob_work *w, const struct file_facts *f)
{
    struct err e;
    int status = change_tier(w, f, &e);
    if (status < 0 || blob_store(w->r, &w->blob, &w->item, &e) < 0)
        blob_finish(w, reply_err(w->r, &e));
    else
        blob_finish(w, reply_empty(w->r, status));
}

struct replied *azblob_set_tier(struct request *r)
{
    return blob_change(r, set_tier);
}

int tier_check_type(enum blob_type type, const char *tier, struct err *e)
{
    if (!tier || type == BLOB_BLOCK)
        return 0;
    return err_set(e, AZSTORAGE_BLOB_TYPE, TIER,
                   "The blob type is invalid for this operation: it is a %s, and only a BlockBlob "
                   "has an access tier.",
                   blob_type_name(type));
}
