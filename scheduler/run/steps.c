/* SPDX-License-Identifier: MIT
 *
 * A run's requests to its nodes. A node answers in order, so no request waits for the reply to an
 * earlier one: from allocation to the start of the command there is one round trip. A failed
 * request is judged only in the run's next turn, because a breaking link fails all its requests,
 * and that does not concern the run.
 */
#include <signal.h>
#include <string.h>

#include "lib/timefmt.h"
#include "scheduler/fleet/copy/input_files.h"
#include "scheduler/run/outputs.h"
#include "scheduler/run/remote.h"
#include "scheduler/run/run_priv.h"
#include "scheduler/run/step.h"

static void note_failure(struct run_slot *slot, const struct failure *f, bool nodes_fault)
{
    slot->has_error = true;
    slot->error_us = wakes_mono(slot->run->runs->wakes);
    slot->nodes_fault = nodes_fault;
    slot->error = *f;
    wake(slot->run->runs->wakes, &woken_run, slot->run->row.id);
}

static void note_error(struct run_step *st, const struct err *why)
{
    struct run_slot *slot = st->slot;
    const struct failure f = {.code = st->code,
                              .message = arena_printf(&slot->a, "%s: %s", st->what, why->msg),
                              .node = slot->node_name,
                              .step = st->what,
                              .exit_code = -1};
    if (!slot->has_error)
        note_failure(slot, &f, st->on_node && (why->code == ERR_IO || why->code == ERR_NODE));
}

static void on_run(void *ctx, const struct err *why, const struct task_status *status)
{
    struct run_step *st = ctx;
    struct run_slot *slot = st->slot;
    const struct place_spec *place = slot->run->spec.place;
    if (!step_answered(slot))
        return;
    if (!why && place && status->state == TASK_RUNNING)
        node_rt_account_works(slot->tenant.node, &slot->a, place);
    if (why) {
        note_error(st, why);
        return;
    }
    st->task->runs = status->state == TASK_RUNNING;
    verdict_task(slot->run, st->task, status);
}

/* --- starting ------------------------------------------------------------------------------- */

/* The variables of the node, then the variables of the process: a later one hides an earlier
 * one. */
static struct env env_of(struct run_slot *slot, const struct kv *own, size_t n_own)
{
    struct env v;
    env_init(&v, &slot->a);
    env_add(&v, slot->env.env.items, slot->env.env.n);
    env_add(&v, own, n_own);
    return v;
}

static void take_account(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    const struct place_spec *place = run->spec.place;
    struct node_rt *rt = slot->tenant.node;
    if (!place)
        node_account_take_step(rt, &slot->a, slot->script,
                               &(struct node_account){.dir = run->dir,
                                                      .first_root = run->slots[0].root,
                                                      .contained = run->spec.container});
    else
        node_place_account_take_step(rt, &slot->a, slot->script, place, run->dir,
                                     run->spec.container);
    if (place && place->admin)
        slot->sudo_dir = arena_strdup(&run->a, node_sudo_step(rt, &slot->a, slot->script));
}

/* The search path with the daemon's helper programs for a program of a front; NULL: none. */
static const char *path_of(struct run_slot *slot)
{
    const char *remote = remote_path(slot, &slot->a);
    if (!slot->sudo_dir || !remote)
        return slot->sudo_dir ? slot->sudo_dir : remote;
    return arena_concat(&slot->a, slot->sudo_dir, ":", remote);
}

