/* SPDX-License-Identifier: MIT
 *
 * The link to a node: opens it, handles its loss, decides when to try again.
 *
 *   CONNECTION_NONE --open--> CONNECTION_OPENING --hello--> CONNECTION_READY
 *       ^                    | down                 | down, or no longer wanted
 *       +----closed---- CONNECTION_CLOSING <--------------+
 *
 * A lost link is opened again after growing pauses; tasks on the node continue meanwhile. Links of
 * machines take turns: at most site.connect_limit connect at once, and the others wait in order of
 * arrival. After a failure that needs a person (a changed host key, a refused login) the node is
 * given up at once, and tried again rarely.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/fleet/node/node_priv.h"

/* Local nodes: pause before the n-th reopening, in ms: about 4 s in all, enough for a killed agent,
 * or a machine that has no free processes for a moment. */
static const int pauses_ms[] = {0, 0, 50, 100, 200, 500, 1000, 2000};
#define LOSSES_MAX ((int)(sizeof pauses_ms / sizeof pauses_ms[0]))
/* If the agent hangs, each try is slow, so there are fewer tries: the node is given up at the first
 * loss that comes this long (us) after the first loss of the series. */
#define LOCAL_LOST_US 60000000
/* The period of tries (us) of a node that was given up. */
#define LOCAL_AGAIN_US 30000000

/* Machines: the pause doubles with each loss, between these limits (us). */
#define PAUSE_MIN_US     500000
#define PAUSE_MAX_US     30000000
#define REFUSED_US       300000000
#define PREPARING_LOSSES 3

/* After a link that lived this long (us), earlier losses are forgotten. The silence of an agent or
 * a machine that hangs does not count. */
#define GOOD_LINK_US 2000000

/* The edges of the picture above. */
static const bool steps[][CONNECTION_CLOSING + 1] = {
    [CONNECTION_NONE] = {[CONNECTION_OPENING] = true},
    [CONNECTION_OPENING] = {[CONNECTION_READY] = true, [CONNECTION_CLOSING] = true},
    [CONNECTION_READY] = {[CONNECTION_CLOSING] = true},
    [CONNECTION_CLOSING] = {[CONNECTION_NONE] = true},
};
static_assert(sizeof steps / sizeof steps[0] == CONNECTION_CLOSING + 1, "a row a state");

static void go(struct node_rt *rt, enum connection_state to)
{
    assert(steps[rt->contact.state][to]);
    rt->contact.state = to;
}

void node_check(const struct node_rt *rt)
{
    const struct node_contact *c = &rt->contact;
    assert((c->state == CONNECTION_NONE) == !c->link);
    assert(!c->greeted || c->state == CONNECTION_READY);
    assert(!rt->turn.waits || c->state == CONNECTION_NONE);
    assert(!rt->turn.connecting || c->state == CONNECTION_OPENING ||
           c->state == CONNECTION_CLOSING);
    assert((!rt->prep && !rt->unknown && !rt->beside.last) || c->state == CONNECTION_READY);
    assert(!rt->release || rt->machine);
    assert(!rt->login || !rt->machine);
}

/* --- turns ---------------------------------------------------------------------------------- */

static int free_turns(const struct fleet *fl)
{
    return fl->cfg.site->connect_limit - fl->turns.connecting;
}

static void turn_wait(struct node_rt *rt)
{
    struct fleet *fl = rt->fleet;
    rt->turn.waits = true;
    rt->turn.next = NULL;
    rt->turn.prev = fl->turns.last;
    *(fl->turns.last ? &fl->turns.last->turn.next : &fl->turns.first) = rt;
    fl->turns.last = rt;
}

static void turn_unlink(struct node_rt *rt)
{
    struct fleet *fl = rt->fleet;
    *(rt->turn.prev ? &rt->turn.prev->turn.next : &fl->turns.first) = rt->turn.next;
    *(rt->turn.next ? &rt->turn.next->turn.prev : &fl->turns.last) = rt->turn.prev;
    rt->turn.prev = rt->turn.next = NULL;
    rt->turn.waits = false;
}

