/* SPDX-License-Identifier: MIT
 *
 * A script is a list of steps, each with a function that sends its request. Steps are sent one
 * after the other, up to a step with `waits`: the script waits for the end of that step. Killing is
 * one step: it lists the tasks, kills the matching ones, and ends when they all have ended.
 */
#include "scheduler/fleet/script/script.h"

#include <signal.h>
#include <string.h>

#include "lib/work.h"

/* Each kind of step uses some of these fields; the others are unset. */
struct script_step {
    void (*send)(struct script *sc, struct script_step *st);
    struct script *sc;
    struct script_step *next;
    struct script_label label;
    struct node_request ask; /* for script_ask(): the request */
    /* killing: the prefix of the tasks' ids, and the prefix of ids to spare */
    const char *prefix, *except;
    const char *const *known; /* further prefixes to spare; `n` of them */
    size_t n;
    struct task_spec task; /* for commands: the task */
    bool is_command, keep_record;
    const char **said; /* receives the output of a command; NULL: not needed */
    bool waits;        /* the next step must wait until this one has ended */
    bool forget, exact, *found;
    struct victim *victims; /* of script_kill_tasks(): killed tasks that have not ended yet */
    bool is_mark;
    const bool *skip;
    struct err *refusal;     /* the reason why the step cannot begin; in the arena */
    struct script_work work; /* halt NULL: the step is not a script_work */
};

struct victim {
    struct victim *next;
    const char *id;
};

struct script {
    struct arena *a;
    const struct log *log;
    const char *node;
    struct script_step *first, **end, *last;
    struct script_step *next;    /* the next step to be sent */
    struct script_step *waiting; /* the command, kill or unmount whose end is awaited */
    struct node_link *link;
    void (*changed)(void *ctx);
    void *ctx;
    int pending; /* requests without a reply */
    /* the step that was begun last; open while a script_work carries it out */
    struct work_item doing;
    bool started, halted, failed, nodes_fault;
    struct failure why;
};

struct script *script_new(struct arena *a, const struct log *log, const char *node)
{
    struct script *sc = arena_alloc(a, sizeof *sc);
    *sc = (struct script){.a = a, .log = log, .node = node};
    sc->end = &sc->first;
    sc->doing = (struct work_item){.kind = "step", .what = node};
    return sc;
}

void script_about(struct script *sc, const char *name, const char *id)
{
    sc->doing.what = arena_printf(sc->a, "of %s (%s)", name, id);
}

/* --- failing ---------------------------------------------------------------------------------- */

static void note_failure(struct script *sc, const struct script_step *st, const struct failure *f,
                         bool nodes_fault)
{
    if (st->label.may_fail) {
        LOG_WARN(sc->log, "node.step_failed", LF_STR("node", sc->node),
                 LF_STR("step", st->label.what), LF_STR("why", f->message),
                 LF_STR("stderr", f->stderr_tail));
        return;
    }
    if (sc->failed)
        return;
    sc->failed = true;
    sc->nodes_fault = nodes_fault;
    sc->why = *f;
    sc->why.code = f->code ? f->code : st->label.code;
    sc->why.node = sc->node;
    sc->why.step = st->label.what;
    sc->why.remedy = st->label.remedy;
    sc->why.message = arena_strdup(sc->a, f->message);
    sc->why.stderr_tail = arena_strdup(sc->a, f->stderr_tail);
}

static enum failure_code code_of(const struct script_label *label, const struct err *why)
{
    const struct script_cause *c = label->causes;
    while (c && c->kind != why->code && c->kind != 0)
        c++;
    return c ? c->code : FAIL_NONE;
}

static void request_failed(struct script *sc, const struct script_step *st, const struct err *why)
{
    /* The link was closed on purpose: no failure is logged, and the request is sent again over the
     * next link. An agent may refuse a request with this code, too. */
    if (st->label.may_fail && why->code == ERR_UNAVAILABLE && !node_link_is_ready(sc->link))
        return;
    const struct failure f = {.code = code_of(&st->label, why),
                              .message = arena_printf(sc->a, "%s: %s", st->label.what, why->msg),
                              .exit_code = -1};
    bool fault = st->label.on_node && (why->code == ERR_IO || why->code == ERR_NODE);
    note_failure(sc, st, &f, fault);
}

