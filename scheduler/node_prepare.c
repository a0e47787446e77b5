/* SPDX-License-Identifier: MIT
 *
 * Makes a node fit for jobs: ends what an earlier life left running there, mounts the cluster's
 * volumes, runs its setup task. Repeatable: every request is idempotent, and the setup task's id
 * holds the instant at which this preparation was decided, so that a restart of the daemon finds
 * the same task again instead of running it twice.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "model/machines.h"
#include "scheduler/launch/env.h"
#include "scheduler/launch/launch.h"
#include "scheduler/sched_priv.h"

struct prep_step { /* in the prep's arena, which lives until the link is closed or all is answered
                    */
    struct node_rt *rt;
    const char *what; /* for the failure */
    const char *code;
};

struct node_prep {
    struct arena a;
    struct node_setup_spec spec;
    const char *task_id; /* of the setup task */
    int pending;         /* replies to come before the setup task may start */
    bool failed;         /* nothing more is sent; kept because replies may still come */
    struct failure why;  /* code NULL: cancelled, or reported already */
};

static void prep_free(struct node_prep *prep)
{
    node_setup_wipe(&prep->spec);
    arena_free(&prep->a);
    free(prep);
}

/* Noted here, reported by node_prepare_report(): a request also fails when its link goes down, and
 * then the preparation is abandoned before the node's turn comes. */
static void prep_fail(struct node_rt *rt, const struct failure *f)
{
    struct node_prep *prep = rt->prep;
    if (prep->failed)
        return;
    prep->failed = true;
    prep->why = *f;
    prep->why.message = arena_strdup(&prep->a, f->message);
    prep->why.stderr_tail = arena_strdup(&prep->a, f->stderr_tail);
    wake(rt->s, WAKE_NODE, rt->id);
}

bool node_prepare_report(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    if (!prep || !prep->failed || !prep->why.code)
        return false;
    node_fail(rt, &prep->why);
    prep->why.code = NULL;
    return true;
}

static void prep_fail_text(struct node_rt *rt, const char *code, const char *step,
                           const char *message)
{
    const struct failure f = {.code = code,
                              .message = message,
                              .step = step,
                              .remedy = "put right what the message names, then resize the "
                                        "cluster: the node is prepared again",
                              .exit_code = -1};
    prep_fail(rt, &f);
}

static void prepared(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    const struct st_node_move m = {.id = rt->id,
                                   .from = NODE_PREPARING,
                                   .to = node_next(NODE_PREPARING, NODE_EV_PREPARED),
                                   .now_us = sched_now(rt->s)};
    struct err e = {0};
    rt->prep = NULL;
    prep_free(prep);
    if (st_node_move(rt->s->st, &m, &e) == 0) {
        LOG_INFO(rt->s->log, "node.idle", LF_STR("node", rt->name));
        wake(rt->s, WAKE_CLUSTER, rt->cluster_id);
    } else if (e.code != ERR_CONFLICT) {
        LOG_WARN(rt->s->log, "node.not_prepared", LF_STR("node", rt->name), LF_STR("why", e.msg));
    } /* else it was told to leave meanwhile: the row says what is to be done */
    sched_after_durable(rt->s, rt->id, effect_wake_node);
}

/* --- the setup task ------------------------------------------------------------------------- */

#define SETUP_STEP "setup task"

static void setup_ended(struct node_rt *rt, const struct task_status *st)
{
    struct node_prep *prep = rt->prep;
    if (st->state == TASK_EXITED && st->exit_code == 0 && st->signal == 0) {
        prepared(rt);
        return;
    }
    const char *message = "The node's setup task failed with a non-zero exit code";
    if (st->state != TASK_EXITED)
        message = arena_printf(&prep->a, "The node's setup task did not run to its end: %s",
                               st->why ? st->why : "no record of it");
    else if (st->signal)
        message = "The node's setup task was killed by a signal";
    const struct failure f = {.code = "NodeSetupFailed",
                              .message = message,
                              .step = SETUP_STEP,
                              .command = prep->spec.setup_task->command_line,
                              .stderr_tail = st->stderr_tail,
                              .remedy = "put the setup task right (its output is under "
                                        "stdOutErrPathPrefix), then resize the cluster",
                              .exit_code = st->state == TASK_EXITED ? st->exit_code : -1,
                              .signal = st->signal};
    prep_fail(rt, &f);
}

