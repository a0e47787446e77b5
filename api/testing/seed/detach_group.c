/* SPDX-License-Identifier: MIT */
#include "api/testing/seed/detach_group.h"

#include <errno.h>
#include <stdio.h>

#include "storage/changes.h"
#include "storage/detachment.h"

#define ROWS_AT_ONCE 100

/* Renames the folder of an account, if it exists: an account without shares has none. */
static int rename_folder(struct detachment *b, const struct storage_account *acct, struct err *e)
{
    struct renamed *one = arena_alloc(b->a, sizeof *one);
    *one = (struct renamed){
        .from = arena_concat(b->a, b->storage_dir, "/", arena_lower(b->a, acct->name)),
        .to = arena_printf(b->a, "%s/%s#%lld", b->storage_dir, arena_lower(b->a, acct->name),
                           (long long)acct->id),
        .next = b->renamed};
    if (rename(one->from, one->to) == 0)
        b->renamed = one;
    else if (errno != ENOENT)
        return err_errno(e, ERR_IO, "the folder of the storage account %s cannot be renamed",
                         acct->name);
    return 0;
}

static int rename_folders(struct detachment *b, const struct resource_group *g, struct err *e)
{
    struct storage_account_rows rows = {NULL, 1};
    int64_t after = 0;
    while (rows.n > 0) {
        if (st_account_list(b->st, b->a, &(struct st_filter){g->subscription, .group_id = g->id},
                            &(struct st_page){.after = after, .limit = ROWS_AT_ONCE}, &rows, e) < 0)
            return -1;
        for (size_t i = 0; i < rows.n; i++) {
            after = rows.items[i].id;
            if (rename_folder(b, &rows.items[i], e) < 0)
                return -1;
        }
    }
    return 0;
}

int detach_group(struct detachment *b, const struct resource_group *g, struct err *e)
{
    return rename_folders(b, g, e) < 0 ? -1 : st_group_detach(b->st, g->id, b->now_us, e);
}

int detach_deleted(struct detachment *b, const char *subscription, const char *group, struct err *e)
{
    return st_vaults_detach(b->st, subscription, group, b->vaults_after, b->now_us, e);
}

int detach_group_alone(struct detachment *b, const struct resource_group *g, struct err *e)
{
    const char *scope =
        arena_concat(b->a, "/subscriptions/", g->subscription, "/resourceGroups/", g->name);
    return detach_deleted(b, g->subscription, g->name, e) < 0 ||
                   st_roles_detach(b->st, scope, e) < 0 || st_changes_forget(b->st, scope, e) < 0
               ? -1
               : detach_group(b, g, e);
}

void detach_undo(struct detachment *b)
{
    for (const struct renamed *one = b->renamed; one; one = one->next)
        (void)rename(one->to, one->from); /* if the rename fails, the share exists and is empty */
    b->renamed = NULL;
}
