/* SPDX-License-Identifier: MIT
 *
 * A run's requests to its nodes. A node answers in order, so nothing waits for a reply before the
 * next request goes out: from allocation to the start of the command there is one round trip. A
 * request that failed is looked at in the run's next turn, because a link that goes down fails
 * all its requests and that says nothing about the job.
 */
#include <signal.h>
#include <string.h>

#include "scheduler/job_priv.h"

/* The context of one request; in the run's arena. A run outlives its requests: it is freed when
 * its last one was answered, or after the links were closed. */
struct step {
    struct job_slot *slot;
    struct run_task *task; /* run requests */
    const char *code, *what;
    const char *remedy; /* NULL: none is known */
    bool on_node;       /* touches nothing but the node's own directory */
};

static struct step *new_step(struct job_slot *slot, const char *code, const char *what)
{
    struct step *st = arena_alloc(&slot->run->a, sizeof *st);
    *st = (struct step){.slot = slot, .code = code, .what = what};
    slot->pending++;
    return st;
}

/* False: the link is gone, or the reply is the run's no more. Counts the reply. */
static bool answered(struct job_slot *slot)
{
    if (!slot->rt || slot->rt->link_state != LINK_READY)
        return false;
    if (--slot->pending == 0)
        wake(slot->run->s, WAKE_JOB, slot->run->id);
    return true;
}

static void note_error(struct step *st, const struct err *why)
{
    struct job_slot *slot = st->slot;
    struct arena *a = &slot->run->a;
    if (slot->has_error)
        return;
    slot->has_error = true;
    slot->nodes_fault = st->on_node && (why->code == ERR_IO || why->code == ERR_NODE);
    slot->error = (struct failure){.code = st->code,
                                   .message = arena_printf(a, "%s: %s", st->what, why->msg),
                                   .node = slot->node_name,
                                   .step = st->what,
                                   .remedy = st->remedy,
                                   .exit_code = -1};
    wake(slot->run->s, WAKE_JOB, slot->run->id);
}

static void on_start_step(void *ctx, const struct err *why)
{
    struct step *st = ctx;
    if (answered(st->slot) && why)
        note_error(st, why);
}

static void on_run(void *ctx, const struct err *why, const struct task_status *status)
{
    struct step *st = ctx;
    if (!answered(st->slot))
        return;
    if (why)
        note_error(st, why);
    else
        verdict_task(st->slot->run, st->task, status);
}

/* --- starting ------------------------------------------------------------------------------- */

static void send_task(struct job_slot *slot, struct run_task *task)
{
    struct arena *a = &slot->run->a;
    const struct launch_env *env = &slot->env;
    const struct task_spec spec = {
        .id = task->id,
        .command_line = task->launch.command_line,
        .cwd = env->job_dir,
        .env = env->env.items,
        .n_env = env->env.n,
        .stdout_path = task->is_prep
                           ? env->prep_stdout
                           : arena_printf(a, "%s/%s", env->std_dir, task->launch.stdout_name),
        .stderr_path = task->is_prep
                           ? env->prep_stderr
                           : arena_printf(a, "%s/%s", env->std_dir, task->launch.stderr_name),
        .log_path = env->log_path,
        .step = task->step,
    };
    task->state = RT_SENT;
    task->asked = true;
    struct step *st = new_step(slot, "JobStartFailed", task->step);
    st->task = task;
    st->on_node = true; /* what the job does wrong comes as the status of its task */
    node_run(slot->rt->link, &spec, on_run, st);
}

static bool make_env(struct job_slot *slot)
{
    struct job_run *run = slot->run;
    struct arena *a = &run->a;
    if (slot->env.job_dir)
        return true;
    struct launch_node *nodes = arena_alloc(a, (size_t)run->n_slots * sizeof *nodes);
    for (int i = 0; i < run->n_slots; i++)
        nodes[i] = (struct launch_node){.name = run->slots[i].node_name,
                                        .root = run->slots[i].root,
                                        .gpus = run->slots[i].rt ? run->slots[i].rt->gpus : 0};
    const struct launch_input in = {.spec = &run->spec,
                                    .job_guid = run->guid,
                                    .attempt = run->attempt,
                                    .nodes = nodes,
                                    .n_nodes = (size_t)run->n_slots,
                                    .rank = slot->rank};
    struct err e = {0};
    if (launch_env(a, &in, &slot->env, &e) == 0)
        return true;
    slot->env.job_dir = NULL;
    note_error(&(struct step){.slot = slot, .code = "JobPathNotResolved", .what = "launch"}, &e);
    return false;
}