static void on_setup_started(void *ctx, const struct err *why, const struct task_status *st)
{
    struct node_rt *rt = ctx;
    if (!rt->prep || rt->link_state != LINK_READY)
        return;
    if (why)
        prep_fail_text(rt, "NodeSetupFailed", SETUP_STEP, why->msg);
    else if (st->state != TASK_RUNNING)
        setup_ended(rt, st);
}

void node_prepare_task_ended(struct node_rt *rt, const struct task_status *st)
{
    struct node_prep *prep = rt->prep;
    /* pending > 0: it ended while no link was there; the repeated request will be told so. */
    if (!prep->failed && prep->pending == 0 && prep->task_id && !strcmp(st->id, prep->task_id))
        setup_ended(rt, st);
}

static const char *setup_dir(struct arena *a, struct env *v, const struct setup_task_spec *t,
                             const char *home, struct err *e)
{
    if (!t->std_prefix || !*t->std_prefix)
        return home;
    const char *prefix = env_expand(v, t->std_prefix, e);
    if (!prefix)
        return NULL;
    if (prefix[0] != '/') /* meant below the setup task's own directory */
        prefix = arena_printf(a, "%s/%s", home, prefix);
    return t->std_suffix ? arena_printf(a, "%s/%s", prefix, t->std_suffix) : prefix;
}

static void start_setup(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    struct arena *a = &prep->a;
    const struct setup_task_spec *t = prep->spec.setup_task;
    const char *home = arena_printf(a, "%s/setup", rt->root);
    struct env v;
    env_init(&v, a);
    env_add(&v, t->env, t->n_env);
    env_set(&v, "AZ_BATCHAI_MOUNT_ROOT", launch_mount_root(a, rt->root));
    env_set(&v, "AZ_BATCHAI_NODE_ID", rt->name);
    env_set(&v, "AZ_BATCHAI_NUM_GPUS", arena_printf(a, "%d", rt->gpus));
    struct err e = {0};
    const char *dir = setup_dir(a, &v, t, home, &e);
    if (!dir) {
        prep_fail_text(rt, "NodeSetupFailed", SETUP_STEP,
                       arena_printf(a, "stdOutErrPathPrefix: %s", e.msg));
        return;
    }
    env_set(&v, "AZ_BATCHAI_STDOUTERR_DIR", dir);
    const struct task_spec spec = {
        .id = prep->task_id,
        .command_line = t->command_line,
        .cwd = home,
        .env = v.items,
        .n_env = v.n,
        .stdout_path = arena_printf(a, "%s/stdout-%s.txt", dir, rt->name),
        .stderr_path = arena_printf(a, "%s/stderr-%s.txt", dir, rt->name),
        .step = SETUP_STEP,
    };
    node_run(rt->link, &spec, on_setup_started, rt);
}

/* --- what comes before it ------------------------------------------------------------------- */

static void step_done(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    if (--prep->pending > 0 || prep->failed)
        return;
    if (prep->spec.setup_task)
        start_setup(rt);
    else
        prepared(rt);
}

static void on_step(void *ctx, const struct err *why)
{
    const struct prep_step *step = ctx;
    struct node_rt *rt = step->rt;
    if (!rt->prep || rt->link_state != LINK_READY)
        return;
    if (why)
        prep_fail_text(rt, step->code, step->what, why->msg);
    step_done(rt);
}

static struct prep_step *new_step(struct node_rt *rt, const char *code, const char *what)
{
    struct prep_step *step = arena_alloc(&rt->prep->a, sizeof *step);
    *step = (struct prep_step){rt, what, code};
    rt->prep->pending++;
    return step;
}

