/* SPDX-License-Identifier: MIT
 *
 * Users of nodes, who log in there. A machine whose agent is root has an account for each user. A
 * row says what the machine must still change (batch_user_gone, batch_node_user.pending) until the
 * machine has changed it, so nothing is lost with a link or with the daemon. A local node has no
 * accounts: the daemon lets its users in.
 *
 * The agent carries out requests about accounts in their order. So the requests for a node are sent
 * together, except that an account is made only when an earlier account of this name is gone.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/fleet/node/node.h"
#include "scheduler/front/batch/front_priv.h"

/* One reconcile for all users. */
static const struct wake_kind woken_users = {"batch node users", WAKE_LAST};

#define AT_ONCE 50
/* How long until a change on a silent or busy node, or a failed change, is tried again (us). */
#define AGAIN_US 10000000

/* --- rows ------------------------------------------------------------------------------------- */

static void changed(struct batch_front *f, int64_t node_id)
{
    fleet_node_users_changed(sched_fleet(f->sched), node_id);
    wake_durable(f->wakes, &woken_users, WAKE_ALL);
}

int batch_node_user_add(struct batch_front *f, const struct batch_node_user *u,
                        const char *password, struct err *e)
{
    struct batch_node_user made = *u;
    made.pending = 1;
    if (st_batch_user_insert(f->st, &made, password, e) < 0)
        return -1;
    changed(f, u->node_id);
    return 0;
}

int batch_node_user_change(struct batch_front *f, const struct batch_node_user *u,
                           const char *password, struct err *e)
{
    if (st_batch_user_update(f->st, u, password, e) < 0)
        return -1;
    changed(f, u->node_id);
    return 0;
}

static int remove_user(struct storage *st, const struct batch_node_user *u, struct err *e)
{
    return st_batch_user_goes(st, u->id, e) < 0 ? -1 : st_batch_user_remove(st, u->id, e);
}

int batch_node_user_remove(struct batch_front *f, const struct batch_node_user *u, struct err *e)
{
    if (remove_user(f->st, u, e) < 0)
        return -1;
    changed(f, u->node_id);
    return 0;
}

/* --- requests --------------------------------------------------------------------------------- */

struct user_request {
    struct batch_front *f;
    int64_t id, node_id; /* id: of a row of batch_node_user, or if `gone`, of batch_user_gone */
    bool gone;
    int pending; /* of the row when the request was sent */
};

static struct id_map *in_progress(const struct user_request *q)
{
    return q->gone ? &q->f->users_going : &q->f->users_coming;
}

/* Whether the request would be refused each time: the machine has such an account of its own, or
 * can have no account of this name. */
static bool is_final(const struct user_request *q, const struct err *why)
{
    return why->code == ERR_INVALID_PROPERTY || (why->code == ERR_CONFLICT && !q->gone);
}

static void log_refusal(const struct user_request *q, const struct err *why)
{
    const struct node_rt *rt = node_rt_find(sched_fleet(q->f->sched), q->node_id);
    if (rt && node_rt_usable(rt)) /* otherwise the link is down, and the request is sent again */
        LOG_WARN(q->f->log, "node.user_not_changed", LF_STR("node", node_rt_name(rt)),
                 LF_STR("why", why->msg));
}

static void write_done(const struct user_request *q)
{
    struct batch_front *f = q->f;
    const struct batch_node_user made = {.id = q->id, .pending = q->pending};
    struct err e = {0};
    int rc =
        q->gone ? st_batch_user_is_gone(f->st, q->id, &e) : st_batch_user_is_made(f->st, &made, &e);
    if (rc < 0)
        LOG_WARN(f->log, "batch_users.not_written", LF_STR("why", e.msg));
    wake_if_lost(f->wakes, &woken_users, WAKE_ALL);
}

static void on_answer(void *ctx, const struct err *why)
{
    struct user_request *q = ctx;
    struct batch_front *f = q->f;
    if (why && !wakes_stopping(f->wakes))
        log_refusal(q, why);
    if (!why || is_final(q, why))
        write_done(q);
    id_map_remove(in_progress(q), q->id);
    if (why)
        wake_by(f->wakes, &woken_users, WAKE_ALL, wakes_mono(f->wakes) + AGAIN_US);
    else
        wake(f->wakes, &woken_users, WAKE_ALL); /* more changes may have waited for this one */
    wakes_unref(f->wakes);
    free(q);
}

/* NULL: this request is in progress already. */
static struct user_request *begin_request(const struct user_request *as)
{
    if (id_map_has(in_progress(as), as->id))
        return NULL;
    struct user_request *q = xcalloc(1, sizeof *q);
    *q = *as;
    id_map_put(in_progress(q), q->id, NULL);
    wakes_ref(q->f->wakes);
    return q;
}

static void ask_to_remove(struct batch_front *f, struct node_rt *rt,
                          const struct batch_user_gone *u)
{
    const struct user_request as = {.f = f, .id = u->id, .node_id = u->node_id, .gone = true};
    struct user_request *q = begin_request(&as);
    if (q)
        node_ask(node_rt_link(rt), REQUEST(user_remove, .name = u->name), on_answer, q);
}

