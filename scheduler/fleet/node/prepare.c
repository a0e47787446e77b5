/* SPDX-License-Identifier: MIT
 *
 * Makes a node ready for runs: ends tasks of the node's earlier use, removes their files, mounts
 * the pool's volumes, runs its setup task. Repeatable: every step is idempotent. The setup task's
 * id contains the time of this preparation's decision and the daemon's epoch, so that a restarted
 * daemon finds the same task again instead of running it twice. When the node is idle it forgets
 * the task, before any run starts there. So a database backup from the middle of a preparation,
 * restored after runs used the node, finds no task to continue.
 */
#include <stdlib.h>
#include <string.h>

#include "model/states.h"
#include "scheduler/fleet/container/container.h"
#include "scheduler/fleet/copy/input_files.h"
#include "scheduler/fleet/mount/mounts.h"
#include "scheduler/fleet/mount/own_shares.h"
#include "scheduler/fleet/node/secret_refs.h"
#include "scheduler/fleet/node/setup.h"
#include "scheduler/fleet/script/env.h"

struct node_prep {
    struct arena a;
    struct node_setup_spec spec;
    struct script *script; /* NULL: the preparation failed before it had a script */
    struct mount_secret *secrets;
    const char *task_prefix, *setup_id;
    bool wipe;      /* the files of the node's users are removed */
    bool dedicated; /* the class of the node */
    bool made;      /* all steps are done, except a set-up task in the front's place */
    struct setup_run run;
    const struct failure *verdict; /* after the end of its script; NULL: success */
    bool resumed;       /* the node still has the setup task: its files must not be removed */
    int64_t killing_us; /* since when the end of a killed task is awaited (monotonic); 0: no kill is
                           pending */
    bool failed; /* nothing more is sent; the struct is kept because replies may still come */
    struct failure why; /* code NULL: cancelled, or reported already */
};

static void prep_free(struct node_prep *prep)
{
    if (prep->script)
        script_halt(prep->script);
    setup_run_free(&prep->run);
    node_setup_wipe(&prep->spec);
    mounts_wipe(prep->secrets);
    arena_free(&prep->a);
    free(prep);
}

static void abandon(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    rt->prep = NULL;
    if (prep)
        prep_free(prep);
}

#define PREPARE_REMEDY                                                                             \
    "solve the problem in the message, then resize the {pool}: the node is prepared again"

static const char *in_words(struct node_rt *rt, const char *text)
{
    return front_text(words_of_node(rt), &rt->prep->a, text);
}

static void prep_fail(struct node_prep *prep, const struct failure *f)
{
    prep->failed = true;
    prep->why = *f;
    prep->why.message = arena_strdup(&prep->a, f->message);
}

static void prep_fail_text(struct node_rt *rt, enum failure_code code, const char *step,
                           const char *message)
{
    const struct failure f = {.code = code,
                              .message = message,
                              .step = step,
                              .remedy = in_words(rt, PREPARE_REMEDY),
                              .exit_code = -1};
    prep_fail(rt->prep, &f);
}

/* Whether the preparation has wiped the node. The set-up task may still fail. */
static bool has_wiped(const struct node_prep *prep)
{
    return prep->wipe && prep->script && script_state(prep->script) == SCRIPT_DONE;
}

/* The failure is not written in the script's callback: a request also fails when its link breaks,
 * and then the preparation is abandoned before the node is reconciled. No new try begins until the
 * failure is written. If a wipe has not freed the disk, the disk is the cause. */
bool node_prepare_report(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    if (!prep || !prep->failed || !prep->why.code)
        return false;
    bool full = prep->wipe && node_room_closed(rt) && prep->why.code != FAIL_TASK_NOT_KILLED;
    const struct failure why = full ? node_room_failure(&prep->a, rt) : prep->why;
    rt->wiped = has_wiped(prep);
    node_lose(rt, &why);
    prep->why.code = FAIL_NONE;
    return true;
}

static void on_forgotten(void *ctx, const struct err *why)
{
    struct node_rt *rt = ctx;
    if (!why)
        node_set_text(&rt->setup.id, NULL);
}

