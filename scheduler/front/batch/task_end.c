/* SPDX-License-Identifier: MIT
 *
 * The end of a task: the result for clients, and the actions of its exit conditions on its job and
 * on dependent tasks.
 */
#include <string.h>

#include "model/batch/exits.h"
#include "model/batch/job_states.h"
#include "scheduler/fleet/container/container.h"
#include "scheduler/front/batch/front_priv.h"
#include "scheduler/front/batch/multi_instance.h"

/* The codes for clients for each failure of the core. */
static const struct end_wording {
    enum failure_code code;
    const char *name, *message;
    enum batch_end how;
} wordings[] = {
    {FAIL_RUN_FAILED, "FailureExitCode", "The task exited with an exit code representing a failure",
     BATCH_END_EXIT},
    {FAIL_RUN_PREPARATION_FAILED, "FailureExitCode",
     "The coordination command of the task exited with an exit code representing a failure",
     BATCH_END_EXIT},
    {FAIL_NO_PROGRAM, "CommandProgramNotFound", "The specified command program is not found",
     BATCH_END_PRE_PROCESSING},
    {FAIL_NO_ACCOUNT, "TaskSchedulingConstraintFailed",
     "The task could not be scheduled: its user account is not found", BATCH_END_PRE_PROCESSING},
    {FAIL_RUN_TERMINATED, "TaskEnded", "Task Was Ended by User Request", BATCH_END_OTHER},
    {FAIL_NODE_DEALLOCATED, "TaskEnded", "Task Was Ended by User Request", BATCH_END_OTHER},
    {FAIL_RUN_TIMED_OUT, "TaskEnded",
     "The task ran longer than its maximum wall clock time and was ended", BATCH_END_OTHER},
    {FAIL_RUN_DIRECTORY_FAILED, "ResourceDirectoryCreateFailed",
     "A directory of the task could not be created", BATCH_END_PRE_PROCESSING},
    {FAIL_POOL_DELETED, "TaskEnded", "The pool of the task was deleted", BATCH_END_OTHER},
    {FAIL_INPUT_NOT_FOUND, "BlobNotFound", "A resource file of the task does not exist",
     BATCH_END_PRE_PROCESSING},
    {FAIL_INPUT_DENIED, "BlobAccessDenied", "A resource file of the task may not be read",
     BATCH_END_PRE_PROCESSING},
    {FAIL_INPUT_FAILED, "BlobDownloadMiscError", "A resource file of the task could not be fetched",
     BATCH_END_PRE_PROCESSING},
    {FAIL_INPUT_TIMED_OUT, "BlobDownloadTimedOut",
     "A resource file of the task was not sent in time", BATCH_END_PRE_PROCESSING},
    {FAIL_NO_ROOM, "DiskFull", "The disk of the node is full", BATCH_END_PRE_PROCESSING},
    {FAIL_PACKAGE, "ApplicationPackageError",
     "One or more application packages specified for the task are invalid",
     BATCH_END_PRE_PROCESSING},
    {FAIL_OUTPUT_NO_CONTAINER, "FileUploadContainerNotFound",
     "One of the containers for the files of the task does not exist", BATCH_END_UPLOAD},
    {FAIL_OUTPUT_DENIED, "FileUploadAccessDenied",
     "Files of the task may not be written to their container", BATCH_END_UPLOAD},
    {FAIL_OUTPUT_FAILED, "FileUploadMiscError", "Files of the task could not be uploaded",
     BATCH_END_UPLOAD},
    {FAIL_CONTAINER_RUNTIME_NOT_FOUND, "ContainerPoolNotSupported",
     "The nodes of the pool do not run containers", BATCH_END_PRE_PROCESSING},
    {FAIL_FAILED_PULLING_CONTAINER_IMAGE, "ContainerInvalidImage",
     "The container image of the task could not be fetched", BATCH_END_PRE_PROCESSING},
    {FAIL_FAILED_STARTING_CONTAINER, "ContainerLaunchFailed",
     "The container of the task could not be started", BATCH_END_PRE_PROCESSING},
    {FAIL_NOT_SERVED, "Unknown", "The task asks for a feature that is not supported",
     BATCH_END_PRE_PROCESSING},
    {FAIL_NONE, "Unknown", NULL, BATCH_END_OTHER},
};

static const struct end_wording *wording_of(const struct failure *why)
{
    static const struct end_wording not_launched = {FAIL_RUN_START_FAILED, "CommandLaunchFailed",
                                                    "The specified command could not be launched",
                                                    BATCH_END_PRE_PROCESSING};
    const struct end_wording *w = wordings;
    if (why->code == FAIL_RUN_START_FAILED ||
        ((why->code == FAIL_RUN_FAILED || why->code == FAIL_RUN_PREPARATION_FAILED) &&
         why->exit_code < 0 && why->signal == 0))
        return &not_launched;
    while (w->code != FAIL_NONE && w->code != why->code)
        w++;
    return w;
}