static void send_task(struct run_slot *slot, struct run_task *task)
{
    struct arena *a = &slot->a;
    const struct launch_process *p = task->process;
    struct kv *own;
    size_t n_own = launch_process_env(a, p, &own);
    const struct env env = n_own > 0 ? env_of(slot, own, n_own) : slot->env.env;
    struct task_spec spec = {
        .id = task->id,
        .command_line = p->program ? p->command_line : remote_wrap(slot, a, p->command_line),
        .argv = p->program ? p->program->argv : NULL,
        .n_argv = p->program ? p->program->n : 0,
        .cwd = slot->env.run_dir,
        .env = env.items,
        .n_env = env.n,
        .path = p->program ? path_of(slot) : NULL,
        .stdout_path = slot_std_path(slot, p->stdout_name),
        .stderr_path = slot_std_path(slot, p->stderr_name),
        .log_path = slot->env.log_path,
        .step = task->step,
        .title = p->shown || !remote_is_offered(slot->run) ? p->shown : p->command_line,
        .user = slot_account(slot, a),
        .keep_children = p->leaves,
        .limits = slot_limits(slot),
        .confine = node_rt_confine(slot->tenant.node, a, &slot->run->spec.mounts),
        .view = slot_view(slot, a),
    };
    if (slot->container.runtime)
        container_wrap(a, &slot->container, own, n_own, &spec);
    task->state = RT_SENT;
    task->asked = true;
    struct run_step *st = step_new(slot, FAIL_RUN_START_FAILED, task->step);
    st->task = task;
    st->on_node = true; /* faults of the run itself arrive as the status of its task */
    node_run(node_rt_link(slot->tenant.node), &spec, on_run, st);
}

const char *slot_task_prefix(const struct run_slot *slot)
{
    return slot->task_prefix;
}

static int compute_env(struct run_slot *slot, struct err *e)
{
    struct live_run *run = slot->run;
    if (slot->env.run_dir)
        return 0;
    const struct launch_input in = run_launch_input(run);
    if (launch_env(&run->a, &in, slot->rank, &slot->env, e) == 0)
        return 0;
    slot->env.run_dir = NULL;
    return -1;
}

static bool make_env(struct run_slot *slot)
{
    struct err e = {0};
    if (compute_env(slot, &e) == 0)
        return true;
    note_error(
        &(struct run_step){.slot = slot, .code = FAIL_RUN_PATH_NOT_RESOLVED, .what = "launch"}, &e);
    return false;
}

/* The directory of this attempt: no other attempt uses it. */
static const char *own_run_dir(struct run_slot *slot)
{
    const struct run *r = &slot->run->row;
    return launch_run_dir(&slot->a, slot->root, r->guid, r->attempt);
}

/* A run that was made only to clean up (after a crash) has no environment: the paths that do not
 * depend on it are enough. */
static const char *run_dir(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    if (run->spec.place)
        return launch_place_dir(&slot->a, slot->root, run->spec.place, 0);
    return own_run_dir(slot);
}

static const char *mounts_owner(struct run_slot *slot)
{
    const struct live_run *run = slot->run;
    return arena_printf(&slot->a, "%s-%d", run->row.guid, run->row.attempt);
}

static struct node_mounts mounts_of(struct run_slot *slot)
{
    return (struct node_mounts){.rt = slot->tenant.node,
                                .a = &slot->a,
                                .script = slot->script,
                                .mount_root = arena_printf(&slot->a, "%s/mounts", run_dir(slot)),
                                .owner = mounts_owner(slot),
                                .task_prefix = slot_task_prefix(slot),
                                .secrets = &slot->secrets};
}

/* Opens the pool's shares to the run's account; the node's preparation has mounted them. */
static void open_shares(struct run_slot *slot)
{
    struct node_mounts mounts = mounts_of(slot);
    if (!node_rt_is_local(slot->tenant.node) || !node_rt_has_accounts(slot->tenant.node))
        return;
    mounts.mount_root = node_mount_root(&slot->a, words_of(slot->run), slot->root);
    mounts_open_shares(&mounts, &slot->run->spec.pool_mounts);
}

/* Adds the steps that make directories; directories on mounts are made after mounting. False: a
 * volume cannot be mounted. */