static void wake_next(struct fleet *fl)
{
    int n = fl->turns.first ? free_turns(fl) : 0;
    for (struct node_rt *rt = fl->turns.first; rt && n > 0; rt = rt->turn.next, n--)
        wake(fl->wakes, &woken_node, rt->id);
}

static void turn_give_up(struct node_rt *rt)
{
    if (!rt->turn.waits)
        return;
    turn_unlink(rt);
    wake_next(rt->fleet);
}

/* True: the node may connect now. False: the node is woken when it may connect. */
static bool turn_take(struct node_rt *rt)
{
    struct fleet *fl = rt->fleet;
    if (!rt->machine)
        return true;
    if (!rt->turn.waits)
        turn_wait(rt);
    int n = free_turns(fl);
    for (struct node_rt *at = fl->turns.first; at && n > 0; at = at->turn.next, n--) {
        if (at != rt)
            continue;
        turn_unlink(rt);
        return true;
    }
    return false;
}

static void connecting_begins(struct node_rt *rt)
{
    if (!rt->machine)
        return;
    rt->turn.connecting = true;
    rt->fleet->turns.connecting++;
}

static void connecting_ends(struct node_rt *rt)
{
    if (!rt->turn.connecting)
        return;
    rt->turn.connecting = false;
    rt->fleet->turns.connecting--;
    wake_next(rt->fleet);
}

/* --- losing it ------------------------------------------------------------------------------ */

static int64_t local_pause(const struct node_rt *rt)
{
    if (rt->noted.heals)
        return LOCAL_AGAIN_US;
    return rt->contact.failures < LOSSES_MAX ? pauses_ms[rt->contact.failures] * 1000LL : 0;
}

static int64_t pause_after(const struct node_rt *rt)
{
    if (!rt->machine)
        return local_pause(rt);
    if (rt->contact.refused)
        return wakes_jitter(rt->fleet->wakes, REFUSED_US);
    int64_t us = PAUSE_MIN_US;
    for (int i = 1; i < rt->contact.failures && us < PAUSE_MAX_US; i++)
        us *= 2;
    return wakes_jitter(rt->fleet->wakes, us < PAUSE_MAX_US ? us : PAUSE_MAX_US);
}

/* Logs only the first loss in a series, not each try. */
static void log_loss(const struct node_rt *rt, const char *why)
{
    bool known = rt->machine && rt->contact.failures > 1 && rt->contact.why_down &&
                 !strcmp(rt->contact.why_down, why);
    LOG_AT(rt->fleet->log, known ? LOG_LVL_DEBUG : LOG_LVL_WARN, "node.link_lost",
           LF_STR("node", rt->name), LF_STR("machine", rt->machine ? rt->machine->name : NULL),
           LF_INT("failures", rt->contact.failures), LF_STR("why", why));
}

static bool is_good(const struct node_contact *c, int64_t now)
{
    return c->ready_us != 0 && now - c->ready_us >= GOOD_LINK_US;
}

/* `silent_us`: since when the node was silent (monotonic); 0: it was not. */
static void note_loss(struct node_rt *rt, const char *why, bool refused, int64_t silent_us)
{
    int64_t now = wakes_mono(rt->fleet->wakes);
    bool good = is_good(&rt->contact, silent_us ? silent_us : now);
    rt->contact.failures = good ? 1 : rt->contact.failures + 1;
    if (good || rt->contact.lost_us == 0)
        rt->contact.lost_us = now;
    rt->contact.losing_us = now - rt->contact.lost_us;
    rt->contact.refused = refused && rt->machine;
    rt->contact.ready_us = 0;
    rt->contact.retry_us = now + pause_after(rt);
    log_loss(rt, why);
    node_set_text(&rt->contact.why_down, why);
    if (rt->machine)
        machine_trouble(rt->fleet, rt->machine, why);
}

/* Uses the same limits for the number of losses and their time as node_connect_hopeless(). */
bool node_rt_nearly_lost(const struct node_rt *rt)
{
    const struct node_contact *c = &rt->contact;
    int64_t now = wakes_mono(rt->fleet->wakes);
    if (rt->machine)
        return false;
    bool late = c->failures > 0 && !is_good(c, now) && now - c->lost_us >= LOCAL_LOST_US;
    return late || c->failures + 1 >= LOSSES_MAX;
}