static void command_failed(struct script *sc, const struct script_step *st,
                           const struct task_status *t)
{
    const char *what = st->label.what;
    bool exited = t->state == TASK_EXITED;
    const char *shown = st->label.command;
    struct failure f = {.command = shown ? shown : st->task.command_line,
                        .stderr_tail = t->stderr_tail,
                        .exit_code = exited && !t->signal ? t->exit_code : -1,
                        .signal = t->signal};
    if (t->state == TASK_FAILED_TO_START && t->exit_code == TASK_NO_PROGRAM)
        f.code = FAIL_NO_PROGRAM;
    if (t->why)
        f.message = arena_printf(sc->a, "%s: %s", what, t->why);
    else if (!exited)
        f.message = arena_printf(sc->a, "%s: there is no record of how it ended", what);
    else if (t->signal)
        f.message = arena_printf(sc->a, "%s was killed by signal %d (%s)", what, t->signal,
                                 strsignal(t->signal));
    else
        f.message = arena_printf(sc->a, "%s failed with exit code %d", what, t->exit_code);
    note_failure(sc, st, &f, t->state == TASK_LOST || t->state == TASK_UNKNOWN);
}

/* --- going on --------------------------------------------------------------------------------- */

static void skip_to_mark(struct script *sc, const struct script_step *mark)
{
    while (mark->skip && *mark->skip && sc->next && !sc->next->is_mark)
        sc->next = sc->next->next;
}

static void step_done(void *ctx, const struct err *why);

/* The answer to a request that was sent only to get a callback: a refused step then fails in a
 * callback, like any other step. */
static void on_refused(void *ctx, const struct err *why, const struct task_status *list, size_t n)
{
    struct script_step *st = ctx;
    (void)list, (void)n;
    step_done(st, why ? why : st->refusal);
}

static void begin_step(struct script *sc, struct script_step *st)
{
    struct err e;
    sc->doing.verb = st->label.what;
    const struct work_item *before = work_enter(&sc->doing);
    if (work_may_begin(&sc->doing, &e) == 0) {
        if (st->work.halt)
            work_open(&sc->doing);
        st->send(sc, st);
    } else {
        st->refusal = arena_alloc(sc->a, sizeof *st->refusal);
        *st->refusal = e;
        node_tasks(sc->link, on_refused, st);
    }
    work_leave(before);
}

static void send_on(struct script *sc)
{
    while (sc->next && !sc->waiting && !sc->failed && !sc->halted) {
        struct script_step *st = sc->next;
        sc->next = st->next;
        if (st->is_mark) {
            skip_to_mark(sc, st);
            continue;
        }
        if (st->waits)
            sc->waiting = st;
        sc->pending++;
        begin_step(sc, st);
    }
}

static void tell(struct script *sc)
{
    send_on(sc);
    if (!sc->halted && (sc->failed || sc->pending == 0 || script_state(sc) != SCRIPT_RUNNING))
        sc->changed(sc->ctx);
}

static void step_done(void *ctx, const struct err *why)
{
    struct script_step *st = ctx;
    struct script *sc = st->sc;
    if (sc->halted)
        return;
    sc->pending--;
    if (st->work.halt)
        work_close(&sc->doing);
    if (sc->waiting == st && !st->victims)
        sc->waiting = NULL;
    if (why)
        request_failed(sc, st, why);
    tell(sc);
}

static void on_forgotten(void *ctx, const struct err *why)
{
    struct script_step *st = ctx;
    struct script *sc = st->sc;
    if (sc->halted)
        return;
    sc->pending--;
    /* The failure is ignored: the next cleaning of the node makes it forget the task. */
    if (why && why->code != ERR_UNAVAILABLE)
        LOG_WARN(sc->log, "task.record_not_removed", LF_STR("task", st->task.id),
                 LF_STR("why", why->msg));
    tell(sc);
}

static void command_ended(struct script *sc, const struct task_status *t)
{
    struct script_step *st = sc->waiting;
    sc->waiting = NULL;
    if (t->state != TASK_EXITED || t->exit_code != 0 || t->signal)
        command_failed(sc, st, t);
    else if (st->said)
        *st->said = arena_strdup(sc->a, t->stderr_tail);
    if (st->keep_record)
        return;
    sc->pending++;
    node_ask(sc->link, REQUEST(forget, .task = st->task.id), on_forgotten, st);
}

