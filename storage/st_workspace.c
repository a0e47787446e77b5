/* SPDX-License-Identifier: MIT
 *
 * Workspaces and experiments.
 */
#include "storage/storage_priv.h"

int st_workspace_list(struct storage *st, struct arena *a, const char *subscription,
                      int64_t group_id, const struct st_page *page, struct workspace_rows *rows,
                      struct err *e)
{
    return group_id ? st_workspace_list_group(st, a, group_id, page, rows, e)
                    : st_workspace_list_subscription(st, a, subscription, page, rows, e);
}