/* Whatever an earlier life of this node left running must not disturb the next job. */
static void on_tasks(void *ctx, const struct err *why, const struct task_status *list, size_t n)
{
    const struct prep_step *step = ctx;
    struct node_rt *rt = step->rt;
    if (!rt->prep || rt->link_state != LINK_READY)
        return;
    for (size_t i = 0; !why && i < n; i++) {
        if (list[i].state != TASK_RUNNING || !strcmp(list[i].id, rt->prep->task_id))
            continue;
        LOG_WARN(rt->s->log, "task.stray_killed", LF_STR("node", rt->name),
                 LF_STR("task", list[i].id));
        node_signal(rt->link, list[i].id, SIGKILL, on_step,
                    new_step(rt, "NodePreparationFailed", "kill stray tasks"));
    }
    on_step(ctx, why);
}

static void send_mount(struct node_rt *rt, const struct mount_volume *m)
{
    struct arena *a = &rt->prep->a;
    bool blob = m->kind == MOUNT_AZURE_BLOB;
    node_mount_folder(
        rt->link, sched_share_path(rt->s->cfg.storage_dir, a, m),
        arena_printf(a, "%s/%s", launch_mount_root(a, rt->root), m->relative_path), on_step,
        new_step(rt, blob ? "BFSMountError" : "AZFMountError",
                 arena_printf(a, "mount of %s %s/%s at %s", blob ? "container" : "share",
                              m->account, m->share, m->relative_path)));
}

static void send_steps(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    const char *dirs[] = {launch_mount_root(&prep->a, rt->root),
                          arena_printf(&prep->a, "%s/jobs", rt->root)};
    /* One reply is held back until all requests are sent. */
    prep->pending = 1;
    node_tasks(rt->link, on_tasks, new_step(rt, "NodePreparationFailed", "list tasks"));
    node_make_dirs(rt->link, NULL, dirs, 2, on_step,
                   new_step(rt, "NodePreparationFailed", "make directories"));
    for (size_t i = 0; i < prep->spec.mounts.n; i++)
        send_mount(rt, &prep->spec.mounts.items[i]);
    step_done(rt);
}

static int load_spec(struct node_rt *rt, struct err *e)
{
    struct node_prep *prep = rt->prep;
    struct cluster c;
    const char *secrets;
    int rc = st_cluster_by_id(rt->s->st, &prep->a, rt->cluster_id, &c, e);
    if (rc == 0)
        rc = err_set(e, ERR_CLUSTER_NOT_FOUND, NULL, "the node's cluster is gone");
    if (rc < 0 || st_cluster_secrets(rt->s->st, &prep->a, c.id, &secrets, e) < 0)
        return -1;
    return node_setup_decode(&prep->a, &c, secrets, &prep->spec, e);
}

void node_prepare(struct node_rt *rt, const struct node *row)
{
    struct node_prep *prep = xcalloc(1, sizeof *prep);
    arena_init(&prep->a);
    rt->prep = prep;
    prep->task_id =
        arena_printf(&prep->a, "n%lld-setup-%lld", (long long)rt->id, (long long)row->state_us);
    struct err e = {0};
    if (load_spec(rt, &e) != 0) {
        prep_fail_text(rt, "NodePreparationFailed", "read the cluster", e.msg);
        return;
    }
    struct failure why;
    const struct setup_task_spec *t = prep->spec.setup_task;
    if (launch_refuse_mounts(&prep->a, &prep->spec.mounts, &why) ||
        (t && launch_refuse_secrets(&prep->a, t->env, t->n_env, &why))) {
        prep_fail(rt, &why);
        return;
    }
    send_steps(rt);
}

void node_prepare_cancel(struct node_rt *rt)
{
    if (rt->prep)
        rt->prep->failed = true;
}

bool node_prepare_over(const struct node_rt *rt)
{
    return rt->prep && rt->prep->failed;
}

void node_prepare_abandon(struct node_rt *rt)
{
    struct node_prep *prep = rt->prep;
    rt->prep = NULL;
    if (prep)
        prep_free(prep);
}
