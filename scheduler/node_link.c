/* SPDX-License-Identifier: MIT
 *
 * The link to a node: opening it, losing it, when to try again.
 *
 *   LINK_NONE --open--> LINK_OPENING --hello--> LINK_READY
 *       ^                    | down                 | down, or no longer wanted
 *       +----closed---- LINK_CLOSING <--------------+
 *
 * A lost link is opened again after pauses that grow; tasks on the node go on meanwhile. Links of
 * machines take turns: no more than site.connect_limit are connecting at once, the others wait in
 * the order in which they came. Failures that a person has to put right (a changed host key, a
 * login that is refused) count at once and are tried again rarely.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/node_priv.h"

/* Local nodes: pause before the n-th reopening, in ms: about 4 s in all, enough for an agent that
 * was killed or a machine short of processes for a moment. */
static const int pauses_ms[] = {0, 0, 50, 100, 200, 500, 1000, 2000};
#define LOSSES_MAX ((int)(sizeof pauses_ms / sizeof pauses_ms[0]))
/* One that was given up is tried again this often. */
#define LOCAL_AGAIN_US 30000000

/* Machines: the pause doubles with each loss, between these. */
#define PAUSE_MIN_US     500000
#define PAUSE_MAX_US     30000000
#define REFUSED_US       300000000
#define PREPARING_LOSSES 3

/* A link that lived this long was a good one: losses before it do not count any more. */
#define GOOD_LINK_US 2000000

void node_set_text(char **field, const char *text)
{
    free(*field);
    *field = text ? xstrdup(text) : NULL;
}

/* --- turns ---------------------------------------------------------------------------------- */

static int free_turns(const struct sched *s)
{
    return s->cfg.site->connect_limit - s->connecting;
}

static void turn_wait(struct node_rt *rt)
{
    struct sched *s = rt->s;
    rt->waits_turn = true;
    rt->next_turn = NULL;
    rt->prev_turn = s->last_turn;
    *(s->last_turn ? &s->last_turn->next_turn : &s->first_turn) = rt;
    s->last_turn = rt;
}

static void turn_unlink(struct node_rt *rt)
{
    struct sched *s = rt->s;
    *(rt->prev_turn ? &rt->prev_turn->next_turn : &s->first_turn) = rt->next_turn;
    *(rt->next_turn ? &rt->next_turn->prev_turn : &s->last_turn) = rt->prev_turn;
    rt->prev_turn = rt->next_turn = NULL;
    rt->waits_turn = false;
}

static void wake_next(struct sched *s)
{
    int n = s->first_turn ? free_turns(s) : 0;
    for (struct node_rt *rt = s->first_turn; rt && n > 0; rt = rt->next_turn, n--)
        wake(s, WAKE_NODE, rt->id);
}

static void turn_give_up(struct node_rt *rt)
{
    if (!rt->waits_turn)
        return;
    turn_unlink(rt);
    wake_next(rt->s);
}