static void send_mount(struct job_slot *slot, const struct mount_volume *m)
{
    struct arena *a = &slot->run->a;
    bool blob = m->kind == MOUNT_AZURE_BLOB;
    node_mount_folder(
        slot->rt->link, sched_share_path(slot->run->s->cfg.storage_dir, a, m),
        arena_printf(a, "%s/%s", slot->env.job_mounts, m->relative_path), on_start_step,
        new_step(slot, blob ? "BFSMountError" : "AZFMountError",
                 arena_printf(a, "mount of %s %s/%s at %s", blob ? "container" : "share",
                              m->account, m->share, m->relative_path)));
}

/* Directories that are on mounts come after the mounts. */
static void send_directories(struct job_slot *slot)
{
    const struct job_spec *spec = &slot->run->spec;
    const struct launch_env *env = &slot->env;
    struct node_link *link = slot->rt->link;
    const char *own[] = {env->job_mounts, env->shared_dir};
    struct step *make_own = new_step(slot, "JobDirectoryFailed", "make job directory");
    make_own->on_node = true;
    node_make_dirs(link, NULL, own, 2, on_start_step, make_own);
    for (size_t i = 0; i < spec->mounts.n; i++)
        send_mount(slot, &spec->mounts.items[i]);
    const char **outer = arena_alloc(&slot->run->a, (env->n_outputs + 1) * sizeof *outer);
    outer[0] = env->std_dir;
    for (size_t i = 0; i < env->n_outputs; i++)
        outer[i + 1] = env->output_dirs[i];
    struct step *make_outer = new_step(slot, "JobDirectoryFailed", "make output directories");
    make_outer->remedy =
        "see that the folder behind the mount is there: batchaid share-path ACCOUNT "
        "SHARE (or --container ACCOUNT CONTAINER) prints it, and makes it again";
    node_make_dirs(link, NULL, outer, env->n_outputs + 1, on_start_step, make_outer);
    node_write_file(link, NULL, env->hostfile_path, env->hostfile_text, 0644, on_start_step,
                    new_step(slot, "JobDirectoryFailed", "write host file"));
}

static void send_first_line(struct job_slot *slot)
{
    struct job_run *run = slot->run;
    char now[TIMEFMT_SIZE];
    timefmt_fixed(sched_now(run->s), now);
    slot->begun = true;
    node_append(slot->rt->link, NULL, slot->env.log_path,
                arena_printf(&run->a, "%s job %s, attempt %d: node %s, rank %d of %d\n", now,
                             run->name, run->attempt, slot->node_name, slot->rank, run->n_slots),
                on_start_step, new_step(slot, "JobDirectoryFailed", "write execution.log"));
}

void slot_send_prep(struct job_slot *slot)
{
    struct job_run *run = slot->run;
    for (size_t i = 0; i < run->n_tasks; i++) {
        struct run_task *t = &run->tasks[i];
        if (t->is_prep && t->launch.rank == slot->rank && t->state != RT_OVER && !t->asked)
            send_task(slot, t);
    }
}

/* A command that runs where a volume should be does harm, so jobs with volumes of their own wait
 * for the mounts; for all others a directory that cannot be made fails the command by itself. */
void slot_start(struct job_slot *slot)
{
    struct job_run *run = slot->run;
    if (!make_env(slot))
        return;
    slot->state = SLOT_STARTED;
    send_directories(slot);
    if (!slot->begun)
        send_first_line(slot);
    if (run->spec.mounts.n > 0)
        return;
    slot_send_prep(slot);
    /* One node and no preparation: nothing else to wait for. */
    if (run->n_slots == 1 && !run->spec.prep_command_line)
        run_send_main(run);
}

bool run_prepared(const struct job_run *run)
{
    for (int i = 0; i < run->n_slots; i++)
        if (run->slots[i].state != SLOT_STARTED || run->slots[i].pending > 0)
            return false;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].is_prep && run->tasks[i].state != RT_OVER)
            return false;
    return true;
}

void run_send_main(struct job_run *run)
{
    for (size_t i = 0; i < run->n_tasks; i++) {
        struct run_task *t = &run->tasks[i];
        struct job_slot *slot = &run->slots[t->launch.rank];
        if (!t->is_prep && t->state != RT_OVER && !t->asked && slot->state == SLOT_STARTED)
            send_task(slot, t);
    }
}

/* --- stopping ------------------------------------------------------------------------------- */

bool run_tasks_over(const struct job_run *run)
{
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].state == RT_SENT)
            return false;
    return true;
}

