/* SPDX-License-Identifier: MIT */
#include "api/batchai/named_shares.h"

#include "scheduler/scheduler.h"
#include "shares/shares.h"

/* False: it names none of ours. */
static bool name_of(const struct mount_volume *m, struct share_name *n)
{
    if (m->kind != MOUNT_AZURE_FILE_SHARE && m->kind != MOUNT_AZURE_BLOB)
        return false;
    *n = (struct share_name){.account = m->account,
                             .share = m->share,
                             .kind = m->kind == MOUNT_AZURE_BLOB ? SHARE_BLOBS : SHARE_FILES,
                             .key = m->key};
    return m->account && m->share;
}

static bool is_local(struct request *r, const struct cluster *c)
{
    return sched_is_local(arm_of(r)->sched, c->vm_size, c->vm_priority);
}

int check_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                       struct err *e)
{
    struct share_name n;
    for (size_t i = 0; i < mounts->n; i++)
        if (name_of(&mounts->items[i], &n) && is_local(r, c) &&
            shares_check_named(batchai_of(r)->shares, &n, e) < 0)
            return -1;
    return 0;
}

int make_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                      struct err *e)
{
    struct share_name n;
    for (size_t i = 0; i < mounts->n; i++)
        if (name_of(&mounts->items[i], &n) && is_local(r, c) &&
            shares_make_named(batchai_of(r)->shares, &n, r->who->object_id, r->now_us, e) < 0)
            return -1;
    return 0;
}
