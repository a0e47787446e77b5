/* SPDX-License-Identifier: MIT
 *
 * Writes the parts of a seed that are only rows. A small seed is one transaction. A large seed in
 * one transaction would keep all other requests waiting, so it is written in one transaction for
 * each turn of the event loop; the writes of a turn are on disk before the next turn begins.
 * Meanwhile no resource is reconciled, because half of a seed means something else than the whole
 * seed (before the next task is created, all tasks of its job may be completed; a schedule has no
 * job yet). Other requests are served meanwhile; their replies show the groups of the seed as
 * "creating".
 */
#include <assert.h>
#include <unistd.h>
#include <uv.h>

#include "api/access/access.h"
#include "api/testing/seed/applying.h"
#include "scheduler/scheduler.h"
#include "scheduler/wake/wake.h"
#include "storage/detachment.h"
#include "storage/folders/change.h"
#include "storage/seeding.h"
#include "storage/storage.h"

/* A seed of at most so many steps is one transaction; each step takes 0.1 to 0.2 ms. */
#define STEPS_AT_ONCE 64
/* Bytes that undoing one step writes, and bytes that undoing writes for any number of steps: see
 * keep_room(). */
#define ROOM_OF_A_STEP 1536
#define ROOM           (1024 * 1024)
/* The longest work in one turn. */
#define SLICE_NS (5 * 1000 * 1000)

/* The functions that handle the members that are not part of a request's body, by kind. */
static const struct seed_ends seed_ends[SEED_KINDS] = {
    [SEED_GROUP] = {.last = seed_group_last},
    [SEED_JOB] = {.then = seed_job_then},
    [SEED_ACCOUNT] = {.then = seed_account_then},
    [SEED_VAULT] = {.last = seed_vault_last},
    [SEED_SECRET] = {.then = seed_secret_then},
    [SEED_BATCH_ACCOUNT] = {.then = seed_batch_account_then},
    [SEED_APPLICATION] = {.last = seed_application_last},
    [SEED_PACKAGE] = {.then = seed_package_then},
    [SEED_BATCH_SCHEDULE] = {.last = seed_schedule_last},
    [SEED_BATCH_JOB] = {.then = seed_batch_job_then, .last = seed_batch_job_last},
    [SEED_BATCH_TASK] = {.then = seed_batch_task_then},
};

/* Gets the group of a step; 0: there is no such group. If another client has meanwhile created a
 * group of the same name, that is another group. */
static int get_group(const struct applying *p, const struct seed_step *s, struct resource_group *g,
                     struct err *e)
{
    int rc = st_group_get(p->seed->arm.storage, &p->r->arena, s->subscription, s->name, g, e);
    return rc > 0 && s->id && s->id != g->id ? 0 : rc;
}

/* --- before a step ---------------------------------------------------------------------------- */

static int check_new_group(struct applying *p, const struct seed_step *s)
{
    struct resource_group g;
    int rc = get_group(p, s, &g, &p->why);
    if (rc > 0)
        err_set(&p->why, ERR_CONFLICT, NULL,
                "There is a resource group %s already; a seed makes new ones only, so reset it "
                "first.",
                s->name);
    return rc == 0 ? 0 : applying_fails(p, s);
}

static int check_subscription(struct applying *p, const struct seed_step *s)
{
    const struct access *x = p->seed->arm.access;
    struct subscription found;
    int rc = access_subscription(x, &p->r->arena, s->subscription, &found, &p->why);
    if (rc != 0)
        return rc < 0 ? applying_fails(p, s) : 0;
    return seed_subscription_make(p->seed->arm.storage, arena_lower(&p->r->arena, s->subscription),
                                  x->first_id, p->r->now_us, &p->why) < 0
               ? applying_fails(p, s)
               : 0;
}

/* The name of a role assignment is a GUID that no other assignment has. */
static int name_role(struct applying *p, struct seed_step *s)
{
    struct role_assignment there;
    char guid[GUID_SIZE];
    int rc = guid_valid(s->name) ? st_role_assignment_get(p->seed->arm.storage, &p->r->arena,
                                                          s->name, &there, &p->why)
                                 : 1;
    if (rc > 0) {
        request_guid(p->r, guid);
        s->name = arena_strdup(&p->r->arena, guid);
    }
    return rc < 0 || seed_role_check(&p->r->arena, s, &p->why) < 0 ? applying_fails(p, s) : 0;
}

static int before(struct applying *p, struct seed_step *s)
{
    if (seed_is_role(s) && name_role(p, s) < 0)
        return -1;
    if (s->above)
        return 0;
    if (check_subscription(p, s) < 0)
        return -1;
    p->groups += is_kind(s, SEED_GROUP);
    return is_kind(s, SEED_GROUP) ? check_new_group(p, s) : 0;
}