/* The task is over when the node says so (task_ended, or its list), not when it was signalled. */
static void on_signal(void *ctx, const struct err *why)
{
    struct step *st = ctx;
    struct job_slot *slot = st->slot;
    if (answered(slot) && why)
        LOG_WARN(slot->run->s->log, "task.not_signalled", LF_STR("task", st->task->id),
                 LF_STR("why", why->msg));
}

/* Which of the tasks run: after a restart of the daemon that is not known. */
static void on_list(void *ctx, const struct err *why, const struct task_status *list, size_t n)
{
    struct step *st = ctx;
    struct job_slot *slot = st->slot;
    struct job_run *run = slot->run;
    if (!answered(slot) || why)
        return;
    for (size_t k = 0; k < run->n_tasks; k++) {
        struct run_task *t = &run->tasks[k];
        bool runs = false;
        for (size_t i = 0; i < n; i++)
            runs = runs || (list[i].state == TASK_RUNNING && !strcmp(list[i].id, t->id));
        if (t->launch.rank == slot->rank && !runs)
            t->state = RT_OVER;
    }
    wake(run->s, WAKE_JOB, run->id);
}

void slot_signal(struct job_slot *slot, int signo)
{
    struct job_run *run = slot->run;
    if (!slot->rt || !node_rt_usable(slot->rt))
        return;
    for (size_t i = 0; i < run->n_tasks; i++) {
        struct run_task *t = &run->tasks[i];
        if (t->launch.rank != slot->rank || t->state != RT_SENT)
            continue;
        struct step *st = new_step(slot, "JobStopFailed", "signal");
        st->task = t;
        node_signal(slot->rt->link, t->id, signo, on_signal, st);
    }
    node_tasks(slot->rt->link, on_list, new_step(slot, "JobStopFailed", "list tasks"));
}

void run_signal(struct job_run *run, int signo)
{
    for (int i = 0; i < run->n_slots; i++)
        slot_signal(&run->slots[i], signo);
}

/* --- cleaning ------------------------------------------------------------------------------- */

static void on_clean_step(void *ctx, const struct err *why)
{
    struct step *st = ctx;
    struct job_slot *slot = st->slot;
    if (!answered(slot))
        return;
    if (why)
        LOG_WARN(slot->run->s->log, "job.cleanup_failed", LF_STR("job", slot->run->name),
                 LF_STR("node", slot->node_name), LF_STR("step", st->what),
                 LF_STR("why", why->msg));
}

static void send_last_line(struct job_slot *slot)
{
    struct job_run *run = slot->run;
    struct arena *a = &run->a;
    char now[TIMEFMT_SIZE];
    if (slot->rank != 0 || !run->out.why.code)
        return;
    timefmt_fixed(sched_now(run->s), now);
    node_append(slot->rt->link, NULL, slot->env.log_path,
                arena_printf(a, "%s job %s %s: %s", now, run->name,
                             run->out.kind == OUT_REQUEUE ? "queued again" : "failed",
                             failure_text(a, &run->out.why)),
                on_clean_step, new_step(slot, "", "write execution.log"));
}

/* A run that was made only to clean up (after a crash) has no environment: the paths that do not
 * depend on it are enough. */
static const char *job_dir(struct job_slot *slot)
{
    struct job_run *run = slot->run;
    return arena_printf(&run->a, "%s/jobs/%s-%d", slot->root, run->guid, run->attempt);
}

void slot_clean(struct job_slot *slot)
{
    struct job_run *run = slot->run;
    struct node_link *link = slot->rt->link;
    const char *dir = job_dir(slot);
    slot->state = SLOT_CLEANING;
    if (slot->env.job_dir)
        send_last_line(slot);
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].launch.rank == slot->rank)
            node_signal(link, run->tasks[i].id, SIGKILL, on_clean_step,
                        new_step(slot, "", "kill what is left"));
    for (size_t i = 0; i < run->spec.mounts.n; i++)
        node_unmount(
            link,
            arena_printf(&run->a, "%s/mounts/%s", dir, run->spec.mounts.items[i].relative_path),
            on_clean_step, new_step(slot, "", "unmount"));
    node_remove_tree(link, dir, on_clean_step, new_step(slot, "", "remove job directory"));
    /* A job that is to be queued again is not written down as such yet: until then the node
     * must remember that this attempt ran. */
    for (size_t i = 0; run->out.kind != OUT_REQUEUE && i < run->n_tasks; i++)
        if (run->tasks[i].launch.rank == slot->rank)
            node_forget(link, run->tasks[i].id, on_clean_step, new_step(slot, "", "forget"));
}