bool node_connect_hopeless(struct node_rt *rt, bool preparing)
{
    if (!rt->machine)
        return rt->contact.state == CONNECTION_NONE &&
               (rt->contact.failures >= LOSSES_MAX || rt->contact.losing_us >= LOCAL_LOST_US);
    if (rt->contact.state == CONNECTION_READY || rt->contact.lost_us == 0)
        return false;
    if (rt->contact.refused || (preparing && rt->contact.failures >= PREPARING_LOSSES))
        return true;
    int64_t until = rt->contact.lost_us + rt->fleet->cfg.site->unusable_after_s * 1000000LL;
    if (wakes_mono(rt->fleet->wakes) >= until)
        return true;
    wake_by(rt->fleet->wakes, &woken_node, rt->id, until);
    return false;
}

void node_connect_pause(struct node_rt *rt)
{
    rt->contact.failures = 0;
    rt->contact.lost_us = rt->contact.losing_us = 0;
    rt->contact.retry_us = wakes_mono(rt->fleet->wakes) + LOCAL_AGAIN_US;
}

void node_connect_forgive(struct node_rt *rt)
{
    rt->contact.failures = 0;
    rt->contact.lost_us = rt->contact.losing_us = rt->contact.retry_us = 0;
    rt->contact.refused = false;
}

/* --- callbacks of the link ------------------------------------------------------------------ */

static char *incarnation_text(const struct node_facts *f)
{
    struct arena a;
    arena_init(&a);
    char *text = xstrdup(arena_printf(&a, "%s@%s", f->incarnation ? f->incarnation : "",
                                      f->boot_id ? f->boot_id : ""));
    arena_free(&a);
    return text;
}

enum node_likeness node_compare(const char *row, const char *now)
{
    size_t root = strcspn(now, "@");
    if (strncmp(row, now, root) != 0 || (row[root] != '@' && row[root] != '\0'))
        return NODE_REPLACED;
    return row[root] == '\0' || strcmp(row + root, now + root) == 0 ? NODE_SAME : NODE_REBOOTED;
}

