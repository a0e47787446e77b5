/* SPDX-License-Identifier: MIT
 *
 * Starts and stops the scheduler, runs the woken reconcilers, and answers small queries of api/.
 */
#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include "model/capacity.h"
#include "model/vm_size.h"
#include "scheduler/unplaceable.h"

/* --- reports of fleet and runs --- */

static void on_pool_changed(void *ctx, int64_t pool_id)
{
    struct sched *s = ctx;
    wake(s->wakes, &woken_pool, pool_id);
}

static void on_capacity_freed(void *ctx, bool rolled_back)
{
    struct sched *s = ctx;
    if (!rolled_back)
        wake_short_pools(s);
    for (size_t i = 0; rolled_back && i < s->short_pools.n; i++)
        wake_at(s->wakes, &woken_pool, s->short_pools.e[i].id,
                wakes_mono(s->wakes) + WRITE_AGAIN_US);
}

static void on_deletion_goes_on(void *ctx)
{
    const struct sched *s = ctx;
    for (struct front *const *f = s->fronts.all; *f; f++)
        if ((*f)->ops->may_remove)
            (*f)->ops->may_remove(*f);
}

static void on_run_hit(void *ctx, int64_t run_id)
{
    const struct sched *s = ctx;
    wake_durable(s->wakes, &woken_run, run_id);
}

static const struct fleet_events fleet_events = {
    .pool_changed = on_pool_changed,
    .capacity_freed = on_capacity_freed,
    .run_hit = on_run_hit,
    .deletion_goes_on = on_deletion_goes_on,
};
static const struct runs_events runs_events = {
    .run_over = on_pool_changed,
    .deletion_goes_on = on_deletion_goes_on,
};

/* --- start and end --- */

static char **copy_list(const char *const *list, size_t n)
{
    char **copy = xcalloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = xstrdup(list[i]);
    return copy;
}