static int gone(struct applying *p, const struct seed_step *s)
{
    err_set(&p->why, ERR_CONFLICT, NULL, "The group was deleted while it was seeded.");
    return applying_fails(p, s);
}

/* Checks that the group still exists and is "creating": since the last step other requests ran, or
 * the last step belonged to another group. */
static int check_group_again(struct applying *p, const struct seed_step *s)
{
    struct resource_group g;
    const struct seed_step *group = seed_step_in(s, SEED_GROUP);
    if (!group || !group->id || group == p->group)
        return 0;
    p->group = group;
    int rc = get_group(p, group, &g, &p->why);
    if (rc < 0)
        return applying_fails(p, s);
    return rc > 0 && g.prov_state == PROV_CREATING ? 0 : gone(p, s);
}

/* --- a step ----------------------------------------------------------------------------------- */

static void on_answered(void *ctx, struct request *inner)
{
    (void)ctx, (void)inner;
}

static int ask(struct applying *p, const struct seed_step *s, const json_t *given)
{
    struct arena a;
    arena_init(&a);
    struct request *one = applying_request(p, &a, s, given);
    request_inner_go(one, on_answered, NULL);
    assert(one->finished); /* it writes rows only, so it does not wait */
    int rc = one->status >= 400 ? applying_refused(p, s, one) : 0;
    request_inner_end(one);
    arena_free(&a);
    return rc;
}

/* Carries out one step. For a secret it creates the older versions first. */
static int carry_out(struct applying *p, const struct seed_step *s)
{
    seed_then *const then = seed_ends[s->kind - seed_kinds].then;
    const char *version;
    json_t *older;
    if (s->kind == &seed_kinds[SEED_SECRET])
        json_object_foreach(json_object_get(s->given, "versions"), version, older)
            if (ask(p, s, older) < 0)
                return -1;
    if (!s->kind->unasked && !seed_is_manager(s) && ask(p, s, s->given) < 0)
        return -1;
    return then && then(p->seed, p->r, s, &p->why) < 0 ? applying_fails(p, s) : 0;
}

static int ends(struct applying *p, const struct seed_step *s)
{
    seed_then *const last = seed_ends[s->kind - seed_kinds].last;
    return last && last(p->seed, p->r, s, &p->why) < 0 ? applying_fails(p, s) : 0;
}

/* --- the end -----------------------------------------------------------------------------------
 */

/* Writes the remaining rows after the folders are filled: notes of files, and roles of
 * subscriptions. Roles are written this late so that nobody has access earlier. Also ends groups
 * and subscriptions. */
int rows_complete(struct applying *p)
{
    struct storage *st = p->seed->arm.storage;
    struct resource_group g;
    for (size_t i = 0; i < p->n_fill; i++)
        if (seed_notes_write(st, &p->r->arena, &p->fill[i], p->r->now_us, &p->why) < 0)
            return applying_fails(p, p->fill[i].step);
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct seed_step *s = &p->steps.items[i];
        if (is_kind(s, SEED_SUBSCRIPTION_ROLE) && carry_out(p, s) < 0)
            return -1;
        if (!s->above &&
            seed_subscription_settle(st, &p->r->arena, s->subscription, true, &p->why) < 0)
            return applying_fails(p, s);
        if (!is_kind(s, SEED_GROUP))
            continue;
        int rc = get_group(p, s, &g, &p->why);
        if (rc == 0)
            return gone(p, s);
        if (rc > 0 && p->late)
            rc = st_group_made(st, g.id, &p->why);
        if (rc < 0 || ends(p, s) < 0)
            return applying_fails(p, s);
    }
    return 0;
}

static int begin_group(struct applying *p, struct seed_step *s)
{
    struct resource_group g;
    if (!p->late)
        return 0;
    if (get_group(p, s, &g, &p->why) <= 0 ||
        st_group_making(p->seed->arm.storage, g.id, &p->why) < 0)
        return applying_fails(p, s);
    s->id = g.id;
    return 0;
}

/* --- all steps ---------------------------------------------------------------------------------
 */

static int make(struct applying *p, struct seed_step *s)
{
    if (check_group_again(p, s) < 0 || before(p, s) < 0)
        return -1;
    if (s->kind->late || is_kind(s, SEED_SUBSCRIPTION_ROLE))
        return 0;
    if (carry_out(p, s) < 0)
        return -1;
    return is_kind(s, SEED_GROUP) ? begin_group(p, s) : 0;
}

/* Takes one step: `at` counts from the first step to the last, then back to the first, so a step
 * ends after the steps inside it. Groups end last, in rows_complete(). */