static void on_ready(void *ctx, const struct node_facts *said)
{
    struct node_rt *rt = ctx;
    struct node_facts facts = *said;
    struct arena a;
    arena_init(&a);
    rt->fleet->counts.ready++;
    go(rt, CONNECTION_READY);
    rt->contact.ready_us = wakes_mono(rt->fleet->wakes);
    rt->contact.hello_us = wakes_wall(rt->fleet->wakes);
    rt->contact.refused = false;
    node_capacity_seen(rt, &a, &facts);
    rt->seen.is_root = facts.is_root;
    node_set_text(&rt->seen.runtimes, facts.runtimes);
    node_set_text(&rt->seen.hostname, facts.hostname);
    free(rt->seen.incarnation);
    rt->seen.incarnation = incarnation_text(&facts);
    free(rt->seen.facts);
    rt->seen.facts = node_facts_text(&facts);
    connecting_ends(rt);
    if (rt->machine)
        machine_contact(rt->fleet, rt->machine, &facts);
    LOG_DEBUG(rt->fleet->log, "node.connected", LF_STR("node", rt->name),
              LF_STR("agent", facts.agent_version));
    arena_free(&a);
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

static void on_closed(void *ctx)
{
    struct node_rt *rt = ctx;
    struct fleet *fl = rt->fleet;
    rt->contact.link = NULL;
    go(rt, CONNECTION_NONE);
    connecting_ends(rt);
    wake(fl->wakes, &woken_node, rt->id);
    for (const struct node_work *const *w = fl->works; *w; w++)
        if ((*w)->link_closed)
            (*w)->link_closed(rt);
    wakes_unref(fl->wakes);
}

void node_rt_close(struct node_rt *rt)
{
    turn_give_up(rt);
    if (rt->contact.state == CONNECTION_NONE || rt->contact.state == CONNECTION_CLOSING)
        return;
    go(rt, CONNECTION_CLOSING);
    rt->contact.greeted = false;
    node_set_text(&rt->account, NULL);
    const struct node_work *const *works = rt->fleet->works;
    for (const struct node_work *const *w = works; *w; w++)
        if ((*w)->halt)
            (*w)->halt(rt);
    node_close(rt->contact.link, on_closed, rt);
    for (const struct node_work *const *w = works; *w; w++)
        if ((*w)->link_down)
            (*w)->link_down(rt);
    node_tell_down(rt);
}

static void on_down(void *ctx, const struct err *why)
{
    struct node_rt *rt = ctx;
    rt->fleet->counts.lost++;
    rt->contact.let_in = rt->contact.state == CONNECTION_OPENING &&
                         node_link_step(rt->contact.link) > NODE_STEP_LOGIN;
    note_loss(rt, why->msg, why->code == ERR_NODE || why->code == ERR_CONFIG,
              node_link_silent_since(rt->contact.link));
    node_rt_close(rt);
}

void node_rt_distrust(struct node_rt *rt, const char *why)
{
    node_distrust_since(rt, why, 0);
}

void node_distrust_since(struct node_rt *rt, const char *why, int64_t silent_us)
{
    note_loss(rt, why, false, silent_us);
    node_rt_close(rt);
}

static void on_task_ended(void *ctx, const struct task_status *status)
{
    struct node_rt *rt = ctx;
    for (const struct node_work *const *w = rt->fleet->works; *w; w++)
        if ((*w)->task_ended)
            (*w)->task_ended(rt, status);
    node_tell_task_ended(rt, status);
}

static void on_remote(void *ctx, const struct remote_msg *m)
{
    struct node_rt *rt = ctx;
    if (rt->contact.greeted)
        node_tell_remote(rt, m);
}

/* --- opening it ----------------------------------------------------------------------------- */

struct node_provider *node_provider_of(struct node_rt *rt)
{
    const struct fleet_config *cfg = &rt->fleet->cfg;
    struct arena a;
    struct pool p;
    struct err e;
    if (rt->machine)
        return cfg->machines;
    if (!cfg->scripted || rt->id < 0)
        return cfg->local;
    arena_init(&a);
    bool scripted = st_pool_by_id(rt->fleet->st, &a, rt->pool_id, &p, &e) > 0 &&
                    fleet_is_scripted(rt->fleet, p.vm_size);
    arena_free(&a);
    return scripted ? cfg->scripted : cfg->local;
}

static int ask_provider(struct node_rt *rt, struct err *e)
{
    const struct fleet_config *cfg = &rt->fleet->cfg;
    const struct node_callbacks callbacks = {on_ready, on_down, on_task_ended, on_remote, rt};
    const struct epoch *ep = st_epoch(rt->fleet->st);
    rt->fleet->counts.opened++;
    struct node_target at = {.id = rt->id,
                             .name = rt->name,
                             .root = rt->root,
                             .epoch = {.term = ep->term, .id = ep->random},
                             .files = cfg->files};
    if (!rt->machine) {
        struct node_provider *p = node_provider_of(rt);
        rt->room.fake = node_provider_keeps_roots(p);
        return node_provider_open(p, &at, &callbacks, &rt->contact.link, e);
    }
    const struct node_ssh_config ssh = site_ssh_config(cfg->site, rt->machine->site);
    at.ssh = &ssh;
    return node_provider_open(cfg->machines, &at, &callbacks, &rt->contact.link, e);
}

/* Opens a link. A failure is handled like a lost link, and the node is woken. */
static void open_link(struct node_rt *rt)
{
    struct fleet *fl = rt->fleet;
    struct err e = {0};
    if (ask_provider(rt, &e) != 0) {
        note_loss(rt, e.msg, true, 0); /* true: for a machine, its settings are wrong */
        wake(fl->wakes, &woken_node, rt->id);
        wake_next(fl);
        return;
    }
    go(rt, CONNECTION_OPENING);
    connecting_begins(rt);
    wakes_ref(fl->wakes);
}

void node_connect_want(struct node_rt *rt)
{
    if (rt->contact.state != CONNECTION_NONE)
        return;
    if (wakes_mono(rt->fleet->wakes) < rt->contact.retry_us)
        wake_by(rt->fleet->wakes, &woken_node, rt->id, rt->contact.retry_us);
    else if (turn_take(rt))
        open_link(rt);
}
