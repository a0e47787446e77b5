/* SPDX-License-Identifier: MIT
 *
 * The rows of Azure Batch; see rows.h.
 */
#include "storage/columns.h"

#define ROW struct batch_account
static const struct st_column batch_account_columns[] = {
    OWN_ID("id", id),
    INT64("group_id", group_id, id),
    TEXT("name", name),
    TEXT("location", scope.location),
    TEXT("tags", tags),
    TEXT("doc", doc),
    TEXT("created_by", created_by),
    INT("prov_state", prov_state, prov_state),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    FROM_TEXT("g.subscription", scope.subscription),
    FROM_TEXT("g.name", scope.group),
    SECRET("keys"),
};
#undef ROW
ROW_OF(batch_account_row, struct batch_account, batch_account, "batch_account", "ba");