static bool add_directories(struct run_slot *slot, const char *as)
{
    struct arena *a = &slot->a;
    const struct front_words *w = words_of(slot->run);
    const struct script_label
        make_own = {.code = FAIL_RUN_DIRECTORY_FAILED,
                    .what = front_text(w, a, "make {run} directory"),
                    .on_node = true},
        make_outer =
            {.code = FAIL_RUN_DIRECTORY_FAILED,
             .what = "make output directories",
             .remedy =
                 "check that the folder of the mount exists: batchaid share-path ACCOUNT SHARE (or "
                 "--container ACCOUNT CONTAINER) prints it, and creates it if it is missing"},
        write_hosts = {.code = FAIL_RUN_DIRECTORY_FAILED, .what = "write host file"};
    const struct launch_env *env = &slot->env;
    const struct node_mounts mounts = mounts_of(slot);
    const char **own = arena_alloc(a, 2 * sizeof *own);
    size_t n_own = 0;
    bool elsewhere = slot_shares_outside(slot);
    if (slot->run->spec.mounts.n > 0)
        own[n_own++] = env->run_mounts;
    if (!elsewhere)
        own[n_own++] = env->shared_dir;
    if (n_own > 0)
        script_ask(slot->script, &make_own,
                   REQUEST(make_dirs, .paths = own, .n_paths = n_own, .as = as));
    if (elsewhere)
        shared_dir_make(slot, as);
    open_shares(slot);
    if (!mounts_add(&mounts, &slot->run->spec.mounts, &slot->error)) {
        slot->has_error = true;
        return false;
    }
    const char **outer = arena_alloc(a, (env->n_outputs + 1) * sizeof *outer);
    outer[0] = env->std_dir;
    for (size_t i = 0; i < env->n_outputs; i++)
        outer[i + 1] = env->output_dirs[i];
    script_ask(slot->script, &make_outer,
               REQUEST(make_dirs, .paths = outer, .n_paths = env->n_outputs + 1, .as = as));
    script_ask(slot->script, &write_hosts,
               REQUEST(write_file, .path = env->hostfile_path, .text = env->hostfile_text,
                       .mode = 0644, .as = as));
    remote_add_start(slot, as);
    shared_dir_mount(slot, as);
    return true;
}

static void add_to_log(struct run_slot *slot, const struct script_label *label, const char *as,
                       const char *text)
{
    script_ask(slot->script, label,
               REQUEST(append, .path = slot->env.log_path, .text = text, .as = as));
}

static void add_first_line(struct run_slot *slot, const char *as)
{
    struct live_run *run = slot->run;
    const struct front_words *w = words_of(run);
    const struct script_label label = {.code = FAIL_RUN_DIRECTORY_FAILED,
                                       .what = front_text(w, &slot->a, WRITE_LOG)};
    char now[TIMEFMT_SIZE];
    timefmt_fixed(wakes_wall(run->runs->wakes), now);
    slot->begun = true;
    add_to_log(slot, &label, as,
               front_say(w, &slot->a, "%s {run} %s, attempt %d: node %s, rank %d of %d\n", now,
                         run->name, run->row.attempt, slot->node_name, slot->rank, run->n_slots));
}

/* Fills slot->container. False: the node has no container runtime. A run that is only cleaned up
 * after a crash has no environment, but the container's name is known. */
static bool find_container(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    struct arena *a = &slot->a;
    bool known = slot->env.run_dir != NULL, placed = run->spec.place != NULL;
    const char *own = placed ? own_run_dir(slot) : known ? slot->env.run_dir : run_dir(slot);
    slot->container = (struct container){
        .words = words_of(run),
        .spec = run->spec.container,
        .runtime = node_rt_container_runtime(slot->tenant.node),
        .site = fleet_site(run->runs->fleet),
        .agent_is_root = node_rt_is_root(slot->tenant.node),
        .name = arena_printf(a, "batchai-%s-%d-r%d", run->row.guid, run->row.attempt, slot->rank),
        .root = slot->root,
        .run_dir = own,
        .work_dir = known ? slot->env.run_dir : own,
        .mounts_dir = node_mount_root(a, words_of(run), slot->root),
        .shared_dir = known ? slot->env.shared_dir : own,
        .log_path = placed  ? arena_concat(a, own, "/container.log")
                    : known ? slot->env.log_path
                            : "/dev/null",
        .user = slot_account(slot, a),
        .gpus = slot_gpus(slot),
        .devices = slot->devices,
        .gpu_files = node_rt_gpu_devices(slot->tenant.node, a, slot->devices),
        .limits = slot_limits(slot),
        .confine = node_rt_confine(slot->tenant.node, a, &run->spec.mounts)};
    return slot->container.runtime != NULL;
}

