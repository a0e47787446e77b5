/* SPDX-License-Identifier: MIT
 *
 * Workspaces and experiments.
 */
#include "storage/storage_priv.h"

int st_workspace_list(struct storage *st, struct arena *a, const char *subscription,
                      int64_t group_id, int64_t after, int limit, struct workspace **rows,
                      size_t *n, struct err *e)
{
    return group_id ? st_workspace_list_group(st, a, group_id, after, limit, rows, n, e)
                    : st_workspace_list_subscription(st, a, subscription, after, limit, rows, n, e);
}