static int ask_to_make(struct batch_front *f, struct arena *a, struct node_rt *rt,
                       const struct batch_node_user *u, struct err *e)
{
    const struct user_request as = {
        .f = f, .id = u->id, .node_id = u->node_id, .pending = u->pending};
    struct admin_user_spec user = {.name = u->name, .ssh_public_key = u->ssh_key};
    if (st_batch_user_password(f->st, a, u->id, &user.password, e) < 0)
        return -1;
    struct user_request *q = begin_request(&as);
    if (q)
        node_ask(node_rt_link(rt), REQUEST_OF(user_add, node_user_of(&user)), on_answer, q);
    if (user.password)
        explicit_bzero((char *)(uintptr_t)user.password, strlen(user.password));
    return 0;
}

/* --- what each node must change --------------------------------------------------------------- */

struct user_changes {
    struct batch_user_gone *gone;
    struct batch_node_user *made;
    size_t n_gone, n_made;
};

static int read_changes(struct batch_front *f, struct arena *a, int64_t node_id,
                        struct user_changes *c, struct err *e)
{
    return st_batch_user_to_remove(f->st, a, node_id, &c->gone, &c->n_gone, e) < 0 ||
                   st_batch_user_to_make(f->st, a, node_id, &c->made, &c->n_made, e) < 0
               ? -1
               : 0;
}

/* The node has no accounts of users, so it lacks nothing. */
static int need_nothing(struct batch_front *f, const struct user_changes *c, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < c->n_gone; i++)
        rc = st_batch_user_is_gone(f->st, c->gone[i].id, e);
    for (size_t i = 0; rc == 0 && i < c->n_made; i++)
        rc = st_batch_user_is_made(f->st, &c->made[i], e);
    wake_if_lost(f->wakes, &woken_users, WAKE_ALL);
    return rc;
}

static int change_on(struct batch_front *f, struct arena *a, int64_t node_id, struct err *e)
{
    struct node_rt *rt = node_rt_find(sched_fleet(f->sched), node_id);
    struct user_changes c;
    if (read_changes(f, a, node_id, &c, e) < 0)
        return -1;
    if (rt && (node_rt_is_local(rt) || (node_rt_usable(rt) && !node_rt_is_root(rt))))
        return need_nothing(f, &c, e);
    if (!rt || !node_rt_may_change_users(rt)) {
        if (rt)
            node_rt_want_link(rt);
        wake_by(f->wakes, &woken_users, WAKE_ALL, wakes_mono(f->wakes) + AGAIN_US);
        return 0;
    }
    for (size_t i = 0; i < c.n_gone; i++)
        ask_to_remove(f, rt, &c.gone[i]);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < c.n_made; i++)
        rc = ask_to_make(f, a, rt, &c.made[i], e);
    return rc;
}

static int change_nodes(struct batch_front *f, struct arena *a, struct err *e)
{
    int64_t *nodes;
    size_t n;
    if (st_batch_user_nodes(f->st, a, &nodes, &n, e) < 0)
        return -1;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = change_on(f, a, nodes[i], e);
    return rc;
}

/* --- users whose time is up ------------------------------------------------------------------- */

struct user_ends {
    struct batch_front *f;
    bool any;
};

static int end_due(struct storage *st, void *ctx, struct err *e)
{
    struct user_ends *ends = ctx;
    struct batch_front *f = ends->f;
    struct arena a;
    struct batch_node_user *users;
    int64_t next = 0, now = wakes_steady_wall(f->wakes);
    size_t n;
    arena_init(&a);
    int rc = st_batch_user_expired(st, &a, now, AT_ONCE, &users, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = remove_user(st, &users[i], e);
        if (rc == 0)
            fleet_node_user_ended(sched_fleet(f->sched), users[i].node_id, users[i].name);
    }
    ends->any = rc == 0 && n > 0;
    if (rc == 0)
        rc = st_batch_user_next(st, now, &next, e);
    if (rc == 0 && next > 0)
        wake_by(f->wakes, &woken_users, WAKE_ALL, wakes_mono(f->wakes) + next - now);
    arena_free(&a);
    return rc;
}

static void reconcile(void *ctx, int64_t id)
{
    struct batch_front *f = ctx;
    struct user_ends ends = {.f = f};
    struct arena a;
    struct err e = {0};
    (void)id;
    arena_init(&a);
    int rc = st_tx(f->st, "end users of nodes", end_due, &ends, &e);
    if (rc == 0 && ends.any) /* what the nodes must change is not on disk yet */
        wake_durable(f->wakes, &woken_users, WAKE_ALL);
    else if (rc == 0)
        rc = change_nodes(f, &a, &e);
    if (rc < 0) {
        LOG_ERROR(f->log, "batch_users.not_read", LF_STR("why", e.msg));
        wake_by(f->wakes, &woken_users, WAKE_ALL, wakes_mono(f->wakes) + AGAIN_US);
    }
    arena_free(&a);
}

void node_users_begin(struct batch_front *f)
{
    wakes_handle(f->wakes, &woken_users, reconcile, f);
    wake(f->wakes, &woken_users, WAKE_ALL);
}
