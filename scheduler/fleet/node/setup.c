/* SPDX-License-Identifier: MIT
 *
 * A try is a script over the node's link. Its row is written before the try begins and after it has
 * ended, so that a restarted daemon continues with the running try. struct setup_run belongs to the
 * preparation or the work that began it.
 */
#include "scheduler/fleet/node/setup.h"

#include "scheduler/fleet/container/container.h"
#include "scheduler/fleet/copy/input_files.h"
#include "scheduler/fleet/script/env.h"

/* The pause before the n-th retry doubles with each retry, between these limits (us). A task that
 * fails at once would otherwise keep its node, and the database, busy. */
#define RETRY_MIN_US 100000
#define RETRY_MAX_US 60000000

/* False: the row was not written. */
static bool write_row(const struct setup_run *s)
{
    struct node_rt *rt = s->rt;
    struct err e = {0};
    if (st_node_setup_put(rt->fleet->st, &s->row, &e) == 0)
        return true;
    LOG_WARN(rt->fleet->log, "node.setup_not_written", LF_STR("node", rt->name),
             LF_STR("why", e.msg));
    return false;
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

static const char *try_id(struct setup_run *s, int retry)
{
    return retry > 0 ? arena_printf(&s->a, "%s-%d", s->id, retry) : s->id;
}

const char *setup_run_try(struct setup_run *s)
{
    return try_id(s, s->row.retries);
}

static const char *words_for(struct setup_run *s, const char *text)
{
    return front_text(words_of_node(s->rt), &s->a, text);
}

static struct env env_of(struct setup_run *s)
{
    const struct node_rt *rt = s->rt;
    const struct front_words *w = words_of_node(rt);
    const struct place_spec *place = s->task->place;
    struct env v;
    env_init(&v, &s->a);
    env_add(&v, s->task->env, s->task->n_env);
    for (size_t i = 0; i < place->n_rooted; i++)
        env_set(&v, place->rooted[i].name,
                arena_concat(&s->a, rt->root, "/", place->rooted[i].value));
    env_set_var(&v, w, VAR_NODE, NULL, rt->name);
    env_set_var(&v, w, VAR_DEDICATED, NULL, s->dedicated ? "true" : "false");
    return v;
}

/* Adds the step that takes the account of the task, and returns the account. NULL: the agent's
 * account. */
static const char *account_of(struct setup_run *s)
{
    const struct place_spec *place = s->task->place;
    if (s->task->admin)
        return NULL;
    node_place_account_take_step(s->rt, &s->a, s->script, place, place->account,
                                 s->task->container);
    return node_rt_place_account(s->rt, &s->a, place, place->account);
}

/* Adds the copying of input files. It is skipped if the node has the try already: the try has its
 * files, and may have changed them. */
static void add_inputs(struct setup_run *s, const char *id, const char *as)
{
    const struct place_spec *place = s->task->place;
    const struct node_rt *rt = s->rt;
    const struct script_label look = {.code = FAIL_NODE_SETUP_FAILED, .what = "look for the task"};
    const struct inputs in = {.script = s->script,
                              .a = &s->a,
                              .files = rt->fleet->cfg.files,
                              .transfers = rt->fleet->cfg.transfers,
                              .root = rt->root,
                              .as = s->task->admin ? node_rt_run_account(rt, &s->a, place->account)
                                                   : as};
    if (place->files.n == 0)
        return;
    s->known = false;
    script_find_task(s->script, &look, id, &s->known);
    script_skip_if(s->script, &s->known);
    inputs_add(&in, &place->files);
    script_skip_if(s->script, NULL);
}

/* --- its container ---------------------------------------------------------------------------- */

static const char *setup_dir(struct setup_run *s)
{
    return arena_concat(&s->a, s->rt->root, "/setup");
}

static struct container container_of(struct setup_run *s, const char *as)
{
    const struct node_rt *rt = s->rt;
    const struct container_spec *spec = s->task->container;
    const char *dir = setup_dir(s);
    return (struct container){.words = words_of_node(rt),
                              .spec = spec,
                              .runtime = node_rt_container_runtime(rt),
                              .site = rt->fleet->cfg.site,
                              .agent_is_root = rt->seen.is_root,
                              .name = arena_concat(&s->a, "batchai-", s->id),
                              .root = rt->root,
                              .run_dir = dir,
                              .work_dir =
                                  arena_concat(&s->a, rt->root, "/", s->task->place->dir, "/wd"),
                              .mounts_dir = node_mount_root(&s->a, words_of_node(rt), rt->root),
                              .log_path = arena_concat(&s->a, dir, "/container.log"),
                              .user = as,
                              .gpus = node_rt_gpus(rt),
                              .gpu_files = node_rt_gpu_devices(rt, &s->a, NULL),
                              .confine = node_rt_confine(rt, &s->a, NULL)};
}

/* Adds the start of the container in which the command runs. */
static void add_container(struct setup_run *s, const struct env *v, struct task_spec *spec)
{
    const struct container c = container_of(s, spec->user);
    s->container_said = NULL;
    container_add_start(s->script, &s->a, &c, arena_concat(&s->a, s->id, "-"), v,
                        &s->container_said);
    container_wrap(&s->a, &c, NULL, 0, spec);
}

static void on_changed(void *ctx)
{
    const struct node_rt *rt = ctx;
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

static void start(struct setup_run *s)
{
    struct node_rt *rt = s->rt;
    struct arena *a = &s->a;
    const struct setup_task_spec *t = s->task;
    const char *dir = arena_concat(a, rt->root, "/", t->place->dir);
    const struct env v = env_of(s);
    s->script = script_new(a, rt->fleet->log, rt->name);
    const char *as = account_of(s);
    struct task_spec spec = {
        .id = setup_run_try(s),
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
        .confine = node_rt_confine(rt, a, NULL),
    };
    const struct script_label named = {
        .code = FAIL_NODE_SETUP_FAILED,
        .what = words_for(s, "The node's {setup_task}"),
        .remedy = words_for(s, "put the {setup_task} right, then restart the node")};
    add_inputs(s, spec.id, as);
    if (t->container)
        add_container(s, &v, &spec);
    script_command(s->script, &named, &spec, true);
    script_run(s->script, rt->contact.link, on_changed, rt);
}

static void tidy(struct setup_run *s)
{
    const struct script_label remove = {.what = "remove what its container left", .may_fail = true};
    const struct container c = container_of(s, NULL);
    s->tidies = true;
    s->script = script_new(&s->a, s->rt->fleet->log, s->rt->name);
    container_add_removal(s->script, &s->a, &c, arena_concat(&s->a, s->id, "-"));
    script_ask(s->script, &remove, REQUEST(remove_tree, .path = setup_dir(s)));
    script_run(s->script, s->rt->contact.link, on_changed, s->rt);
}

/* --- all tries -------------------------------------------------------------------------------- */

static void refuse(struct setup_run *s, enum failure_code code, const char *why)
{
    struct failure *f = arena_alloc(&s->a, sizeof *f);
    *f = (struct failure){.code = code, .message = why, .exit_code = -1};
    s->why = f;
}

static void begin_try(struct setup_run *s)
{
    const struct place_spec *place = s->task->place;
    const struct node_rt *rt = s->rt;
    if (place->refused)
        refuse(s, place->refused, place->why_refused);
    else if (s->task->container && !node_rt_container_runtime(rt))
        refuse(s, FAIL_CONTAINER_RUNTIME_NOT_FOUND, "The node has no container runtime");
    else
        start(s);
}

void setup_run_note(struct setup_run *s)
{
    s->row = (struct node_setup){.node_id = s->rt->id,
                                 .runs = true,
                                 .start_us = wakes_wall(s->rt->fleet->wakes),
                                 .beside = s->task->beside ? s->id : NULL};
    (void)write_row(s);
}

void setup_run_begin(struct setup_run *s)
{
    if (!s->row.runs)
        setup_run_note(s);
    s->next_us = wakes_mono(s->rt->fleet->wakes);
}

/* Without such a row the first try begins. A node that has had this try does not run it twice. */
void setup_run_resume(struct setup_run *s, int64_t since_us)
{
    struct node_setup row;
    struct err e;
    if (st_node_setup_get(s->rt->fleet->st, &s->a, s->rt->id, &row, &e) > 0 && row.runs &&
        !row.beside && row.start_us >= since_us)
        s->row = row;
    s->row.why = NULL; /* these texts are of an earlier try */
    s->row.container = (struct container_seen){NULL, NULL};
    setup_run_begin(s);
}

void setup_run_free(struct setup_run *s)
{
    if (s->script)
        script_halt(s->script);
    arena_free(&s->a);
}

static void effect_noted(void *ctx, int64_t id, const struct err *why)
{
    struct fleet *fl = ctx;
    struct node_rt *rt = node_rt_find(fl, id);
    if (rt && rt->next_try == NEXT_TRY_WRITTEN)
        rt->next_try = why ? NEXT_TRY_LOST : NEXT_TRY_DURABLE;
    wake_after(fl->wakes, &woken_node, id, why);
}

static void note_next_try(struct setup_run *s)
{
    struct node_rt *rt = s->rt;
    struct wakes *w = rt->fleet->wakes;
    rt->next_try = write_row(s) ? NEXT_TRY_WRITTEN : NEXT_TRY_LOST;
    if (rt->next_try == NEXT_TRY_WRITTEN)
        wake_when_durable(w, effect_noted, rt->fleet, rt->id);
    else
        wake_by(w, &woken_node, rt->id, wakes_mono(w) + WRITE_AGAIN_US);
}

/* Begins the next try when its row is on disk and the pause has ended. False: not yet; the node
 * will be woken. */
static bool begin_next_try(struct setup_run *s)
{
    struct node_rt *rt = s->rt;
    struct wakes *w = rt->fleet->wakes;
    if (rt->next_try == NEXT_TRY_LOST)
        note_next_try(s);
    if (rt->next_try != NEXT_TRY_DURABLE || (s->script && script_busy(s->script)))
        return false;
    if (wakes_mono(w) < s->next_us) {
        wake_by(w, &woken_node, rt->id, s->next_us);
        return false;
    }
    s->next_us = 0;
    s->script = NULL;
    s->why = NULL;
    arena_reset(&s->a);
    begin_try(s);
    return true;
}

static int64_t pause_before(int retry)
{
    int64_t us = RETRY_MIN_US;
    for (int i = 1; i < retry && us < RETRY_MAX_US; i++)
        us *= 2;
    return us < RETRY_MAX_US ? us : RETRY_MAX_US;
}

/* Makes the node forget the try before the present one. The present try is in the row on disk, so
 * no daemon continues with an earlier one. */
static void forget_earlier_try(struct setup_run *s)
{
    if (s->row.retries > 0)
        node_ask(s->rt->contact.link, REQUEST(forget, .task = try_id(s, s->row.retries - 1)), NULL,
                 NULL);
}

/* Records the end of a try. True: this was the last try; false: another try will begin. */
static bool end_try(struct setup_run *s, const struct failure *why)
{
    struct node_setup *row = &s->row;
    struct wakes *w = s->rt->fleet->wakes;
    const int retries = s->task->retries;
    const int64_t now = wakes_wall(w);
    const bool again =
        why && why->code == FAIL_NODE_SETUP_FAILED && (retries < 0 || row->retries < retries);
    forget_earlier_try(s);
    row->runs = again;
    row->end_us = now;
    row->failure = why && !again ? (int)why->code : 0;
    row->has_exit_code = !again && (!why || why->exit_code >= 0);
    row->exit_code = why && !again ? why->exit_code : 0;
    row->why = why && !again ? failure_told(&s->a, why) : NULL;
    row->container.error = container_error(why);
    if (!again) {
        row->beside = NULL;
        (void)write_row(s);
        return true;
    }
    row->retries++;
    row->start_us = row->retry_us = now;
    row->container = (struct container_seen){NULL, NULL};
    s->next_us = wakes_mono(w) + pause_before(row->retries);
    note_next_try(s);
    (void)begin_next_try(s);
    return false;
}

/* Whether the set-up task itself failed, not its node. */
static bool is_the_tasks(const struct failure *why)
{
    static const enum failure_code codes[] = {FAIL_NODE_SETUP_FAILED, FAIL_NO_PROGRAM,
                                              FAIL_FAILED_PULLING_CONTAINER_IMAGE,
                                              FAIL_FAILED_STARTING_CONTAINER};
    bool is = inputs_failed(why);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0] && !is; i++)
        is = why->code == codes[i];
    return is;
}

/* Writes the container's id to the row, for clients that read the task while it runs. */
static void note_container(struct setup_run *s)
{
    const char *id = container_id(&s->a, s->container_said);
    s->container_said = NULL;
    if (!id)
        return;
    s->row.container.id = id;
    (void)write_row(s);
}

bool setup_run_over(struct setup_run *s)
{
    if (s->next_us > 0 && !begin_next_try(s))
        return false;
    note_container(s);
    if (s->script && script_state(s->script) == SCRIPT_RUNNING)
        return false;
    const struct failure *end = s->script ? script_failure(s->script) : s->why;
    if (!s->tidies)
        s->why = end;
    if (s->script && s->task->container && !s->tidies) {
        if (!script_busy(s->script)) /* the next try frees both scripts */
            tidy(s);
        return false;
    }
    if (s->tidies && end && !s->row.beside)
        s->why = end; /* no task may start while the old container cannot be removed */
    s->tidies = false;
    if (s->why && s->script && !is_the_tasks(s->why) && !s->row.beside)
        return true;
    return end_try(s, s->why);
}
