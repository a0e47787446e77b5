/* SPDX-License-Identifier: MIT
 *
 * The tasks of fake nodes: their outputs and end are planned when they start, and a timer carries
 * the plan out.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fs.h"
#include "lib/timefmt.h"
#include "nodeagent-proto/link/fake_disk.h"
#include "nodeagent-proto/link/fake_priv.h"
#include "nodeagent-proto/wire/message.h"

/* The longest time between a signal and the end of the task that it kills (us). */
#define DYING_US 5000

void fake_read_command(const char *command, struct fake_task *out)
{
    *out = (struct fake_task){.run_us = 1000};
    if (strncmp(command, "fake", 4) != 0)
        return;
    const char *run = strstr(command, " run="), *exit = strstr(command, " exit="),
               *dying = strstr(command, " dying=");
    if (run)
        out->run_us = strtoll(run + 5, NULL, 10) * 1000;
    if (exit)
        out->exit_code = (int)strtol(exit + 6, NULL, 10);
    if (dying)
        out->dying_us = strtoll(dying + 7, NULL, 10) * 1000;
    out->ignores_term = strstr(command, " stubborn") != NULL;
}

struct fake_node_task *fake_task_find(const struct fake_node *n, const char *id)
{
    struct fake_node_task *t = n->tasks;
    while (t && strcmp(t->id, id) != 0)
        t = t->next;
    return t;
}

static void forget_outputs(struct fake_node_task *t)
{
    for (size_t i = 0; i < t->plan.n_outputs; i++) {
        free(t->plan.outputs[i].path);
        free(t->plan.outputs[i].text);
    }
    free(t->plan.outputs);
    t->plan.outputs = NULL;
    t->plan.n_outputs = 0;
}

void fake_task_forget(struct fake_node_task *t)
{
    struct fake_node_task **at = &t->node->tasks;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    loop_timer_destroy(t->timer);
    forget_outputs(t);
    free(t->id);
    free(t->command);
    free(t->why);
    free(t->log_path);
    free(t->step);
    free(t);
}

void fake_task_tell(struct fake_node_task *t)
{
    for (struct conn *c = t->node->conns; c; c = c->next) {
        if (!c->greeted || c->is_dead || !c->link || t->told == c->serial)
            continue;
        t->told = c->serial;
        fake_reply(
            c,
            json_pack("{s:s, s:o}", "event", "task_ended", "task", message_task_status(&t->status)),
            t->reply_us, true);
    }
}

/* --- its files -------------------------------------------------------------------------------- */

/* Writes a line like the agent's into the log of a run (agent/tasklog.h). A failure to write is
 * ignored: a task does not fail because of its log. */
static void note(const struct fake_node_task *t, int64_t when_us, const char *text)
{
    struct err e;
    char stamp[TIMEFMT_SIZE];
    struct strbuf b = STRBUF_INIT;
    if (!t->log_path)
        return;
    timefmt_fixed(when_us, stamp);
    strbuf_printf(&b, "%s %s: %s\n", stamp, t->step, text);
    if (fake_disk_append(t->log_path, b.s, b.len, when_us, &e) < 0)
        LOG_DEBUG(t->node->f->c.log, "fake_node.log_not_written", LF_STR("why", e.msg));
    strbuf_free(&b);
}

static void note_start(const struct fake_node_task *t)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "started on %s, scripted: %s", t->node->name, t->command);
    note(t, t->status.started_us, b.s);
    strbuf_free(&b);
}

static void note_end(const struct fake_node_task *t)
{
    struct strbuf b = STRBUF_INIT;
    if (t->status.state == TASK_FAILED_TO_START)
        strbuf_printf(&b, "could not be started: %s", t->status.why);
    else if (t->status.signal)
        strbuf_printf(&b, "killed by signal %d (%s)", t->status.signal,
                      strsignal(t->status.signal));
    else
        strbuf_printf(&b, "exited with code %d", t->status.exit_code);
    note(t, t->status.ended_us, b.s);
    strbuf_free(&b);
}

static int open_output(const struct fake_node_task *t, const char *path, struct err *e)
{
    char *at = path ? fake_disk_place(t->node->name, path) : NULL;
    int rc = at ? fake_disk_append(at, "", 0, loop_wall_us(t->node->f->c.loop), e) : 0;
    free(at);
    return rc;
}

static int make_files(struct fake_node_task *t, const struct task_spec *spec, struct err *e)
{
    t->log_path = spec->log_path ? fake_disk_place(t->node->name, spec->log_path) : NULL;
    t->step = xstrdup(spec->step ? spec->step : "task");
    char *cwd = spec->cwd ? fake_disk_place(t->node->name, spec->cwd) : NULL;
    int rc = cwd ? fs_mkdirs(cwd, 0777, e) : 0;
    free(cwd);
    if (rc < 0)
        return -1;
    return open_output(t, spec->stdout_path, e) < 0 ? -1 : open_output(t, spec->stderr_path, e);
}

/* Writes the outputs that are due. A failure is only logged, because a full disk alone does not
 * fail a task. */