void node_prepare_forget(struct node_rt *rt)
{
    if (rt->setup.id && rt->setup.durable)
        node_ask(rt->contact.link, REQUEST(forget, .task = rt->setup.id), on_forgotten, rt);
}

void node_prepare_is_durable(struct node_rt *rt)
{
    if (!rt->setup.id)
        return;
    rt->setup.durable = true;
    if (node_rt_usable(rt))
        node_prepare_forget(rt);
}

static void effect_prepared(void *ctx, int64_t id, const struct err *why)
{
    struct fleet *fl = ctx;
    struct node_rt *rt = node_rt_find(fl, id);
    if (rt && !why)
        node_prepare_is_durable(rt);
    wake_after(fl->wakes, &woken_node, id, why);
}

static void prepared(struct node_rt *rt)
{
    const struct st_node_move m = {.id = rt->id,
                                   .from = NODE_PREPARING,
                                   .to = node_next(NODE_PREPARING, NODE_EV_PREPARED),
                                   .now_us = wakes_wall(rt->fleet->wakes),
                                   .emptied = has_wiped(rt->prep)};
    struct err e = {0};
    const struct setup_task_spec *t = rt->prep->spec.setup_task;
    if (t && !t->beside)
        node_set_text(&rt->setup.id, t->place ? setup_run_try(&rt->prep->run) : rt->prep->setup_id);
    abandon(rt);
    rt->wiped = false;
    rt->no_unknown = true;
    if (st_node_move(rt->fleet->st, &m, &e) == 0) {
        LOG_INFO(rt->fleet->log, "node.idle", LF_STR("node", rt->name));
        fleet_pool_changed(rt->fleet, rt->pool_id);
    } else if (e.code != ERR_CONFLICT) {
        LOG_WARN(rt->fleet->log, "node.idle_not_written", LF_STR("node", rt->name),
                 LF_STR("why", e.msg));
    } /* otherwise the node got state leaving meanwhile; the next reconcile handles this state */
    wake_when_durable(rt->fleet->wakes, effect_prepared, rt->fleet, rt->id);
}