struct batch_failure_words batch_failure_words(enum failure_code code)
{
    const struct failure f = {.code = code, .exit_code = code == FAIL_RUN_FAILED ? 1 : -1};
    const struct end_wording *w = wording_of(&f);
    return (struct batch_failure_words){w->name, w->message};
}

bool batch_end_of_code(const char *code, enum batch_end *how)
{
    const struct end_wording *w = wordings;
    while (w->code != FAIL_NONE && strcmp(w->name, code) != 0)
        w++;
    *how = w->how;
    return w->code != FAIL_NONE;
}

const char *task_failure_info(struct arena *a, const struct failure *why)
{
    const struct end_wording *w = wording_of(why);
    bool by_exit = w->code == FAIL_RUN_FAILED;
    /* Azure Batch calls a package failure a server error, whatever its cause. */
    bool server = why->code == FAIL_PACKAGE || failure_fault(why->code) != FAULT_CLIENT;
    const char *said = why->message && !by_exit ? why->message : w->message;
    const struct kv details[] = {
        {.name = "Message", .value = said},
        {.name = "AdditionalErrorCode", .value = by_exit ? w->name : failure_name(why->code)},
        {.name = "NodeId", .value = why->node},
        {.name = "StandardError", .value = why->stderr_tail},
        {.name = "Remedy", .value = why->remedy},
    };
    return batch_failure_text(a, server ? "ServerError" : "UserError", w->name,
                              w->message ? w->message : why->message, details,
                              sizeof details / sizeof details[0]);
}

/* Applies the exit condition's job action, if the job has enabled it. A job that is being disabled
 * can still be terminated. */
static int act_on_job(struct batch_front *f, const struct batch_job *j, enum batch_job_action act,
                      int64_t now_us, struct err *e)
{
    if (j->on_failure != BATCH_FAILURE_EXIT_OPTIONS)
        return 0;
    if (act == BATCH_JOB_ACT_TERMINATE && batch_job_next(j->state, BATCH_JOB_EV_TERMINATE) != 0)
        return batch_job_terminate(f, j, "TaskFailed", false, now_us, e);
    if (act == BATCH_JOB_ACT_DISABLE && j->state == BATCH_JOB_ACTIVE)
        return batch_job_disable(f, j, BATCH_DISABLE_REQUEUE, now_us, e);
    return 0;
}

/* The end of the year 9999. Files with a longer retention are never removed automatically. */
#define LAST_US INT64_C(253402300799999999)

int64_t batch_kept_until(const struct batch_task_spec *spec, int64_t now_us)
{
    int64_t until;
    if (__builtin_add_overflow(now_us, spec->limits.retention_us, &until))
        return 0;
    return until < LAST_US ? until : 0;
}

static int complete(struct batch_front *f, struct storage *st, struct arena *a,
                    const struct batch_task *t, const struct run_end *end, struct err *e)
{
    struct batch_job j;
    struct batch_task_spec spec;
    enum batch_end how = end->why ? wording_of(end->why)->how : BATCH_END_EXIT;
    if (batch_task_decode_kept(f->docs, a, t->doc, &spec, e) < 0 ||
        st_batch_job_by_id(st, a, t->job_id, &j, e) < 0)
        return -1;
    const struct batch_exit_options means = batch_exit_means(&spec.exits, how, end->exit_code);
    struct st_batch_task_move m = {.id = t->id,
                                   .from = t->state,
                                   .to = batch_task_next(t->state, BATCH_TASK_EV_END),
                                   .now_us = end->now_us,
                                   .has_exit_code = end->has_exit_code,
                                   .exit_code = end->exit_code,
                                   .result = end->why ? BATCH_FAILURE : BATCH_SUCCESS,
                                   .failure = end->why ? task_failure_info(a, end->why) : NULL,
                                   .satisfies = means.dependency == BATCH_SATISFY,
                                   .files_until_us = batch_kept_until(&spec, end->now_us),
                                   .container_error = container_error(end->why)};
    if (st_batch_task_move(st, &m, e) < 0)
        return -1;
    if (m.files_until_us > 0)
        files_wake(f, m.files_until_us);
    if (m.satisfies && task_dependents_settle(f, st, t, e) < 0)
        return -1;
    if (t->manager & BATCH_MANAGER_ENDS_JOB && batch_job_next(j.state, BATCH_JOB_EV_TERMINATE) != 0)
        return batch_job_terminate(f, &j, "JMComplete", false, end->now_us, e);
    /* A user may terminate a task to run it again; a job that ends with a failed task would prevent
     * this. */
    bool ended_by_user = end->why && end->why->code == FAIL_RUN_TERMINATED;
    return ended_by_user ? 0 : act_on_job(f, &j, means.job, end->now_us, e);
}

int task_complete(const struct batch_front *f, struct storage *st, const struct batch_task *t,
                  const struct run_end *end, struct err *e)
{
    struct arena a;
    arena_init(&a);
    int rc = complete((struct batch_front *)(uintptr_t)f, st, &a, t, end, e);
    arena_free(&a);
    return rc;
}