static size_t count_list(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

static void free_list(char **list)
{
    for (size_t i = 0; list[i]; i++)
        free(list[i]);
    free(list);
}

static void create_rooms(struct sched *s, const struct sched_config *c)
{
    const struct fleet_config fc = {.loop = c->loop,
                                    .wakes = s->wakes,
                                    .storage = c->storage,
                                    .files = c->files,
                                    .transfers = c->transfers,
                                    .login_lane = c->login_lane,
                                    .shares = c->shares,
                                    .shares_address = c->shares_address,
                                    .log = c->log,
                                    .local = c->local,
                                    .machines = c->machines,
                                    .scripted = c->scripted,
                                    .scripted_sizes = c->scripted_sizes,
                                    .nodes_dir = c->nodes_dir,
                                    .storage_dir = c->storage_dir,
                                    .local_nodes = c->local_nodes,
                                    .local_vm_sizes = c->local_vm_sizes,
                                    .mount_timeout_s = c->mount_timeout_s,
                                    .kill_timeout_s = c->kill_timeout_s,
                                    .sample_every_s = c->sample_every_s,
                                    .samples = c->samples,
                                    .site = c->site,
                                    .fronts = &s->fronts,
                                    .events = &fleet_events,
                                    .events_ctx = s};
    s->fleet = fleet_create(&fc);
    const struct runs_config rc = {.fleet = s->fleet,
                                   .wakes = s->wakes,
                                   .storage = c->storage,
                                   .log = c->log,
                                   .kept_outputs = c->kept_outputs,
                                   .fronts = &s->fronts,
                                   .events = &runs_events,
                                   .events_ctx = s};
    s->runs = runs_create(&rc);
}

struct sched *sched_create(const struct sched_config *c)
{
    const struct wakes_config wc = {.loop = c->loop, .storage = c->storage, .log = c->log};
    struct sched *s = xcalloc(1, sizeof *s);
    s->wakes = wakes_create(&wc);
    s->st = c->storage;
    s->log = c->log;
    s->fronts = c->fronts;
    s->gate = c->gate;
    s->local_nodes = c->local_nodes;
    s->local_vm_sizes = copy_list(c->local_vm_sizes, count_list(c->local_vm_sizes));
    s->backfill = copy_list(c->backfill, c->n_backfill);
    s->autoscale_idle_us = (int64_t)c->autoscale_idle_s * 1000000;
    s->keep = c->keep;
    create_rooms(s, c);
    wakes_handle(s->wakes, &woken_pool, pool_reconcile, s);
    wakes_handle_refused(s->wakes, &woken_pool, pool_refused);
    return s;
}

int sched_change(struct sched *s, const struct sched_settings *c, struct err *e)
{
    if (fleet_use_site(s->fleet, c->site, e) != 0)
        return -1;
    char **backfill = s->backfill;
    s->backfill = copy_list(c->backfill, c->n_backfill);
    free_list(backfill);
    s->autoscale_idle_us = (int64_t)c->autoscale_idle_s * 1000000;
    runs_keep_outputs(s->runs, c->kept_outputs);
    keep_change(s, &c->keep);
    return 0;
}

static void on_stopped(void *ctx)
{
    struct sched *s = ctx;
    void (*stopped)(void *) = s->stopped;
    void *stopped_ctx = s->stopped_ctx;
    for (struct front *const *f = s->fronts.all; s->begun && *f; f++)
        if ((*f)->ops->end)
            (*f)->ops->end(*f);
    runs_free(s->runs);
    fleet_free(s->fleet);
    wakes_free(s->wakes);
    id_map_free(&s->short_pools);
    id_map_free(&s->told_sizes);
    id_map_free(&s->told_blocked);
    id_map_free(&s->told_parts);
    id_map_free(&s->told_larger);
    id_map_free(&s->resting);
    id_map_free(&s->retrying);
    id_map_free(&s->judged);
    free_list(s->local_vm_sizes);
    free_list(s->backfill);
    free(s);
    stopped(stopped_ctx);
}

/* Runs are freed after the links, because closing a link answers its pending requests. */
void sched_stop(struct sched *s, void (*cb)(void *ctx), void *ctx)
{
    assert(!s->stopped);
    s->stopped = cb;
    s->stopped_ctx = ctx;
    wakes_stop(s->wakes, on_stopped, s);
    fleet_close_links(s->fleet);
    runs_stop(s->runs);
    fleet_forget_nodes(s->fleet);
}

int sched_start(struct sched *s, struct err *e)
{
    assert(!s->begun);
    s->begun = true;
    keep_own(s);
    for (struct front *const *f = s->fronts.all; *f; f++)
        if ((*f)->ops->begin)
            (*f)->ops->begin(*f, s);
    if (fleet_start(s->fleet, e) != 0 || runs_start(s->runs, e) != 0 ||
        wake_listed(s->wakes, &woken_pool, st_pool_ids, e) != 0)
        return err_prefix(e, "starting the scheduler");
    wake_arm(s->wakes);
    return 0;
}

void sched_turn(struct sched *s)
{
    wakes_turn(s->wakes);
}

struct fleet *sched_fleet(const struct sched *s)
{
    return s->fleet;
}

struct runs *sched_runs(const struct sched *s)
{
    return s->runs;
}

struct wakes *sched_wakes(const struct sched *s)
{
    return s->wakes;
}

void sched_wake_pool(struct sched *s, int64_t pool_id)
{
    wake(s->wakes, &woken_pool, pool_id);
}

int sched_pool_cleared(struct sched *s, struct arena *a, int64_t pool_id, bool *cleared,
                       struct err *e)
{
    struct run *runs;
    size_t n;
    if (st_run_waiting(s->st, a, pool_id, 1, &runs, &n, e) != 0)
        return -1;
    *cleared = n == 0;
    return 0;
}

void sched_gate_opened(struct sched *s)
{
    wake_short_pools(s);
}

void sched_row_gone(struct sched *s)
{
    on_deletion_goes_on(s);
}

void sched_marked(struct sched *s)
{
    for (struct front *const *f = s->fronts.all; *f; f++)
        if ((*f)->ops->marked)
            (*f)->ops->marked(*f);
}

/* --- small answers -------------------------------------------------------------------------- */

/* How many nodes of this kind a pool can ever have; 0 if the size is not served here. */
static int capacity(const struct sched *s, const char *vm_size, enum vm_priority priority,
                    bool *on_machines)
{
    int serving, free_now;
    *on_machines = false;
    if (fleet_is_scripted(s->fleet, vm_size))
        return SCRIPTED_NODES_MAX;
    machines_count(s->fleet, vm_size, priority, &serving, &free_now);
    *on_machines = serving > 0;
    if (serving > 0)
        return serving;
    const char *const *sizes = (const char *const *)s->local_vm_sizes;
    return !sizes[0] || fleet_is_size_of(sizes, vm_size) ? s->local_nodes : 0;
}

bool sched_is_local(const struct sched *s, const char *vm_size, enum vm_priority priority)
{
    bool on_machines;
    return capacity(s, vm_size, priority, &on_machines) > 0 && !on_machines;
}

bool sched_mounts_own(const struct sched *s, const char *vm_size, enum vm_priority priority,
                      const struct mount_volume *m)
{
    return sched_is_local(s, vm_size, priority) || !fleet_has_mount_rule(s->fleet, m);
}

bool sched_is_for_all(const struct sched *s, const char *vm_size, enum vm_priority priority)
{
    const struct site *site = fleet_site(s->fleet);
    return !site || !site->first_alone || fleet_is_scripted(s->fleet, vm_size) ||
           !sched_is_local(s, vm_size, priority);
}

bool sched_serves_any_size(const struct sched *s, const char *vm_size, enum vm_priority priority)
{
    return !fleet_is_scripted(s->fleet, vm_size) && !s->local_vm_sizes[0] &&
           sched_is_local(s, vm_size, priority) && !vm_size_is_published(vm_size);
}

static int refuse_size(const struct sched *s, const struct front_words *w, const char *vm_size,
                       enum vm_priority priority, struct err *e)
{
    struct arena a;
    arena_init(&a);
    err_set(e, ERR_INVALID_PROPERTY, w->size_path,
            "%s %.100s is not served here with %s %s; the sizes served are: %s", w->size, vm_size,
            w->priority, enum_to_name(vm_priority_names, (int)priority),
            fleet_sizes(s->fleet, &a, priority));
    arena_free(&a);
    return -1;
}

int sched_check_scale(const struct sched *s, enum resource_kind kind, const char *vm_size,
                      enum vm_priority priority, const struct scale *scale, struct err *e)
{
    const struct front_words *w = front_of(&s->fronts, kind)->words;
    bool on_machines;
    int most = capacity(s, vm_size, priority, &on_machines);
    if (most == 0)
        return refuse_size(s, w, vm_size, priority, e);
    bool automatic = scale->kind == SCALE_AUTO;
    int want = automatic ? scale->maximum : scale->target;
    if (on_machines || want <= most)
        return 0;
    return err_set(e, ERR_QUOTA, automatic ? w->maximum_path : w->target_path,
                   "%d nodes of size %s are more than there can ever be here: the limit is %d",
                   want, vm_size, most);
}

int sched_most_nodes(const struct sched *s, const char *vm_size, enum vm_priority priority,
                     const struct scale *scale)
{
    bool on_machines;
    int most = capacity(s, vm_size, priority, &on_machines);
    bool automatic = scale->kind == SCALE_AUTO;
    int wish = automatic ? scale->maximum : scale->target;
    if (on_machines)
        return automatic || wish > most ? wish : most;
    return automatic && wish < most ? wish : most;
}

bool sched_part_fits(const struct sched *s, struct arena *a, const char *vm_size,
                     enum vm_priority priority, const struct capacity *need, const char **most)
{
    struct capacity largest;
    if (fleet_part_fits(s->fleet, vm_size, priority, need, &largest))
        return true;
    *most = capacity_text(a, &largest);
    return false;
}
