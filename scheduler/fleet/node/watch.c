/* SPDX-License-Identifier: MIT
 *
 * Watches a node's health while a pool has it, by regular questions to the agent. A full disk
 * closes the node (room.c). A machine's wrong clock and GPU errors are only logged. The health
 * command of the inventory group drains the machine while it fails. A pool that finds no other
 * machine claims one that the command drained and that was given back, so that the command runs
 * there again; no run starts before it succeeds.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/jsontext.h"
#include "lib/strbuf.h"
#include "scheduler/fleet/node/node_priv.h"

/* Time limit of a health command, in s; its interval is the limit if that is shorter. */
#define COMMAND_MAX_S 60
/* How often a closed node is asked, at least. */
#define CLOSED_ASK_S 5
/* The period of questions (s) if the site sets none. */
#define ASK_S    60
#define US_PER_S 1000000LL

/* The most old tasks that are forgotten over one link. Otherwise a machine that keeps reporting
 * ends of tasks, but answers nothing, would fill the daemon's memory with requests. */
#define OLD_TASKS_MAX 1000

struct node_watch {
    int64_t health_us, command_us; /* when to ask for the health, when to run the command */
    bool asked;
    int64_t asked_us, asked_wall_us;
    char *task_id; /* id of the running command's task; NULL: it does not run */
    char *trouble; /* the last reported problem; NULL: none */
    int old_tasks; /* ends reported over this link of commands of an earlier link or daemon */
};

static void watch_free(struct node_rt *rt)
{
    if (!rt->watch)
        return;
    free(rt->watch->task_id);
    free(rt->watch->trouble);
    free(rt->watch);
    rt->watch = NULL;
}

/* When the next check is due: at a whole second, so that the checks of many nodes wake the loop
 * once. */
static int64_t next_time(struct node_rt *rt, int every_s)
{
    int64_t at = wakes_mono(rt->fleet->wakes) + wakes_jitter(rt->fleet->wakes, every_s * US_PER_S);
    return at + US_PER_S - at % US_PER_S;
}

/* --- the health that the agent reports -------------------------------------------------------- */

static void add_trouble(struct strbuf *b, const char *text)
{
    strbuf_printf(b, "%s%s", b->len ? "; " : "", text);
}

/* The answer was made between the question and now; a clock outside of this interval is certainly
 * wrong. */
static void judge_clock(struct arena *a, const struct node_rt *rt, const struct node_health *h,
                        struct strbuf *b)
{
    int64_t now = wakes_wall(rt->fleet->wakes), then = rt->watch->asked_wall_us;
    /* The agent may send any number. */
    int64_t at = h->time_us < 0 ? 0 : h->time_us;
    int64_t ahead = at > now ? at - now : at < then ? at - then : 0;
    int most_s = rt->fleet->cfg.site->max_clock_skew_s;
    if (llabs(ahead) > most_s * 1000000LL)
        add_trouble(b, arena_printf(a,
                                    "its clock is %.1f s %s the daemon's, and should not be off by "
                                    "more than %d s",
                                    (double)llabs(ahead) / 1e6, ahead > 0 ? "ahead of" : "behind",
                                    most_s));
}

static void judge_gpus(struct arena *a, const struct node_rt *rt, const struct node_health *h,
                       struct strbuf *b)
{
    int there = h->gpus < 0 ? 0 : h->gpus, had = rt->seen.has.gpus;
    if (there < had && !rt->seen.fake_gpus)
        add_trouble(b, arena_printf(a, "%d of its %d GPUs have disappeared", had - there, had));
    if (h->gpu_errors && *h->gpu_errors)
        add_trouble(b, arena_printf(a, "GPU errors: %s", h->gpu_errors));
}

static void tell(struct node_rt *rt, const char *trouble)
{
    struct node_watch *w = rt->watch;
    machine_contact(rt->fleet, rt->machine, NULL);
    machine_trouble(rt->fleet, rt->machine, trouble);
    if (strcmp(w->trouble ? w->trouble : "", trouble ? trouble : "") == 0)
        return;
    node_set_text(&w->trouble, trouble);
    if (trouble)
        LOG_WARN(rt->fleet->log, "node.unhealthy", LF_STR("node", rt->name),
                 LF_STR("machine", rt->machine->name), LF_STR("why", trouble));
    else
        LOG_INFO(rt->fleet->log, "node.healthy", LF_STR("node", rt->name),
                 LF_STR("machine", rt->machine->name));
}

