/* SPDX-License-Identifier: MIT
 *
 * File servers.
 */
#include <assert.h>

#include "storage/storage_priv.h"

int st_file_server_move(struct storage *st, int64_t id, enum prov_state from, enum prov_event ev,
                        int64_t now_us, struct err *e)
{
    enum prov_state to = prov_next(from, ev);
    assert(to != 0);
    return st_file_server_move_row(st, id, from, to, now_us, e);
}

int st_file_server_list(struct storage *st, struct arena *a, const struct st_filter *f,
                        const struct st_page *page, struct file_server_rows *rows, struct err *e)
{
    if (f->workspace_id)
        return st_file_server_list_workspace(st, a, f->workspace_id, page, rows, e);
    if (f->group_id)
        return st_file_server_list_group(st, a, f->group_id, page, rows, e);
    if (f->workspace)
        return st_file_server_list_named(st, a, f->subscription, f->workspace, page, rows, e);
    return st_file_server_list_subscription(st, a, f->subscription, page, rows, e);
}