static void on_started(void *ctx, const struct err *why, const struct task_status *t)
{
    struct script_step *st = ctx;
    struct script *sc = st->sc;
    if (sc->halted)
        return;
    sc->pending--;
    if (why && sc->waiting == st) {
        sc->waiting = NULL;
        request_failed(sc, st, why);
    } else if (!why && sc->waiting == st && t->state != TASK_RUNNING) {
        command_ended(sc, t);
    }
    tell(sc);
}

/* --- killing ---------------------------------------------------------------------------------- */

static bool victim_ended(struct script_step *st, const char *id)
{
    for (struct victim **at = &st->victims; *at; at = &(*at)->next) {
        if (strcmp((*at)->id, id) != 0)
            continue;
        *at = (*at)->next;
        if (st->forget) {
            st->sc->pending++;
            node_ask(st->sc->link, REQUEST(forget, .task = id), on_forgotten, st);
        }
        return true;
    }
    return false;
}

static void kill_one(struct script_step *st, const struct task_status *t)
{
    struct script *sc = st->sc;
    struct victim *v = arena_alloc(sc->a, sizeof *v);
    *v = (struct victim){.next = st->victims, .id = arena_strdup(sc->a, t->id)};
    st->victims = v;
    /* Such kills are usual at the end of a run, so they are no warnings. */
    LOG_AT(sc->log, st->label.may_fail ? LOG_LVL_INFO : LOG_LVL_WARN, "task.leftover_killed",
           LF_STR("node", sc->node), LF_STR("task", t->id));
    sc->pending++;
    node_ask(sc->link, REQUEST(signal, .task = t->id, .signal = SIGKILL), step_done, st);
}

static bool starts_with(const char *id, const char *prefix)
{
    return strncmp(id, prefix, strlen(prefix)) == 0;
}

static bool is_known(const struct script_step *st, const char *id)
{
    bool known = false;
    for (size_t i = 0; i < st->n && !known; i++)
        known = starts_with(id, st->known[i]);
    return known;
}

static void on_list(void *ctx, const struct err *why, const struct task_status *list, size_t n)
{
    struct script_step *st = ctx;
    struct script *sc = st->sc;
    if (sc->halted)
        return;
    sc->pending--;
    for (size_t i = 0; !why && i < n; i++) {
        const struct task_status *t = &list[i];
        if (st->except &&
            (st->exact ? strcmp(t->id, st->except) == 0 : starts_with(t->id, st->except))) {
            if (st->found)
                *st->found = true;
        } else if (starts_with(t->id, st->prefix) && !is_known(st, t->id)) {
            if (t->state == TASK_RUNNING)
                kill_one(st, t);
            else if (st->forget) {
                sc->pending++;
                node_ask(sc->link, REQUEST(forget, .task = t->id), on_forgotten, st);
            }
        }
    }
    if (why)
        request_failed(sc, st, why);
    if (!st->victims)
        sc->waiting = NULL;
    tell(sc);
}

/* The end of a task may be reported before the reply to `run`, if an earlier daemon started the
 * task. The reply then contains the task's final status. */
bool script_task_ended(struct script *sc, const struct task_status *t)
{
    struct script_step *st = sc->waiting;
    if (sc->halted || !st)
        return false;
    if (st->is_command) {
        if (strcmp(st->task.id, t->id) != 0)
            return false;
        command_ended(sc, t);
    } else {
        if (!victim_ended(st, t->id))
            return false;
        if (!st->victims)
            sc->waiting = NULL;
    }
    tell(sc);
    return true;
}

void script_run(struct script *sc, struct node_link *link, void (*changed)(void *ctx), void *ctx)
{
    sc->link = link;
    sc->started = true;
    sc->changed = changed;
    sc->ctx = ctx;
    sc->next = sc->first;
    send_on(sc);
}

enum script_state script_state(const struct script *sc)
{
    if (sc->failed)
        return SCRIPT_FAILED;
    bool going = !sc->started || sc->next || sc->waiting || sc->pending;
    return going ? SCRIPT_RUNNING : SCRIPT_DONE;
}

bool script_all_sent(const struct script *sc)
{
    return sc->started && !sc->failed && !sc->halted && !sc->next && !sc->waiting;
}