/* True: it may connect now. False: it is woken when it may. */
static bool turn_take(struct node_rt *rt)
{
    struct sched *s = rt->s;
    if (!rt->machine)
        return true;
    if (!rt->waits_turn)
        turn_wait(rt);
    int n = free_turns(s);
    for (struct node_rt *at = s->first_turn; at && n > 0; at = at->next_turn, n--) {
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
    rt->connecting = true;
    rt->s->connecting++;
}

static void connecting_ends(struct node_rt *rt)
{
    if (!rt->connecting)
        return;
    rt->connecting = false;
    rt->s->connecting--;
    wake_next(rt->s);
}

/* --- losing it ------------------------------------------------------------------------------ */

static int64_t local_pause(const struct node_rt *rt)
{
    if (rt->heal)
        return LOCAL_AGAIN_US;
    return rt->failures < LOSSES_MAX ? pauses_ms[rt->failures] * 1000LL : 0;
}

static int64_t pause_after(const struct node_rt *rt)
{
    if (!rt->machine)
        return local_pause(rt);
    if (rt->refused)
        return sched_jitter(rt->s, REFUSED_US);
    int64_t us = PAUSE_MIN_US;
    for (int i = 1; i < rt->failures && us < PAUSE_MAX_US; i++)
        us *= 2;
    return sched_jitter(rt->s, us < PAUSE_MAX_US ? us : PAUSE_MAX_US);
}

/* A machine that stays away is said to be so once, not with each try. */
static void log_loss(const struct node_rt *rt, const char *why)
{
    bool known = rt->machine && rt->failures > 1 && rt->why_down && !strcmp(rt->why_down, why);
    LOG_AT(rt->s->log, known ? LOG_LVL_DEBUG : LOG_LVL_WARN, "node.link_down",
           LF_STR("node", rt->name), LF_STR("machine", rt->machine ? rt->machine->name : NULL),
           LF_INT("losses", rt->failures), LF_STR("why", why));
}

static void note_loss(struct node_rt *rt, const char *why, bool refused)
{
    int64_t now = sched_now(rt->s);
    bool good = rt->ready_us != 0 && now - rt->ready_us >= GOOD_LINK_US;
    rt->failures = good ? 1 : rt->failures + 1;
    if (good || rt->lost_us == 0)
        rt->lost_us = now;
    rt->refused = refused && rt->machine;
    rt->ready_us = 0;
    rt->retry_us = now + pause_after(rt);
    log_loss(rt, why);
    node_set_text(&rt->why_down, why);
    if (rt->machine)
        machine_trouble(rt->machine, why);
}

bool node_link_hopeless(struct node_rt *rt, bool preparing)
{
    if (!rt->machine)
        return rt->link_state == LINK_NONE && rt->failures >= LOSSES_MAX;
    if (rt->link_state == LINK_READY || rt->lost_us == 0)
        return false;
    if (rt->refused || (preparing && rt->failures >= PREPARING_LOSSES))
        return true;
    int64_t until = rt->lost_us + rt->s->cfg.site->unusable_after_s * 1000000LL;
    if (sched_now(rt->s) >= until)
        return true;
    wake_by(rt->s, WAKE_NODE, rt->id, until);
    return false;
}

void node_link_pause(struct node_rt *rt)
{
    rt->failures = 0;
    rt->retry_us = sched_now(rt->s) + LOCAL_AGAIN_US;
}

void node_link_forgive(struct node_rt *rt)
{
    rt->failures = 0;
    rt->lost_us = rt->retry_us = 0;
    rt->refused = false;
}

/* --- callbacks of the link ------------------------------------------------------------------ */

/* How many objects there are in the list: those that open one level deep, outside of strings. */
static int count_gpus(const char *list)
{
    int depth = 0, n = 0;
    bool in_string = false;
    for (const char *p = list ? list : ""; *p; p++) {
        if (in_string && *p == '\\' && p[1])
            p++;
        else if (*p == '"')
            in_string = !in_string;
        else if (!in_string && (*p == '{' || *p == '['))
            n += ++depth == 2;
        else if (!in_string && (*p == '}' || *p == ']'))
            depth--;
    }
    return n;
}

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

static void on_ready(void *ctx, const struct node_facts *facts)
{
    struct node_rt *rt = ctx;
    rt->link_state = LINK_READY;
    rt->ready_us = sched_now(rt->s);
    rt->refused = false;
    rt->gpus = count_gpus(facts->gpus);
    rt->is_root = facts->is_root;
    node_set_text(&rt->runtimes, facts->runtimes);
    free(rt->incarnation);
    rt->incarnation = incarnation_text(facts);
    free(rt->facts);
    rt->facts = node_facts_text(facts);
    connecting_ends(rt);
    if (rt->machine)
        machine_contact(rt->s, rt->machine, facts);
    LOG_DEBUG(rt->s->log, "node.connected", LF_STR("node", rt->name),
              LF_STR("agent", facts->agent_version));
    wake(rt->s, WAKE_NODE, rt->id);
}

static void on_closed(void *ctx)
{
    struct node_rt *rt = ctx;
    struct sched *s = rt->s;
    rt->link = NULL;
    rt->link_state = LINK_NONE;
    connecting_ends(rt);
    wake(s, WAKE_NODE, rt->id);
    if (s->stopping)
        node_rt_free(rt);
    sched_unref(s);
}

void node_rt_close(struct node_rt *rt)
{
    turn_give_up(rt);
    if (rt->link_state == LINK_NONE || rt->link_state == LINK_CLOSING)
        return;
    rt->link_state = LINK_CLOSING;
    rt->greeted = false;
    node_release_halt(rt);
    node_close(rt->link, on_closed, rt);
    node_prepare_abandon(rt);
    node_leave_link_down(rt);
    node_release_link_down(rt);
    node_watch_link_down(rt);
    job_node_down(rt);
}

static void on_down(void *ctx, const struct err *why)
{
    struct node_rt *rt = ctx;
    rt->let_in = rt->link_state == LINK_OPENING && node_link_step(rt->link) > NODE_STEP_LOGIN;
    note_loss(rt, why->msg, why->code == ERR_NODE || why->code == ERR_CONFIG);
    node_rt_close(rt);
}

void node_rt_distrust(struct node_rt *rt, const char *why)
{
    note_loss(rt, why, false);
    node_rt_close(rt);
}

static void on_task_ended(void *ctx, const struct task_status *status)
{
    struct node_rt *rt = ctx;
    /* Also one that is told to the watch is among those whose end a preparation or release awaits.
     */
    node_watch_task_ended(rt, status);
    if (rt->prep)
        node_prepare_task_ended(rt, status);
    if (rt->release)
        node_release_task_ended(rt, status);
    if (rt->run)
        job_task_ended(rt, status);
}

/* --- opening it ----------------------------------------------------------------------------- */

static int open_local(struct node_rt *rt, struct err *e)
{
    struct sched *s = rt->s;
    const struct node_local_config c = {
        .loop = s->cfg.loop,
        .log = s->log,
        .agent_path = s->cfg.agent_path,
        .root = rt->root,
        .callbacks = {on_ready, on_down, on_task_ended, rt},
    };
    return node_open_local(&c, &rt->link, e);
}

static int open_ssh(struct node_rt *rt, struct err *e)
{
    struct sched *s = rt->s;
    struct node_ssh_config c = site_ssh_config(s->cfg.site, rt->machine->site);
    c.loop = s->cfg.loop;
    c.log = s->log;
    c.root = rt->root;
    c.callbacks = (struct node_callbacks){on_ready, on_down, on_task_ended, rt};
    return node_open_ssh(&c, &rt->link, e);
}

/* A failure is noted as a loss and the node woken. */
static void open_link(struct node_rt *rt)
{
    struct sched *s = rt->s;
    struct err e = {0};
    if ((rt->machine ? open_ssh : open_local)(rt, &e) != 0) {
        note_loss(rt, e.msg, true); /* of a machine: its settings are at fault */
        wake(s, WAKE_NODE, rt->id);
        wake_next(s);
        return;
    }
    rt->link_state = LINK_OPENING;
    connecting_begins(rt);
    sched_ref(s);
}

void node_link_want(struct node_rt *rt)
{
    if (rt->link_state != LINK_NONE)
        return;
    if (sched_now(rt->s) < rt->retry_us)
        wake_by(rt->s, WAKE_NODE, rt->id, rt->retry_us);
    else if (turn_take(rt))
        open_link(rt);
}
