/* SPDX-License-Identifier: MIT
 *
 * Which operations an archived blob allows.
 */
#include <string.h>

#include "api/plane/blob/handlers.h"
#include "api/plane/storage/tiers.h"

static bool is_for_archived(const struct request *r)
{
    /* https://learn.microsoft.com/azure/storage/blobs/access-tiers-overview#archive-access-tier; a
     * lease changes nothing of the blob */
    static const char *const operations[] = {
        "Blob_GetProperties",  "Blob_GetMetadata", "Blob_GetTags",      "Blob_SetTags",
        "Blob_SetTier",        "Blob_Delete",      "Blob_AcquireLease", "Blob_Undelete",
        "Blob_GetAccountInfo", "StorageItems_Head"};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(r->route->operation_id, operations[i]) == 0)
            return true;
    return false;
}

int blob_check_online(struct request *r, const struct share_item *i, const struct file_facts *f,
                      struct err *e)
{
    const struct tier now = tier_here(r, i, f);
    return now.archived && !is_for_archived(r) ? tier_refuse(&now, e) : 0;
}
