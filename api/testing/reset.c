/* SPDX-License-Identifier: MIT
 *
 * Empties a subscription, a group or everything in one transaction. Groups are marked as deleted
 * and taken out of their subscription, so that all names in them are free. As after any deletion,
 * their resources are stopped and removed after the reply.
 */
#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"
#include "api/arm/errors.h"
#include "api/http/accept.h"
#include "api/testing/log.h"
#include "api/testing/routes.h"
#include "api/testing/seed/detach_group.h"
#include "api/testing/testing.h"
#include "model/schema_rows.h"
#include "scheduler/front/batchai/batchai.h"
#include "scheduler/scheduler.h"
#include "scheduler/wake/paced.h"
#include "storage/changes.h"
#include "storage/detachment.h"
#include "storage/storage.h"
#include "storage/usage.h"

#define GROUPS_AT_ONCE 100

struct reset {
    struct request *r;
    const char *subscription, *group; /* what is reset; NULL: everything */
    struct batchai_front *front;
    bool force;
    int groups; /* number of groups that were removed */
    struct detachment detachment;
};

static int empty_group(struct storage *st, struct reset *z, const struct resource_group *g,
                       struct err *e)
{
    int64_t busy;
    if (!z->force) {
        if (st_group_busy_machines(st, g->id, &busy, e) < 0)
            return -1;
        if (busy > 0)
            return err_set(e, ERR_CONFLICT, "force",
                           "%lld machines of the inventory have work of the resource group %s; "
                           "with \"force\": true it is ended.",
                           (long long)busy, g->name);
    }
    z->groups++;
    return z->group ? detach_group_alone(&z->detachment, g, e) : detach_group(&z->detachment, g, e);
}

static int empty_groups(struct storage *st, struct reset *z, const char *subscription,
                        struct err *e)
{
    struct resource_group_rows rows = {NULL, 1};
    while (rows.n > 0) { /* ends, because a detached group is not listed again */
        if (st_group_list(st, &z->r->arena, subscription,
                          &(struct st_page){.limit = GROUPS_AT_ONCE}, &rows, e) < 0)
            return -1;
        for (size_t i = 0; i < rows.n; i++)
            if (empty_group(st, z, &rows.items[i], e) < 0)
                return -1;
    }
    return 0;
}

static int empty_subscription(struct storage *st, struct reset *z, const char *subscription,
                              struct err *e)
{
    const char *scope = arena_concat(&z->r->arena, "/subscriptions/", subscription);
    return empty_groups(st, z, subscription, e) < 0 ||
                   detach_deleted(&z->detachment, subscription, NULL, e) < 0
               ? -1
               : st_roles_detach(st, scope, e);
}

static int empty_all(struct storage *st, struct reset *z, struct err *e)
{
    struct subscription *rows;
    size_t n;
    const struct access *x = testing_of(z->r)->arm.access;
    if (st_subscription_list(st, &z->r->arena, &rows, &n, e) < 0 ||
        empty_subscription(st, z, x->subscription_id, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (empty_subscription(st, z, rows[i].guid, e) < 0)
            return -1;
    return 0;
}

/* Removes the events of what is reset. */
static int forget_changes(struct storage *st, const struct reset *z, struct err *e)
{
    struct arena *a = &z->r->arena;
    const char *path = z->subscription ? arena_concat(a, "/subscriptions/", z->subscription) : NULL;
    if (z->group)
        path = arena_concat(a, path, "/resourceGroups/", z->group);
    return st_changes_forget(st, path, e);
}

static int empty_what_is_asked(struct storage *st, struct reset *z, struct err *e)
{
    struct resource_group g;
    if (!z->subscription)
        return empty_all(st, z, e);
    if (!z->group)
        return empty_subscription(st, z, z->subscription, e);
    int rc = st_group_get(st, &z->r->arena, z->subscription, z->group, &g, e);
    return rc > 0 ? empty_group(st, z, &g, e) : rc;
}

static int carry_out(struct storage *st, void *ctx, struct err *e)
{
    struct reset *z = ctx;
    return empty_what_is_asked(st, z, e) < 0 || forget_changes(st, z, e) < 0
               ? -1
               : st_usage_detach(st, z->subscription, z->group, e);
}

static const struct field reset_rows[] = {
    TEXT("subscription", INTO(reset, subscription)),
    TEXT("resourceGroup", INTO(reset, group)),
    BOOL("force", INTO(reset, force)),
};
static SCHEMA(reset_body, reset_rows, "Reset", FILLS(reset));

static int read_body(struct reset *z, struct err *e)
{
    struct subscription s;
    struct request *r = z->r;
    const struct access *x = testing_of(r)->arm.access;
    if (request_read_body(r, &reset_body, z, e) < 0)
        return -1;
    if (z->group && !z->subscription)
        z->subscription = x->subscription_id;
    if (!z->subscription)
        return 0;
    int rc = access_subscription(x, &r->arena, z->subscription, &s, e);
    if (rc == 0)
        return err_set(e, ARM_SUBSCRIPTION_NOT_FOUND, "subscription",
                       "The subscription '%.100s' could not be found.", z->subscription);
    z->subscription = s.guid;
    return rc < 0 ? -1 : 0;
}

/* Called after the reply: starts the removal of detached rows. Before it, the reply would wait for
 * the first slice of that work. */
static void on_over(void *ctx)
{
    const struct reset *z = ctx;
    batchai_wake_detachments(z->front);
}

void testing_forget(const void *ctx, const char *subscription)
{
    const struct testing *t = ctx;
    if (!t->key)
        return;
    testing_faults_clear(t->faults, subscription);
    testing_rules_clear(t->rules, subscription);
    unknown_forget(&t->log->unknown, subscription);
    if (testing_strict_clear(t->strict, subscription))
        wakes_pace_changed(sched_wakes(t->arm.sched));
}

/* Wakes work that nothing else would wake, such as that of nodes which are leaving already. */
static void wake_held(struct wakes *w)
{
    if (pace_is_on(wakes_pace(w), NULL))
        wakes_pace_changed(w);
}

/* Called when the transaction is on disk. If the disk is full, everything stays as before. */
static void on_disk(void *ctx, const struct err *why)
{
    struct reset *z = ctx;
    struct request *r = z->r;
    if (why) {
        detach_undo(&z->detachment);
        request_finish(r, reply_err(r, why));
        return;
    }
    if (!z->group)
        testing_forget(testing_of(r), z->subscription);
    wake_held(sched_wakes(testing_of(r)->arm.sched));
    request_keep(r, z, on_over);
    LOG_INFO(r->config->log, "testing.reset", LF_STR("subscription", z->subscription),
             LF_STR("group", z->group), LF_INT("groups", z->groups));
    request_finish(r, reply_json(r, 200, json_pack("{s:i}", "resourceGroups", z->groups)));
}

struct replied *testing_reset(struct request *r)
{
    struct err e;
    const struct testing *t = testing_of(r);
    struct reset *z = arena_alloc(&r->arena, sizeof *z);
    *z = (struct reset){.r = r, .front = t->arm.front};
    z->detachment = (struct detachment){.st = t->arm.storage,
                                        .a = &r->arena,
                                        .storage_dir = t->seed.storage_dir,
                                        .now_us = r->now_us};
    if (read_body(z, &e) < 0)
        return reply_err(r, &e);
    if (st_tx(t->arm.storage, "reset", carry_out, z, &e) < 0) {
        detach_undo(&z->detachment);
        return reply_err(r, &e);
    }
    st_when_durable(t->arm.storage, on_disk, z);
    return reply_later(r);
}