static void on_changed(void *ctx)
{
    struct node_rt *rt = ctx;
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

/* --- the setup task ------------------------------------------------------------------------- */

static const char *setup_dir(struct arena *a, struct env *v, const struct setup_task_spec *t,
                             const char *home, struct err *e)
{
    if (!t->std_prefix || !*t->std_prefix)
        return home;
    const char *prefix = env_expand(v, t->std_prefix, e);
    if (!prefix)
        return NULL;
    if (prefix[0] != '/') /* a relative path is below the directory of the set-up task */
        prefix = arena_printf(a, "%s/%s", home, prefix);
    return t->std_suffix ? arena_printf(a, "%s/%s", prefix, t->std_suffix) : prefix;
}

static int add_setup(struct node_rt *rt, struct err *e)
{
    struct node_prep *prep = rt->prep;
    struct arena *a = &prep->a;
    const struct front_words *w = words_of_node(rt);
    const struct setup_task_spec *t = prep->spec.setup_task;
    const char *home = arena_printf(a, "%s/setup", rt->root);
    struct env v;
    env_init(&v, a);
    env_add(&v, t->env, t->n_env);
    env_set_var(&v, w, VAR_POOL_MOUNTS, NULL, node_mount_root(a, words_of_node(rt), rt->root));
    env_set_var(&v, w, VAR_NODE, NULL, rt->name);
    env_set_var(&v, w, VAR_GPU_COUNT, NULL, arena_printf(a, "%d", rt->seen.has.gpus));
    const char *dir = setup_dir(a, &v, t, home, e);
    if (!dir)
        return err_prefix(e, "%s", w->std_prefix);
    env_set_var(&v, w, VAR_STD_DIR, NULL, dir);
    const struct task_spec spec = {
        .id = prep->setup_id,
        .command_line = t->command_line,
        .cwd = home,
        .env = v.items,
        .n_env = v.n,
        .stdout_path = arena_printf(a, "%s/stdout-%s.txt", dir, rt->name),
        .stderr_path = arena_printf(a, "%s/stderr-%s.txt", dir, rt->name),
        .step = w->setup_task,
        .confine = node_rt_confine(rt, a, &prep->spec.mounts),
    };
    const struct script_label named = {
        .code = FAIL_NODE_SETUP_FAILED,
        .what = in_words(rt, "The node's {setup_task}"),
        .remedy = in_words(
            rt,
            "correct the {setup_task} (its output is under {std_prefix}), then resize the {pool}")};
    script_command(prep->script, &named, &spec, true);
    return 0;
}

/* --- a set-up task with a separate place ------------------------------------------------------ */

/* Any failure is a failure of the set-up task, unless the node itself failed. */
static const struct failure *setup_verdict(struct node_prep *prep)
{
    const struct failure *why = prep->run.why;
    if (!why || prep->run.row.runs)
        return why;
    struct failure *f = arena_alloc(&prep->run.a, sizeof *f);
    *f = *why;
    f->code = FAIL_NODE_SETUP_FAILED;
    return f;
}

/* Takes the next step of a preparation whose script has ended. True: the preparation has ended. */
static bool setup_over(struct node_rt *rt, const struct node *row)
{
    struct node_prep *prep = rt->prep;
    const struct setup_task_spec *t = prep->spec.setup_task;
    if (!prep->made) {
        prep->verdict = script_failure(prep->script);
        if (!t || !t->place || prep->verdict)
            return true;
        prep->made = true;
        prep->run = (struct setup_run){
            .rt = rt, .task = t, .id = prep->setup_id, .dedicated = prep->dedicated};
        if (t->beside) {
            setup_run_note(&prep->run); /* start_task.c continues */
            return true;
        }
        setup_run_resume(&prep->run, row->state_us);
    }
    if (!setup_run_over(&prep->run))
        return false;
    prep->verdict = setup_verdict(prep);
    return true;
}

/* --- the steps before the set-up task --------------------------------------------------------- */

static struct script_label label(struct node_rt *rt, enum failure_code code, const char *what)
{
    return (struct script_label){
        .code = code, .what = what, .remedy = in_words(rt, PREPARE_REMEDY)};
}

/* Remains of this node's earlier use must not disturb the next run. Processes are ended first,
 * because their open files cannot be removed before; then mounts are removed, because nothing below
 * a mount point may be removed while it is mounted. */
static void add_cleaning(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    struct script *sc = prep->script;
    const struct setup_task_spec *t = prep->spec.setup_task;
    struct err e;
    const char *beside;
    const char *runs = arena_concat(&prep->a, rt->root, "/" RUNS_DIR);
    const char *remains = in_words(rt, "remove what earlier {runs} left");
    const struct script_label kill = label(rt, FAIL_NODE_PREPARATION_FAILED, "kill stray tasks"),
                              rest = label(rt, FAIL_NODE_PREPARATION_FAILED, remains),
                              known = {.what = "kill the last set-up task", .may_fail = true};
    if (node_setup_beside(rt, &prep->a, &beside, &e) == 0 && beside &&
        strcmp(beside, prep->setup_id) != 0)
        script_kill_tasks(sc, &known, beside, NULL, true, NULL);
    script_kill_tasks(sc, &kill, "", prep->setup_id, true, &prep->resumed);
    script_skip_if(sc, &prep->resumed);
    if ((rt->machine || (t && t->container)) && rt->seen.runtimes && *rt->seen.runtimes)
        container_add_sweep(sc, &prep->a, words_of_node(rt), rt->root,
                            arena_printf(&prep->a, "%ssweep", prep->task_prefix));
    mount_release_steps(rt, sc, &prep->a);
    script_ask(sc, &rest, REQUEST(remove_tree, .path = runs));
    /* The front's directory keeps its owner's account, unless the node is wiped. */
    if (!words_of_node(rt)->home || prep->wipe)
        node_account_release_step(rt, &prep->a, sc, NULL);
    script_skip_if(sc, NULL);
}

/* Makes the pool's administrator account, if the agent can make accounts; otherwise people log in
 * with the accounts that they had before. First removes accounts of an earlier pool, because its
 * release may have been interrupted. */
static void add_admin(struct node_rt *rt)
{
    const struct admin_user_spec *admin = &rt->prep->spec.admin;
    const struct request_user_add user = node_user_of(admin);
    const struct script_label
        others = label(rt, FAIL_NODE_PREPARATION_FAILED, "remove old accounts"),
        make = {
            .code = FAIL_ADMIN_USER_NOT_MADE,
            .what = "make the administrator's account",
            .remedy = in_words(
                rt, "give the {pool} another {admin_name}, which no account of the machine has")};
    if (!rt->machine || !rt->seen.is_root || !admin->name)
        return;
    script_skip_if(rt->prep->script, &rt->prep->resumed);
    script_ask(rt->prep->script, &others, REQUEST(user_remove, .name = NULL));
    script_skip_if(rt->prep->script, NULL);
    script_ask(rt->prep->script, &make, REQUEST_OF(user_add, user));
}

/* False: the failure was recorded for the preparation. */
static bool add_mounts(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    struct arena *a = &prep->a;
    const struct node_mounts m = {.rt = rt,
                                  .a = a,
                                  .script = prep->script,
                                  .mount_root = node_mount_root(a, words_of_node(rt), rt->root),
                                  .owner = OWN_SHARES_NODE,
                                  .task_prefix = prep->task_prefix,
                                  .secrets = &prep->secrets};
    struct failure why;
    if (mounts_add(&m, &prep->spec.mounts, &why))
        return true;
    prep_fail(prep, &why);
    return false;
}

/* The directory of the front. Its users' files stay, unless the node is wiped; the set-up task's
 * files are removed. */
static void add_home(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    struct arena *a = &prep->a;
    const struct node_setup_spec *s = &prep->spec;
    const char *home = words_of_node(rt)->home;
    const struct script_label gone =
                                  label(rt, FAIL_NODE_PREPARATION_FAILED, "remove what was left"),
                              dirs = label(rt, FAIL_NODE_PREPARATION_FAILED, "make directories");
    if (!home)
        return;
    script_skip_if(prep->script, &prep->resumed);
    if (prep->wipe)
        script_ask(prep->script, &gone,
                   REQUEST(remove_tree, .path = arena_concat(a, rt->root, "/", home)));
    if (s->setup_task && s->setup_task->place)
        script_ask(prep->script, &gone,
                   REQUEST(remove_tree,
                           .path = arena_concat(a, rt->root, "/", s->setup_task->place->dir)));
    script_skip_if(prep->script, NULL);
    const char **paths = arena_alloc(a, (s->n_dirs + 1) * sizeof *paths);
    for (size_t i = 0; i < s->n_dirs; i++)
        paths[i] = arena_concat(a, rt->root, "/", s->dirs[i]);
    if (s->account)
        node_account_take_at(rt, a, prep->script, s->account, home, true);
    script_ask(prep->script, &dirs,
               REQUEST(make_dirs, .paths = paths, .n_paths = s->n_dirs,
                       .as = s->account ? node_rt_run_account(rt, a, s->account) : NULL));
}

/* Further accounts: for people and for tasks. If the node is wiped, earlier accounts are removed
 * first. */
static void add_users(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    const struct script_label others =
        label(rt, FAIL_NODE_PREPARATION_FAILED, "remove old accounts");
    bool wipes = prep->wipe && rt->machine && rt->seen.is_root;
    script_skip_if(prep->script, &prep->resumed);
    if (wipes && !prep->spec.admin.name)
        script_ask(prep->script, &others, REQUEST(user_remove, .name = NULL));
    script_skip_if(prep->script, NULL);
    node_users_step(rt, &prep->a, prep->script, &prep->spec);
}

/* A link to a package that the pool does not use any more would keep the package on disk. */
static void add_packages(struct node_rt *rt)
{
    const char *links = words_of_node(rt)->pool_archive_links;
    const struct script_label gone =
        label(rt, FAIL_NODE_PREPARATION_FAILED, "remove links to packages");
    script_skip_if(rt->prep->script, &rt->prep->resumed);
    if (links)
        script_ask(rt->prep->script, &gone,
                   REQUEST(remove_tree, .path = arena_concat(&rt->prep->a, rt->root, "/", links)));
    script_skip_if(rt->prep->script, NULL);
    const struct inputs in = {.script = rt->prep->script,
                              .a = &rt->prep->a,
                              .files = rt->fleet->cfg.files,
                              .transfers = rt->fleet->cfg.transfers,
                              .root = rt->root};
    inputs_add(&in, &rt->prep->spec.packages);
}

/* Adds steps that pull the images of a pool, so that its first run does not wait for them. Without
 * a runtime these are skipped; the run's error then names the missing runtime. */
static void add_images(const struct node_rt *rt, struct arena *a, struct script *sc,
                       const struct node_setup_spec *spec, const char *task_prefix)
{
    const char *runtime = node_rt_container_runtime(rt);
    const char *dir = arena_concat(a, rt->root, "/images");
    const struct script_label tidy = {.what = "remove the output of pulls", .may_fail = true};
    for (size_t i = 0; runtime && i < spec->n_images; i++) {
        const struct container c = {.words = words_of_node(rt),
                                    .spec = &spec->images[i],
                                    .runtime = runtime,
                                    .name = "",
                                    .root = rt->root,
                                    .run_dir = dir,
                                    .log_path = "/dev/null"};
        container_add_pull(sc, a, &c, arena_printf(a, "%spull-%zu", task_prefix, i));
    }
    if (runtime && spec->n_images > 0)
        script_ask(sc, &tidy, REQUEST(remove_tree, .path = dir));
}

static void make_script(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    struct arena *a = &prep->a;
    struct err e = {0};
    const struct script_label dirs = label(rt, FAIL_NODE_PREPARATION_FAILED, "make directories");
    const char **mounts = arena_alloc(a, sizeof *mounts), **runs = arena_alloc(a, sizeof *runs);
    *mounts = node_mount_root(a, words_of_node(rt), rt->root);
    *runs = arena_concat(a, rt->root, "/" RUNS_DIR);
    prep->script = script_new(a, rt->fleet->log, rt->name);
    add_cleaning(rt);
    add_admin(rt);
    add_home(rt);
    add_users(rt);
    add_packages(rt);
    script_ask(prep->script, &dirs, REQUEST(make_dirs, .paths = mounts, .n_paths = 1));
    script_ask(prep->script, &dirs,
               REQUEST(make_dirs, .paths = runs, .n_paths = 1,
                       .as = node_rt_has_accounts(rt) ? NULL : node_rt_run_account(rt, a, "")));
    if (!add_mounts(rt))
        return;
    add_images(rt, &prep->a, prep->script, &prep->spec, prep->task_prefix);
    const struct setup_task_spec *t = prep->spec.setup_task;
    if (t && !t->place && add_setup(rt, &e) != 0)
        prep_fail_text(rt, FAIL_NODE_SETUP_FAILED, words_of_node(rt)->setup_task, e.msg);
    else
        script_run(prep->script, rt->contact.link, on_changed, rt);
}

/* --- the preparation ------------------------------------------------------------------------ */

static void name_tasks(struct node_rt *rt, const struct node *row)
{
    struct node_prep *prep = rt->prep;
    const char *when = arena_printf(&prep->a, "%lld", (long long)row->state_us);
    prep->task_prefix = node_task_prefix(rt, &prep->a, row->epoch, when);
    if (*row->epoch)
        prep->setup_id = arena_printf(&prep->a, "%ssetup", prep->task_prefix);
    else /* decided before epochs were recorded, and started under this name */
        prep->setup_id =
            arena_printf(&prep->a, "n%lld-setup-%lld", (long long)rt->id, (long long)row->state_us);
    rt->setup.durable = false;
    node_set_text(&rt->setup.id, NULL); /* the node forgets all set-up tasks but this one */
}

/* Begins a preparation; abandons it if the shares that it mounts are not ready yet. */
static void begin(struct node_rt *rt, const struct node *row)
{
    struct node_prep *prep = rt->prep;
    struct err e = {0};
    rt->wiped = false;
    prep->wipe = row->wish == IS_BEING_WIPED;
    prep->dedicated = row->vm_priority == VM_DEDICATED;
    name_tasks(rt, row);
    if (node_load_pool(rt, &prep->a, &prep->spec, &e) != 0) {
        prep_fail_text(rt, FAIL_NODE_PREPARATION_FAILED, in_words(rt, "read the {pool}"), e.msg);
        return;
    }
    if (mounts_await(rt, OWN_SHARES_NODE, &prep->spec.mounts, &woken_node, rt->id)) {
        abandon(rt);
        return;
    }
    if (prep->spec.refused) {
        prep_fail_text(rt, prep->spec.refused, in_words(rt, "read the {pool}"),
                       prep->spec.why_refused);
        return;
    }
    struct failure why;
    const struct secret_reader reader = {
        .front = rt->front, .st = rt->fleet->st, .a = &prep->a, .pool_id = rt->pool_id};
    if (secret_refs_of_pool(&reader, &prep->spec, &why))
        make_script(rt);
    else
        prep_fail(prep, &why);
}

/* Fails the preparation if a killed task does not end: no other task may start while it runs. */
static void check_kill(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    struct failure why;
    int64_t until;
    const char *task = prep->failed ? NULL : script_awaits_end_of(prep->script);
    if (!task)
        prep->killing_us = 0;
    else if (node_kill_is_overdue(rt, task, &prep->killing_us, &until, &prep->a, &why))
        prep_fail(prep, &why);
    else
        wake_by(rt->fleet->wakes, &woken_node, rt->id, until);
}

/* Whether a stage of the preparation must still be prolonged. In strict mode it takes as long as in
 * the real service. */
static bool goes_on(const struct node_rt *rt, const struct node *row, enum front_step step)
{
    int64_t takes_us = front_takes_us(rt->front, step, row->pool_id), before_us = 0;
    if (takes_us == 0)
        return false;
    if (row->state_us == row->created_us)
        before_us += front_takes_us(rt->front, STEP_NODE_CREATION, row->pool_id);
    if (step == STEP_NODE_SETUP)
        before_us += front_takes_us(rt->front, STEP_NODE_START, row->pool_id);
    return wake_until_over(rt->fleet->wakes, &woken_node, rt->id, row->state_us,
                           before_us + takes_us);
}

static bool is_starting(const struct node_rt *rt, const struct node *row)
{
    return !rt->prep && goes_on(rt, row, STEP_NODE_START);
}

static bool is_setting_up(const struct node_rt *rt, const struct node *row)
{
    const struct setup_task_spec *t = rt->prep->spec.setup_task;
    return t && !t->beside && goes_on(rt, row, STEP_NODE_SETUP);
}

void node_prepare(struct node_rt *rt, const struct node *row)
{
    if (is_starting(rt, row))
        return;
    if (!rt->prep) {
        node_set_text(&rt->account, NULL);
        rt->prep = xcalloc(1, sizeof *rt->prep);
        arena_init(&rt->prep->a);
        own_shares_end_runs(rt);
        begin(rt, row);
    }
    struct node_prep *prep = rt->prep;
    if (!prep)
        return; /* begin() has abandoned the preparation */
    check_kill(rt);
    if (!prep->failed && script_state(prep->script) != SCRIPT_RUNNING && !setup_over(rt, row))
        return; /* the set-up task has just begun, or still runs */
    if (!prep->failed && script_state(prep->script) != SCRIPT_RUNNING && prep->verdict)
        prep_fail(prep, prep->verdict);
    if (prep->failed)
        node_prepare_report(rt);
    else if (script_state(prep->script) != SCRIPT_RUNNING && !is_setting_up(rt, row))
        prepared(rt);
}

static void on_task_ended(struct node_rt *rt, const struct task_status *st)
{
    struct node_prep *prep = rt->prep;
    if (!prep || prep->failed)
        return;
    if (prep->script)
        script_task_ended(prep->script, st);
    if (prep->run.script)
        script_task_ended(prep->run.script, st);
}

void node_prepare_cancel(struct node_rt *rt)
{
    if (rt->prep)
        rt->prep->failed = true;
}

bool node_rt_may_change_users(const struct node_rt *rt)
{
    bool makes_accounts = rt->prep && !rt->prep->made;
    return node_rt_usable(rt) && !makes_accounts && !rt->release;
}

bool node_prepare_over(const struct node_rt *rt)
{
    return rt->prep && rt->prep->failed;
}

const struct node_work node_prepare_work = {
    .link_down = abandon, .task_ended = on_task_ended, .free = abandon};
