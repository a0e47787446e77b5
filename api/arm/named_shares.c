/* SPDX-License-Identifier: MIT */
#include "api/arm/named_shares.h"

#include <string.h>

#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "scheduler/scheduler.h"
#include "storage/storage.h"

bool named_share_of(struct request *r, const struct mount_volume *m, const char *vm_size,
                    enum vm_priority priority, struct share_name *out)
{
    if ((m->kind != MOUNT_FILE_SHARE && m->kind != MOUNT_BLOBS) || !m->account || !m->share)
        return false;
    *out = (struct share_name){.account = m->account,
                               .share = m->share,
                               .kind = m->kind == MOUNT_BLOBS ? SHARE_BLOBS : SHARE_FILES,
                               .key = m->key,
                               .is_elsewhere =
                                   !sched_mounts_own(arm_of(r)->sched, vm_size, priority, m)};
    return true;
}

/* The first principal may list the keys of all accounts. */
int named_share_ask(struct request *r, struct share_name *n, struct err *e)
{
    struct storage_account s;
    int rc = st_account_by_name(arm_of(r)->storage, &r->arena, arena_lower(&r->arena, n->account),
                                &s, e);
    if (rc <= 0)
        return rc;
    bool own = s.implicit && s.created_by && r->who && strcmp(s.created_by, r->who->object_id) == 0;
    const char *id =
        resource_id(&r->arena, "Microsoft.Storage", &s.scope, "storageAccounts", s.name);
    int may = own;
    if (!own && r->who)
        may = arm_may_also(r, "Microsoft.Storage/storageAccounts/listKeys/action", id, e);
    n->needs_key = may == 0;
    return may < 0 ? -1 : 0;
}

int check_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                       struct err *e)
{
    struct share_name n;
    for (size_t i = 0; i < mounts->n; i++) {
        const struct mount_volume *m = &mounts->items[i];
        if (!named_share_of(r, m, c->vm_size, c->vm_priority, &n))
            continue;
        if (n.is_elsewhere && m->secret_ref) /* its key is read when the machine mounts it */
            continue;
        if (r->inner) /* from a seed, which may lack the keys of mounts */
            n.key = NULL;
        if (named_share_ask(r, &n, e) < 0 || shares_check_named(arm_of(r)->shares, &n, e) < 0)
            return -1;
    }
    return 0;
}

/* The text "share NAME of account NAME", or "container ...". */
static const char *told(struct arena *a, const struct share_name *n)
{
    return arena_concat(a, n->kind == SHARE_BLOBS ? "container " : "share ",
                        arena_lower(a, n->share), " of account ", arena_lower(a, n->account));
}

int make_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                      const char **made, struct err *e)
{
    struct share_name n;
    *made = NULL;
    for (size_t i = 0; i < mounts->n; i++) {
        if (!named_share_of(r, &mounts->items[i], c->vm_size, c->vm_priority, &n))
            continue;
        int rc = shares_make_named(arm_of(r)->shares, &n, r->who->object_id, r->now_us, e);
        if (rc < 0)
            return -1;
        if (rc > 0)
            *made = *made ? arena_concat(&r->arena, *made, ", ", told(&r->arena, &n))
                          : told(&r->arena, &n);
    }
    return 0;
}

int tell_made(struct request *r, const char *made, const char *noun, const char *name,
              const struct event *ev, struct err *e)
{
    if (!made)
        return 0;
    struct event told = *ev;
    told.at_us = r->now_us;
    told.from = ev->to;
    told.reason = arena_concat(&r->arena, "made ", made, ", because ", noun, " ", name, " names ",
                               strchr(made, ',') ? "them" : "it");
    LOG_INFO(r->config->log, "share.auto_created", LF_STR("resource_kind", noun),
             LF_STR("resource", name), LF_STR("why", told.reason));
    return st_event_add(arm_of(r)->storage, &told, e);
}