static void on_health(void *ctx, const struct err *why, const struct node_health *h)
{
    struct node_rt *rt = ctx;
    if (rt->contact.state != CONNECTION_READY || !rt->watch || !rt->watch->asked)
        return;
    rt->watch->asked = false;
    if (why)
        LOG_DEBUG(rt->fleet->log, "node.health_unknown", LF_STR("node", rt->name),
                  LF_STR("why", why->msg));
    node_room_answered(rt, rt->watch->asked_us, why ? NULL : h);
    if (why || !rt->machine)
        return;
    struct arena a;
    struct strbuf b = STRBUF_INIT;
    arena_init(&a);
    if (rt->room.closed)
        add_trouble(&b, rt->room.closed);
    judge_clock(&a, rt, h, &b);
    judge_gpus(&a, rt, h, &b);
    tell(rt, b.len ? b.s : NULL);
    strbuf_free(&b);
    arena_free(&a);
}

/* The machine's sshd answers keepalives even if the agent hangs, for example on a dead mount. */
static void check_silence(struct node_rt *rt)
{
    int64_t silent_s = (wakes_mono(rt->fleet->wakes) - rt->watch->asked_us) / 1000000;
    struct arena a;
    const struct site *site = rt->fleet->cfg.site;
    if (!rt->machine || !site || silent_s < site->dead_after_s)
        return; /* a local link has its own sign-of-life checks */
    arena_init(&a);
    const char *why = arena_printf(&a,
                                   "its agent has not answered for %lld s, although the machine "
                                   "does: the agent hangs, for example on a dead mount",
                                   (long long)silent_s);
    node_distrust_since(rt, why, rt->watch->asked_us);
    arena_free(&a);
}

static int ask_every_s(const struct node_rt *rt)
{
    const struct site *s = rt->fleet->cfg.site;
    int every_s = s ? s->health_interval_s : ASK_S;
    return rt->room.closed && every_s > CLOSED_ASK_S ? CLOSED_ASK_S : every_s;
}

static void ask(struct node_rt *rt)
{
    struct node_watch *w = rt->watch;
    if (w->asked)
        return;
    w->asked = true;
    w->asked_us = wakes_mono(rt->fleet->wakes);
    w->asked_wall_us = wakes_wall(rt->fleet->wakes);
    node_health(rt->contact.link, on_health, rt);
}

/* A fake local node has no disk that fills. */
static bool is_watched(const struct node_rt *rt)
{
    return rt->machine || rt->room.closed || rt->room.wanted || !rt->room.fake;
}

/* A local node that only waits for work needs no regular check. It is checked when a task has
 * ended. */
static bool is_due_by_itself(const struct node_rt *rt, const struct node *row)
{
    return rt->machine || rt->room.closed || rt->room.wanted || row->live > 0;
}

/* --- the health command of the site ----------------------------------------------------------- */

static void drain(struct node_rt *rt, const char *why)
{
    struct machine *m = rt->machine;
    struct arena a;
    struct err e = {0};
    arena_init(&a);
    const char *reason =
        arena_printf(&a, HEALTH_DRAIN_PREFIX "%.*s", (int)jsontext_cut(why, NODE_REASON_MAX), why);
    bool news = !m->drained || (machine_drained_by_health(m) && strcmp(m->reason, reason) != 0);
    if (news && fleet_machine_drain(rt->fleet, m->name, reason, &e) != 0)
        LOG_ERROR(rt->fleet->log, "machine.not_drained", LF_STR("machine", m->name),
                  LF_STR("why", e.msg));
    arena_free(&a);
}

static void undrain(struct node_rt *rt)
{
    struct err e = {0};
    if (machine_drained_by_health(rt->machine) &&
        fleet_machine_undrain(rt->fleet, rt->machine->name, &e) != 0)
        LOG_ERROR(rt->fleet->log, "machine.not_undrained", LF_STR("machine", rt->machine->name),
                  LF_STR("why", e.msg));
}

/* The last line of `text` that is not empty; NULL: there is none. */
static const char *last_line(struct arena *a, const char *text)
{
    size_t n = text ? strlen(text) : 0, begin;
    while (n > 0 && strchr(" \t\r\n", text[n - 1]))
        n--;
    for (begin = n; begin > 0 && text[begin - 1] != '\n';)
        begin--;
    return n > 0 ? arena_strndup(a, text + begin, n - begin) : NULL;
}

static void judge_command(struct node_rt *rt, const struct task_status *st)
{
    struct arena a;
    if (st->state == TASK_EXITED && st->exit_code == 0 && st->signal == 0) {
        undrain(rt);
        return;
    }
    if (st->state == TASK_LOST || st->state == TASK_UNKNOWN)
        return; /* this result tells nothing about the machine's health */
    arena_init(&a);
    const char *why = st->why ? st->why : last_line(&a, st->stderr_tail);
    if (!why && st->signal)
        why =
            arena_printf(&a, "it was killed by signal %d (%s)", st->signal, strsignal(st->signal));
    else if (!why)
        why = arena_printf(&a, "exit code %d", st->exit_code);
    drain(rt, why);
    arena_free(&a);
}