bool script_busy(const struct script *sc)
{
    return sc->pending > 0;
}

const char *script_awaits_end_of(const struct script *sc)
{
    const struct script_step *st = sc->halted ? NULL : sc->waiting;
    return st && st->victims ? st->victims->id : NULL;
}

const struct failure *script_failure(const struct script *sc)
{
    return sc->failed ? &sc->why : NULL;
}

bool script_nodes_fault(const struct script *sc)
{
    return sc->failed && sc->nodes_fault;
}

void script_halt(struct script *sc)
{
    sc->halted = true;
    work_close(&sc->doing);
    if (sc->waiting && sc->waiting->work.halt)
        sc->waiting->work.halt(sc->waiting->work.ctx);
}

/* --- the kinds of steps ------------------------------------------------------------------------
 */

static struct script_step *add_step(struct script *sc, const struct script_label *label,
                                    void (*send)(struct script *, struct script_step *))
{
    struct script_step *st = arena_alloc(sc->a, sizeof *st);
    *st = (struct script_step){.send = send, .sc = sc, .label = *label};
    *sc->end = st;
    sc->end = &st->next;
    sc->last = st;
    return st;
}

static void send_ask(struct script *sc, struct script_step *st)
{
    node_ask(sc->link, &st->ask, step_done, st);
}

void script_ask(struct script *sc, const struct script_label *label, const struct node_request *r)
{
    struct script_step *st = add_step(sc, label, send_ask);
    st->ask = *r;
    st->waits = node_ask_is_beside(r);
    if (r->op == REQUEST_make_dirs) {
        const struct request_make_dirs *dirs = &r->make_dirs;
        const char **paths = arena_alloc(sc->a, dirs->n_paths * sizeof *paths);
        for (size_t i = 0; i < dirs->n_paths; i++)
            paths[i] = dirs->paths[i];
        st->ask.make_dirs.paths = paths;
    }
}

static void send_work(struct script *sc, struct script_step *st)
{
    st->work.begin(st->work.ctx, sc->link, (struct script_turn *)st);
}

void script_work(struct script *sc, const struct script_label *label,
                 const struct script_work *work)
{
    struct script_step *st = add_step(sc, label, send_work);
    st->work = *work;
    st->waits = true;
}

void script_turn_end(struct script_turn *turn, const struct err *why)
{
    step_done(turn, why);
}

static void send_list(struct script *sc, struct script_step *st)
{
    node_tasks(sc->link, on_list, st);
}

static struct script_step *add_kill(struct script *sc, const struct script_label *label,
                                    const char *prefix)
{
    struct script_step *st = add_step(sc, label, send_list);
    st->prefix = prefix;
    st->waits = true;
    return st;
}

void script_kill_tasks(struct script *sc, const struct script_label *label, const char *prefix,
                       const char *except, bool forget, bool *found)
{
    struct script_step *st = add_kill(sc, label, prefix);
    st->except = except;
    st->forget = forget;
    st->found = found;
}

void script_find_task(struct script *sc, const struct script_label *label, const char *task_id,
                      bool *found)
{
    static const char *const all[] = {""};
    struct script_step *st = add_kill(sc, label, task_id);
    st->except = task_id;
    st->exact = true;
    st->known = all; /* tasks with these prefixes are not killed */
    st->n = 1;
    st->found = found;
}

void script_kill_unknown(struct script *sc, const struct script_label *label,
                         const char *const *known, size_t n)
{
    struct script_step *st = add_kill(sc, label, "");
    st->known = known;
    st->n = n;
    st->forget = true;
}

void script_skip_if(struct script *sc, const bool *skip)
{
    struct script_step *st = add_step(sc, &(struct script_label){0}, NULL);
    st->is_mark = true;
    st->skip = skip;
}

static void send_command(struct script *sc, struct script_step *st)
{
    node_run(sc->link, &st->task, on_started, st);
}

void script_command(struct script *sc, const struct script_label *label,
                    const struct task_spec *spec, bool keep_record)
{
    struct script_step *st = add_step(sc, label, send_command);
    st->task = *spec;
    st->is_command = st->waits = true;
    st->keep_record = keep_record;
}

void script_hear(struct script *sc, const char **said)
{
    sc->last->said = said;
}