static int take(struct applying *p, size_t at)
{
    size_t n = p->steps.n;
    if (at < n)
        return make(p, &p->steps.items[at]);
    const struct seed_step *s = &p->steps.items[2 * n - 1 - at];
    if (check_group_again(p, s) < 0)
        return -1;
    return is_kind(s, SEED_GROUP) ? 0 : ends(p, s);
}

/* Refuses the seed before anything is written if one of its groups exists already. */
static int check_new_groups(struct applying *p)
{
    for (size_t i = 0; i < p->steps.n; i++)
        if (is_kind(&p->steps.items[i], SEED_GROUP) && check_new_group(p, &p->steps.items[i]) < 0)
            return -1;
    return 0;
}

static bool all_taken(const struct applying *p)
{
    return p->at == 2 * p->steps.n;
}

/* Takes as many steps as fit into one turn of the loop; if a step fails, the transaction undoes
 * them all. */
static int take_some(struct applying *p)
{
    uint64_t until_ns = uv_hrtime() + SLICE_NS;
    p->group = NULL;
    if (p->at == 0 && st_last_vault(p->seed->arm.storage, &p->vaults_before, &p->why) < 0)
        return -1;
    if (p->sliced && p->at == 0 && check_new_groups(p) < 0)
        return -1;
    while (!all_taken(p)) {
        if (take(p, p->at) < 0)
            return -1;
        p->at++;
        if (p->sliced && uv_hrtime() >= until_ns)
            break;
    }
    return all_taken(p) && !p->late ? rows_complete(p) : 0;
}

static int write_part(struct applying *p)
{
    if (applying_write(p, "seed", take_some) < 0)
        return -1;
    p->written = true;
    return 0;
}

/* Keeps room in the database for undoing the seed. Undoing writes to the write-ahead log. The log
 * grows with the rows, and later its contents must fit into the database file. A database in memory
 * has no log. */
static int keep_room(struct applying *p)
{
    int64_t bytes = ROOM;
    if (files_sync(p->seed->files))
        bytes += (int64_t)p->steps.n * ROOM_OF_A_STEP + 2 * (int64_t)p->r->raw.len;
    if (st_room_keep(p->seed->arm.storage, bytes, &p->room, &p->why) == 0)
        return 0;
    p->nowhere = true;
    return -1;
}

static void over(struct applying *p)
{
    if (p->room >= 0)
        close(p->room);
    p->room = -1;
    wakes_go_on(sched_wakes(p->seed->arm.sched));
    p->made(p);
}

static void turn(struct request *r, void *ctx);

/* Called after the commit of a turn. If the commit failed, the database has undone everything that
 * the turn wrote. */
static void on_durable(void *ctx, const struct err *why)
{
    struct applying *p = ctx;
    if (why) {
        p->why = *why;
        p->nowhere = true;
    }
    request_again(p->r, turn, p);
}

/* One turn of a seed that is too large for a single turn. */
static void turn(struct request *r, void *ctx)
{
    struct applying *p = ctx;
    if (request_is_hurried(r) && p->why.code == ERR_NONE)
        applying_stops(p);
    if (p->why.code != ERR_NONE || all_taken(p) || write_part(p) < 0)
        over(p);
    else
        st_when_durable(p->seed->arm.storage, on_durable, p);
}

void rows_make(struct applying *p, void (*made)(struct applying *p))
{
    p->made = made;
    p->sliced = p->steps.n > STEPS_AT_ONCE;
    p->late = p->late || p->sliced;
    p->room = -1;
    if (p->sliced && keep_room(p) < 0) {
        made(p);
        return;
    }
    if (p->sliced) {
        wakes_hold(sched_wakes(p->seed->arm.sched));
        request_again(p->r, turn, p);
        return;
    }
    (void)write_part(p); /* after an error p->why is set */
    made(p);
}

/* --- undone ----------------------------------------------------------------------------------- */

/* Removes the group of a step; if the group is gone, removes the vaults that were deleted in it. */
static int undo_group(struct applying *p, const struct seed_step *s, struct err *e)
{
    struct resource_group g;
    int rc = st_group_get(p->seed->arm.storage, &p->r->arena, s->subscription, s->name, &g, e);
    if (rc > 0)
        return g.id == s->id && g.prov_state == PROV_CREATING
                   ? detach_group_alone(&p->detachment, &g, e)
                   : 0;
    return rc < 0 ? -1 : detach_deleted(&p->detachment, s->subscription, s->name, e);
}

int rows_undo(struct applying *p, struct err *e)
{
    struct storage *st = p->seed->arm.storage;
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct seed_step *s = &p->steps.items[i];
        if (is_kind(s, SEED_GROUP) && s->id && undo_group(p, s, e) < 0)
            return -1;
    }
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct seed_step *s = &p->steps.items[i];
        if (!s->above && seed_subscription_settle(st, &p->r->arena, s->subscription, false, e) < 0)
            return -1;
    }
    return 0;
}