static const char *id_prefix(struct arena *a, const struct node_rt *rt)
{
    return node_task_prefix(rt, a, NULL, "health");
}

/* Ignores commands of an earlier link or daemon. */
static void on_task_ended(struct node_rt *rt, const struct task_status *st)
{
    struct node_watch *w = rt->watch;
    struct arena a;
    arena_init(&a);
    const char *prefix = id_prefix(&a, rt);
    bool ours = strncmp(st->id, prefix, strlen(prefix)) == 0;
    arena_free(&a);
    if (!ours)
        return;
    if (!w)
        w = rt->watch = xcalloc(1, sizeof *w);
    if (w->task_id && strcmp(w->task_id, st->id) == 0) {
        node_set_text(&w->task_id, NULL);
        judge_command(rt, st);
    } else if (w->old_tasks++ >= OLD_TASKS_MAX) {
        return;
    }
    node_ask(rt->contact.link, REQUEST(forget, .task = st->id), NULL, NULL);
}

static void on_started(void *ctx, const struct err *why, const struct task_status *st)
{
    struct node_rt *rt = ctx;
    if (rt->contact.state != CONNECTION_READY || !rt->watch)
        return;
    if (why) {
        LOG_WARN(rt->fleet->log, "node.health_command_not_run", LF_STR("node", rt->name),
                 LF_STR("why", why->msg));
        node_set_text(&rt->watch->task_id, NULL);
    } else if (st->state != TASK_RUNNING) { /* the agent also sends a separate report of the end */
        LOG_DEBUG(rt->fleet->log, "node.health_command_ended", LF_STR("node", rt->name));
    }
}

/* Standard output is dropped, because the file would grow without end. The node keeps the last part
 * of stderr, which is enough. */
static void run_command(struct node_rt *rt)
{
    struct node_watch *w = rt->watch;
    const struct site_group *g = rt->machine->site->group;
    w->command_us = next_time(rt, g->health_interval_s);
    wake_by(rt->fleet->wakes, &woken_node, rt->id, w->command_us);
    if (w->task_id)
        return;
    struct arena a;
    arena_init(&a);
    const char *dir = arena_printf(&a, "%s/health", rt->root);
    node_set_text(&w->task_id, arena_printf(&a, "%s%lld", id_prefix(&a, rt),
                                            (long long)wakes_mono(rt->fleet->wakes)));
    const struct task_spec spec = {
        .id = w->task_id,
        .command_line = g->health_command,
        .cwd = dir,
        .stdout_path = "/dev/null",
        .stderr_path = arena_printf(&a, "%s/stderr.txt", dir),
        .step = "health check",
        .timeout_s = g->health_interval_s < COMMAND_MAX_S ? g->health_interval_s : COMMAND_MAX_S,
    };
    node_ask(rt->contact.link, REQUEST(remove_tree, .path = dir), NULL, NULL);
    node_run(rt->contact.link, &spec, on_started, rt);
    arena_free(&a);
}

/* --- when ----------------------------------------------------------------------------------- */

void node_watch_pulse(struct node_rt *rt, const struct node *row)
{
    const struct site *s = rt->fleet->cfg.site;
    if (!is_watched(rt) || (s && s->health_interval_s == 0))
        return;
    if (!rt->watch)
        rt->watch = xcalloc(1, sizeof *rt->watch);
    struct node_watch *w = rt->watch;
    if (wakes_mono(rt->fleet->wakes) >= w->health_us) {
        w->health_us = next_time(rt, ask_every_s(rt));
        if (w->asked)
            check_silence(rt);
        else
            ask(rt);
    } else if (rt->room.wanted) {
        ask(rt);
    }
    if (is_due_by_itself(rt, row))
        wake_by(rt->fleet->wakes, &woken_node, rt->id, w->health_us);
}

void node_watch(struct node_rt *rt)
{
    if (!rt->machine)
        return;
    struct node_watch *w = rt->watch;
    int64_t now = wakes_mono(rt->fleet->wakes);
    if (!rt->machine->site->group->health_command)
        undrain(rt); /* a reload has taken the command away that drained the machine */
    else if (now >= w->command_us)
        run_command(rt);
    if (w->command_us > now)
        wake_by(rt->fleet->wakes, &woken_node, rt->id, w->command_us);
}

void node_watch_stop(struct node_rt *rt)
{
    if (!rt->watch)
        return;
    rt->watch->command_us = 0;
    node_set_text(&rt->watch->task_id, NULL);
}

static void on_link_down(struct node_rt *rt)
{
    if (!rt->watch)
        return;
    node_watch_stop(rt);
    node_room_link_down(rt);
    rt->watch->asked = false;
    rt->watch->health_us = 0;
    rt->watch->old_tasks = 0;
}

const struct node_work node_watch_work = {
    .link_down = on_link_down, .task_ended = on_task_ended, .free = watch_free};