/* Inside a container, its GPUs are numbered from 0. */
static struct env container_env(struct run_slot *slot)
{
    struct env v = env_of(slot, NULL, 0);
    const char *list = "";
    bool amd = node_rt_gpus_are_amd(slot->tenant.node);
    for (int i = 0; slot->devices && i < slot->takes.gpus; i++)
        list = arena_printf(&slot->a, "%s%s%d", list, i > 0 ? "," : "", i);
    if (slot->devices)
        env_set(&v, amd ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES", list);
    return v;
}

static bool add_container(struct run_slot *slot)
{
    if (find_container(slot)) {
        const struct env env = container_env(slot);
        container_add_start(slot->script, &slot->a, &slot->container, slot_task_prefix(slot), &env,
                            &slot->container_said);
        return true;
    }
    slot->has_error = true;
    slot->error = (struct failure){
        .code = FAIL_CONTAINER_RUNTIME_NOT_FOUND,
        .message = "The node has no container runtime",
        .node = slot->node_name,
        .step = "start of the container",
        .remedy = front_text(words_of(slot->run), &slot->a,
                             "install docker or podman on the node and permit the agent's account "
                             "to use it, or leave out {container}"),
        .exit_code = -1};
    wake(slot->run->runs->wakes, &woken_run, slot->run->row.id);
    return false;
}

/* Adds the steps that copy the input files, for which the commands wait. A command that may have
 * begun has its files already, and may have changed them since. So the node is asked first whether
 * it has the task; if it does, nothing is copied. */
static void add_inputs(struct run_slot *slot, const char *as)
{
    struct live_run *run = slot->run;
    const struct place_spec *place = run->spec.place;
    const struct run_task *first = slot_first_task(slot);
    const struct script_label look = {.code = FAIL_RUN_START_FAILED, .what = "look for the task"};
    if (!first || !run_waits_for_files(run))
        return;
    slot->has_inputs = false;
    if (first->state != RT_NOT_SENT)
        script_find_task(slot->script, &look, first->id, &slot->has_inputs);
    script_skip_if(slot->script, &slot->has_inputs);
    const struct inputs in = {.script = slot->script,
                              .a = &slot->a,
                              .files = fleet_files(run->runs->fleet),
                              .transfers = fleet_transfers(run->runs->fleet),
                              .root = slot->root,
                              .as = as};
    if (slot->rank == 0)
        inputs_add(&in, &place->files);
    if (place->team)
        inputs_add(&in, &place->team->files);
    script_skip_if(slot->script, NULL);
}

static bool is_preparation(const struct run_task *t)
{
    return t->process->role == LAUNCH_PREPARATION;
}

static void on_script_changed(void *ctx)
{
    struct run_slot *slot = ctx;
    wake(slot->run->runs->wakes, &woken_run, slot->run->row.id);
}

void slot_run_script(struct run_slot *slot)
{
    script_about(slot->script, slot->run->name, slot->run->row.guid);
    script_run(slot->script, node_rt_link(slot->tenant.node), on_script_changed, slot);
}

void slot_send_prep(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    for (size_t i = 0; i < run->n_tasks; i++) {
        struct run_task *t = &run->tasks[i];
        if (is_preparation(t) && t->process->rank == slot->rank && t->state != RT_OVER && !t->asked)
            send_task(slot, t);
    }
}

void slot_forget_link(struct run_slot *slot)
{
    slot->script = NULL;
    slot->saving = false;
    slot->kill_again_us = slot->kill_pause_us = 0;
    slot->kill_refused = NULL;
    slot->container = (struct container){0};
    slot->container_said = NULL;
    mounts_wipe(slot->secrets);
    slot->secrets = NULL;
    remote_forget_link(slot);
    arena_free(&slot->a);
}

bool slot_ready(struct run_slot *slot)
{
    if (!make_env(slot))
        return false;
    slot->script = script_new(&slot->a, slot->run->runs->log, slot->node_name);
    take_account(slot);
    return true;
}

/* A command that runs without its volume could do harm, so a run that mounts volumes starts its
 * commands only after the mounts. In all other runs the commands are sent at once, because a
 * missing directory makes a command fail by itself. */
void slot_start(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    if (mounts_await(slot->tenant.node, mounts_owner(slot), &run->spec.mounts, &woken_run,
                     run->row.id)) {
        run->awaits = true;
        return;
    }
    if (!slot_ready(slot))
        return;
    const char *as = slot_account(slot, &slot->a);
    slot_go(slot, SLOT_STARTED);
    if (!run->spec.place && !add_directories(slot, as)) {
        wake(run->runs->wakes, &woken_run, run->row.id);
        return;
    }
    if (run->spec.place) {
        slot->begun = true;
        add_inputs(slot, as);
        remote_add_start(slot, as);
    } else if (!slot->begun) {
        add_first_line(slot, as);
    }
    if (run->spec.container && !add_container(slot))
        return;
    slot_run_script(slot);
    if (run->spec.mounts.n > 0 || run_waits_for_files(run) || !script_all_sent(slot->script))
        return;
    slot_send_prep(slot);
    /* With one node and no preparation, the command need not wait for anything else. */
    if (run->n_slots == 1 && !run->spec.prep_command_line &&
        !(run->spec.place && run->spec.place->team))
        run_send_main(run);
}

/* Whether all requests and steps have succeeded. */
static bool all_answered(const struct run_slot *slot)
{
    return slot->pending == 0 && slot->script && script_state(slot->script) == SCRIPT_DONE;
}

void slot_advance(struct run_slot *slot)
{
    if (script_state(slot->script) == SCRIPT_FAILED && !slot->has_error)
        note_failure(slot, script_failure(slot->script), script_nodes_fault(slot->script));
    else if (all_answered(slot))
        slot_send_prep(slot);
}

bool run_prepared(const struct live_run *run)
{
    for (int i = 0; i < run->n_slots; i++)
        if (run->slots[i].state != SLOT_STARTED || !all_answered(&run->slots[i]))
            return false;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (is_preparation(&run->tasks[i]) && !run->tasks[i].good)
            return false;
    return true;
}

void run_send_main(struct live_run *run)
{
    for (size_t i = 0; i < run->n_tasks; i++) {
        struct run_task *t = &run->tasks[i];
        struct run_slot *slot = &run->slots[t->process->rank];
        if (!is_preparation(t) && t->state != RT_OVER && !t->asked && slot->state == SLOT_STARTED)
            send_task(slot, t);
    }
}

/* --- cleaning ------------------------------------------------------------------------------- */

static struct script_label clean_label(const char *what)
{
    return (struct script_label){.what = what, .may_fail = true};
}

static void add_last_line(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    struct arena *a = &slot->a;
    const struct front_words *w = words_of(run);
    const struct script_label label = clean_label(front_text(w, a, WRITE_LOG));
    char now[TIMEFMT_SIZE];
    if (slot->rank != 0 || !run->out.why.code)
        return;
    timefmt_fixed(wakes_wall(run->runs->wakes), now);
    /* The start may have failed before it took the account. */
    node_account_take_step(slot->tenant.node, &slot->a, slot->script,
                           &(struct node_account){.dir = run->dir,
                                                  .first_root = run->slots[0].root,
                                                  .contained = run->spec.container,
                                                  .may_fail = true});
    const char *how = run->out.kind == OUT_REQUEUE ? "queued again" : "failed";
    add_to_log(slot, &label, slot_account(slot, a),
               front_say(w, a, "%s {run} %s %s: %s", now, run->name, how,
                         failure_text(a, w, &run->out.why)));
}

/* Kills tasks that have not ended, and processes that an ended task was allowed to leave. Also
 * kills commands of a start that did not finish, because they are not among the run's tasks, and
 * all tasks of a run that failed although its processes ran (run_refused()). */
static void add_kills(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    const struct script_label kill = clean_label("kill what is left");
    if (run->spec.mounts.n > 0 || run->spec.container || run->row.failure == FAIL_ENDED_DAEMON)
        script_kill_tasks(slot->script, &kill, slot_task_prefix(slot), NULL, false, NULL);
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].process->rank == slot->rank &&
            (run->tasks[i].state != RT_OVER || run->tasks[i].process->leaves))
            script_ask(slot->script, &kill,
                       REQUEST(signal, .task = run->tasks[i].id, .signal = SIGKILL));
}