static void write_outputs(struct fake_node_task *t, int64_t now_us)
{
    struct err e;
    for (; t->written < t->plan.n_outputs; t->written++) {
        const struct fake_output *o = &t->plan.outputs[t->written];
        if (t->began_us + o->at_us > now_us)
            return;
        char *at = fake_disk_place(t->node->name, o->path);
        if (fake_disk_append(at, o->text, o->n, loop_wall_us(t->node->f->c.loop), &e) < 0)
            LOG_WARN(t->node->f->c.log, "fake_node.output_not_written", LF_STR("why", e.msg));
        free(at);
    }
}

/* --- its life ----------------------------------------------------------------------------------
 */

void fake_task_end(struct fake_node_task *t, enum task_state state)
{
    struct fake_nodes *f = t->node->f;
    t->status.state = state;
    t->status.ended_us = loop_wall_us(f->c.loop);
    loop_timer_destroy(t->timer);
    t->timer = NULL;
    t->plan.hold = 0;
    note_end(t);
    forget_outputs(t);
    if (f->c.watch.ended)
        f->c.watch.ended(f->c.watch.ctx, t->node, t->id);
}

/* Sets the timer for the next output, or for the end. */
static void set_timer(struct fake_node_task *t)
{
    int64_t at = t->end_us;
    if (t->written < t->plan.n_outputs && t->began_us + t->plan.outputs[t->written].at_us < at)
        at = t->began_us + t->plan.outputs[t->written].at_us;
    loop_timer_start(t->timer, at);
}

static void on_timer(void *ctx)
{
    struct fake_node_task *t = ctx;
    int64_t now_us = loop_mono_us(t->node->f->c.loop);
    write_outputs(t, now_us);
    if (now_us < t->end_us) {
        set_timer(t);
        return;
    }
    fake_task_end(t, TASK_EXITED);
    fake_task_tell(t);
}

static void begin(struct fake_node_task *t)
{
    t->plan.hold = 0;
    t->began_us = loop_mono_us(t->node->f->c.loop);
    t->end_us = t->began_us + t->plan.run_us;
    set_timer(t);
}

/* The command line as the user wrote it, without a prefix from the daemon. */
static const char *shown(const struct task_spec *spec)
{
    return spec->title ? spec->title : spec->command_line;
}

static void plan(struct fake_node_task *t, const struct task_spec *spec)
{
    struct fake_nodes *f = t->node->f;
    struct err e;
    if (f->c.plan)
        f->c.plan(f->c.ctx, t->node, spec, &t->plan);
    else
        fake_read_command(shown(spec), &t->plan);
    if (t->plan.start_fails)
        t->why = xstrdup(t->plan.start_fails);
    else if (f->c.keeps_files && make_files(t, spec, &e) < 0)
        t->why = xstrdup(e.msg);
}

struct fake_node_task *fake_task_start(struct fake_node *n, const struct task_spec *spec)
{
    struct fake_nodes *f = n->f;
    struct fake_node_task *t = xcalloc(1, sizeof *t);
    t->node = n;
    t->id = xstrdup(spec->id);
    t->command = xstrdup(shown(spec));
    t->next = n->tasks;
    n->tasks = t;
    plan(t, spec);
    t->status = (struct task_status){.id = t->id,
                                     .state = TASK_RUNNING,
                                     .started_us = loop_wall_us(f->c.loop),
                                     .exit_code = t->plan.exit_code,
                                     .measured = t->plan.user_us > 0,
                                     .user_us = t->plan.user_us};
    if (t->why) {
        t->status.state = TASK_FAILED_TO_START;
        t->status.why = t->why;
        t->status.exit_code = -1;
        t->status.ended_us = t->status.started_us;
        note_end(t);
        return t;
    }
    note_start(t);
    t->timer = loop_timer_create(f->c.loop, on_timer, t);
    if (t->plan.hold == 0)
        begin(t);
    if (f->c.watch.started)
        f->c.watch.started(f->c.watch.ctx, n, t->id, t->command);
    return t;
}

void fake_task_kill(struct fake_node_task *t, int signo)
{
    struct fake_nodes *f = t->node->f;
    if (t->status.state != TASK_RUNNING || (signo != SIGKILL && t->plan.ignores_term))
        return;
    if (t->status.signal == SIGKILL)
        return; /* the task is ending already */
    t->status.exit_code = -1;
    t->status.signal = signo;
    t->plan.ignores_term = false;
    t->plan.hold = 0;
    forget_outputs(t);
    /* Nodes without delays are for tests: their clock may stand still. */
    int64_t dying_us = f->c.delay_max_us > 0 ? (int64_t)(fake_random(f) % DYING_US) : 0;
    if (signo == SIGKILL)
        dying_us += t->plan.dying_us;
    t->end_us = loop_mono_us(f->c.loop) + dying_us;
    set_timer(t);
}

/* --- tasks that wait ---------------------------------------------------------------------------
 */

static int each_held(struct fake_nodes *f, int64_t hold, void (*each)(struct fake_node_task *t))
{
    int n = 0;
    for (size_t i = 0; i < f->n; i++)
        for (struct fake_node_task *t = f->nodes[i]->tasks; t; t = t->next)
            if (t->plan.hold == hold && t->status.state == TASK_RUNNING) {
                n++;
                if (each)
                    each(t);
            }
    return n;
}

int fake_let_go(struct fake_nodes *f, int64_t hold)
{
    return each_held(f, hold, begin);
}

int fake_count_held(const struct fake_nodes *f, int64_t hold)
{
    return each_held((struct fake_nodes *)(uintptr_t)f, hold, NULL);
}
