/* SPDX-License-Identifier: MIT */
#include "scheduler/fleet/node_setup.h"

#include "scheduler/fleet/env.h"
#include "scheduler/fleet/inputs.h"

static void write_row(const struct setup_run *s)
{
    struct node_rt *rt = s->rt;
    struct err e = {0};
    if (st_node_setup_put(rt->fleet->st, &s->row, &e) < 0)
        LOG_WARN(rt->fleet->log, "node.setup_not_written", LF_STR("node", rt->name),
                 LF_STR("why", e.msg));
}

bool setup_is_beside(const struct node_setup *row)
{
    return row->runs && row->beside && *row->beside;
}

int node_setup_beside(const struct node_rt *rt, struct arena *a, const char **id, struct err *e)
{
    struct node_setup row;
    int rc = st_node_setup_get(rt->fleet->st, a, rt->id, &row, e);
    *id = rc > 0 && setup_is_beside(&row) ? row.beside : NULL;
    return rc < 0 ? -1 : 0;
}

/* --- one try ---------------------------------------------------------------------------------- */

static const char *words_for(const struct setup_run *s, const char *text)
{
    return front_text(words_of_node(s->rt), s->a, text);
}

static struct env env_of(const struct setup_run *s)
{
    const struct node_rt *rt = s->rt;
    const struct front_words *w = words_of_node(rt);
    const struct place_spec *place = s->task->place;
    struct env v;
    env_init(&v, s->a);
    env_add(&v, s->task->env, s->task->n_env);
    for (size_t i = 0; i < place->n_rooted; i++)
        env_set(&v, place->rooted[i].name,
                arena_concat(s->a, rt->root, "/", place->rooted[i].value));
    env_set_var(&v, w, VAR_NODE, NULL, rt->name);
    env_set_var(&v, w, VAR_DEDICATED, NULL, s->dedicated ? "true" : "false");
    return v;
}

/* Takes its account; NULL: it is the agent's own. */
static const char *account_of(const struct setup_run *s)
{
    const struct place_spec *place = s->task->place;
    if (s->task->admin)
        return NULL;
    node_place_account_take_step(s->rt, s->a, s->script, place, place->account);
    return node_rt_place_account(s->rt, s->a, place, place->account);
}

/* A try that the node knows has its files already, and may have changed them. */
static void add_inputs(struct setup_run *s, const char *id, const char *as)
{
    const struct place_spec *place = s->task->place;
    const struct node_rt *rt = s->rt;
    const struct script_label look = {.code = FAIL_NODE_SETUP_FAILED, .what = "look for the task"};
    const struct inputs in = {.script = s->script,
                              .a = s->a,
                              .files = rt->fleet->cfg.files,
                              .transfers = rt->fleet->cfg.transfers,
                              .root = rt->root,
                              .as = s->task->admin ? node_rt_job_account(rt, s->a, place->account)
                                                   : as};
    if (place->files.n == 0)
        return;
    s->known = false;
    script_find_task(s->script, &look, id, &s->known);
    script_skip_if(s->script, &s->known);
    inputs_add(&in, &place->files);
    script_skip_if(s->script, NULL);
}

static void on_changed(void *ctx)
{
    const struct node_rt *rt = ctx;
    wake(rt->fleet->wakes, WAKE_NODE, rt->id);
}

static void start(struct setup_run *s)
{
    struct node_rt *rt = s->rt;
    struct arena *a = s->a;
    const struct setup_task_spec *t = s->task;
    const char *dir = arena_concat(a, rt->root, "/", t->place->dir);
    const struct env v = env_of(s);
    s->script = script_new(a, rt->fleet->log, rt->name);
    const char *as = account_of(s);
    const struct task_spec spec = {
        .id = s->row.retries > 0 ? arena_printf(a, "%s-%d", s->id, s->row.retries) : s->id,
        .command_line = t->place->program.shown,
        .argv = t->place->program.argv,
        .n_argv = t->place->program.n,
        .cwd = arena_concat(a, dir, "/wd"),
        .env = v.items,
        .n_env = v.n,
        .stdout_path = arena_concat(a, dir, "/stdout.txt"),
        .stderr_path = arena_concat(a, dir, "/stderr.txt"),
        .step = words_of_node(rt)->setup_task,
        .path = t->admin ? node_sudo_step(rt, a, s->script) : NULL,
        .user = as,
    };
    const struct script_label named = {
        .code = FAIL_NODE_SETUP_FAILED,
        .what = words_for(s, "The node's {setup_task}"),
        .remedy = words_for(s, "put the {setup_task} right, then restart the node")};
    add_inputs(s, spec.id, as);
    script_command(s->script, &named, &spec, true);
    script_run(s->script, rt->contact.link, on_changed, rt);
}

/* --- all of them ------------------------------------------------------------------------------ */

static void refuse(struct setup_run *s)
{
    const struct place_spec *place = s->task->place;
    struct failure *f = arena_alloc(s->a, sizeof *f);
    *f = (struct failure){.code = place->refused, .message = place->why_refused, .exit_code = -1};
    s->why = f;
}

static void begin_try(struct setup_run *s)
{
    if (s->task->place->refused)
        refuse(s);
    else
        start(s);
}

void setup_run_note(struct setup_run *s)
{
    s->row = (struct node_setup){.node_id = s->rt->id,
                                 .runs = true,
                                 .start_us = wakes_wall(s->rt->fleet->wakes),
                                 .beside = s->task->beside ? s->id : NULL};
    write_row(s);
}

void setup_run_begin(struct setup_run *s)
{
    if (!s->row.runs)
        setup_run_note(s);
    begin_try(s);
}

/* Notes how a try ended. False: another one has begun. */
static bool end_try(struct setup_run *s, const struct failure *why)
{
    struct node_setup *row = &s->row;
    const int retries = s->task->retries;
    const int64_t now = wakes_wall(s->rt->fleet->wakes);
    const bool again =
        why && why->code == FAIL_NODE_SETUP_FAILED && (retries < 0 || row->retries < retries);
    row->runs = again;
    row->end_us = now;
    row->failure = why && !again ? (int)why->code : 0;
    row->has_exit_code = !again && (!why || why->exit_code >= 0);
    row->exit_code = why && !again ? why->exit_code : 0;
    row->why = why && !again ? why->message : NULL;
    if (again) {
        row->retries++;
        row->start_us = row->retry_us = now;
    } else {
        row->beside = NULL;
    }
    write_row(s);
    if (again)
        begin_try(s);
    return !again;
}

bool setup_run_over(struct setup_run *s)
{
    if (s->script && script_state(s->script) == SCRIPT_RUNNING)
        return false;
    const struct failure *why = s->script ? script_failure(s->script) : s->why;
    s->why = why;
    bool own = why && why->code != FAIL_NODE_SETUP_FAILED && why->code != FAIL_NO_PROGRAM &&
               !inputs_failed(why);
    if (own && s->script && !s->row.beside)
        return true;
    return end_try(s, why);
}