/* Whether the run has ended and its row stays: neither requeued nor deleted. */
static bool stays(const struct live_run *run)
{
    return run_has_verdict(&run->row) && !run->deleting && run->out.kind != OUT_REQUEUE;
}

bool slot_keeps(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    struct err e = {0};
    return stays(run) && run->spec.segment && run->runs->kept_outputs > 0 &&
           compute_env(slot, &e) == 0 && outputs_in_run_dir(&slot->env, &run->spec);
}

void slot_clean(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    const char *dir = run_dir(slot);
    const char *removal = front_text(words_of(run), &slot->a, "remove {run} directory");
    const struct script_label remove = clean_label(removal), forget = clean_label("forget");
    slot_go(slot, SLOT_CLEANING);
    if (slot->script)
        script_halt(slot->script);
    slot->script = script_new(&slot->a, run->runs->log, slot->node_name);
    if (slot->env.log_path)
        add_last_line(slot);
    add_kills(slot);
    remote_add_end(slot);
    if (run->spec.container && find_container(slot))
        container_add_removal(slot->script, &slot->a, &slot->container, slot_task_prefix(slot));
    if (run->spec.container && run->spec.place)
        script_ask(slot->script, &remove, REQUEST(remove_tree, .path = own_run_dir(slot)));
    const struct node_mounts mounts = mounts_of(slot);
    mounts_remove(&mounts, &run->spec.mounts);
    shared_dir_remove(slot);
    if (!run->spec.place || !stays(run)) {
        const char *rest = slot_keeps(slot) ? arena_printf(&slot->a, "%s/mounts", dir) : dir;
        script_ask(slot->script, &remove, REQUEST(remove_tree, .path = rest));
    }
    if (!run->spec.place || !run->spec.place->account)
        node_account_release_step(slot->tenant.node, &slot->a, slot->script, run->dir);
    /* The node forgets the tasks, except those of a run that is requeued: the requeue is not in the
     * run's rows yet, and until then the node must remember that this attempt ran (end.c). */
    slot->records_stay = run->out.kind == OUT_REQUEUE;
    for (size_t i = 0; !slot->records_stay && i < run->n_tasks; i++)
        if (run->tasks[i].process->rank == slot->rank)
            script_ask(slot->script, &forget, REQUEST(forget, .task = run->tasks[i].id));
    slot_run_script(slot);
}

void slot_mounts_over(struct run_slot *slot)
{
    if (slot->run->spec.mounts.n > 0)
        mounts_over(slot->run->runs->fleet, slot->node_name, mounts_owner(slot));
}

bool slot_cleaned(const struct run_slot *slot)
{
    return slot->pending == 0 && script_state(slot->script) != SCRIPT_RUNNING &&
           !script_busy(slot->script);
}
