/* SPDX-License-Identifier: MIT
 *
 * `batchaid logs`, `run` and `wait JOB...`: they watch jobs until these end, or Ctrl-C detaches.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/follow.h"
#include "daemon/cli/interrupt.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/submit.h"

static int detached(const struct daemon_client *c, const json_t *job)
{
    char *words = jobs_words(c, job);
    fprintf(stderr,
            "\nbatchaid: detached; the job %s continues\n"
            "  see its output:  batchaid logs -f %s\n"
            "  end it:          batchaid cancel %s\n",
            jobs_text(job, "name"), words, words);
    free(words);
    return EXIT_DETACHED;
}

/* --- logs ------------------------------------------------------------------------------------- */

/* Prints why there was no output. Returns the exit code. */
static int no_output(const struct daemon_client *c, const struct options *o, const json_t *job,
                     const json_t *last)
{
    const char *state = jobs_text(last, "state"), *name = jobs_text(job, "name");
    char *words = jobs_words(c, job);
    if (state && strcmp(state, "queued") == 0)
        fprintf(stderr, "batchaid: the job waits; `batchaid explain %s` shows for what\n", words);
    else if (o->node)
        fprintf(
            stderr,
            "batchaid: %s has no output of '%s'; --node takes the number of a node, or an index "
            "of an array, that has begun\n",
            name, o->node);
    else
        fprintf(stderr, "batchaid: %s has no output; `batchaid explain %s` shows why\n", name,
                words);
    free(words);
    return EXIT_FAILED;
}

static int logs_of(struct daemon_client *c, const struct options *o, const char *name,
                   struct err *e)
{
    json_t *job = NULL;
    struct followed seen;
    if (jobs_find_job(c, name, &job, e) < 0)
        return -1;
    const struct follow f = {.job = job,
                             .until_end = o->follow,
                             .process = o->node,
                             .tail = o->tail ? strtoll(o->tail, NULL, 10) : -1,
                             .timeout_ms = -1};
    int rc = follow(c, &f, &seen, e);
    if (rc == FOLLOW_DETACHED)
        rc = detached(c, job);
    else if (rc == FOLLOW_DONE)
        rc = seen.files ? EXIT_DONE : no_output(c, o, job, seen.job);
    json_decref(job);
    json_decref(seen.job);
    return rc;
}

/* Prints the output of a job. "sweep[3]" means --node 3 of the job sweep. */
static int logs(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct options one = *o;
    const char *index;
    if (o->node)
        return logs_of(c, o, o->args[0], e);
    char *name = jobs_without_index(o->args[0], &index);
    one.node = index;
    int rc = logs_of(c, &one, name, e);
    free(name);
    return rc;
}

int cmd_logs(const struct options *o)
{
    return jobs_with_client(o, logs);
}

/* --- run -------------------------------------------------------------------------------------- */

static json_t *row_of(const struct daemon_client *c, const struct job_place *p)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "subscription", client_subscription(c),
                     "resourceGroup", p->group, "workspace", p->workspace, "experiment",
                     p->experiment, "name", p->name);
}

static void say_end(const json_t *last)
{
    const char *state = jobs_text(last, "state");
    if (state && strcmp(state, "failed") == 0)
        fprintf(stderr, "batchaid: the job failed; why: batchaid explain %s\n",
                jobs_text(last, "name"));
}

static int run_job(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct sent_job s = {.has_folder = false};
    struct followed seen = {.job = NULL};
    json_t *job = NULL;
    arena_init(&s.arena);
    int rc = submit(c, o, &s, e);
    if (rc == 0 && o->dry_run) {
        submit_show(&s, o);
    } else if (rc == 0) {
        fprintf(stderr, "batchaid: job %s\n", s.place.name);
        job = row_of(c, &s.place);
        const struct follow f = {.job = job, .until_end = true, .tail = -1, .timeout_ms = -1};
        rc = interrupt_take() ? FOLLOW_DETACHED : follow(c, &f, &seen, e);
        if (rc == FOLLOW_DETACHED) {
            rc = detached(c, job);
        } else if (rc == FOLLOW_DONE) {
            say_end(seen.job);
            rc = follow_exit_code(seen.job);
        }
    }
    json_decref(job);
    json_decref(seen.job);
    sent_job_free(&s);
    return rc;
}

int cmd_run(const struct options *o)
{
    struct options whole;
    struct arena a;
    struct err e;
    arena_init(&a);
    int code = submit_read_file(o, &whole, &a, &e) < 0 ? cli_fail(EXIT_USAGE, &e)
                                                       : jobs_with_code(&whole, EXIT_OWN, run_job);
    arena_free(&a);
    return code;
}

/* --- wait ------------------------------------------------------------------------------------- */

static int64_t left_of(int64_t timeout_ms, int64_t since_ms)
{
    int64_t left = timeout_ms - (follow_now_ms() - since_ms);
    return timeout_ms < 0 ? -1 : left > 0 ? left : 0;
}

/* Waits for one job. Returns the exit code; -1: error. *end: how follow() ended; the exit code does
 * not tell that, because a job may exit with EXIT_DETACHED or EXIT_LATE. Adds the job's last row to
 * `rows`. */
static int wait_for(struct daemon_client *c, const json_t *job, int64_t timeout_ms, int *end,
                    json_t *rows, struct err *e)
{
    const struct follow f = {
        .job = job, .until_end = true, .quiet = true, .tail = -1, .timeout_ms = timeout_ms};
    struct followed seen;
    const char *name = jobs_text(job, "name");
    int rc = *end = follow(c, &f, &seen, e);
    const char *state = jobs_text(seen.job, "state");
    if (*end == FOLLOW_DETACHED) {
        rc = EXIT_DETACHED;
    } else if (*end == FOLLOW_LATE) {
        rc = EXIT_LATE;
        fprintf(stderr, "batchaid: %s has not ended in time; it %s%s\n", name,
                state ? "is " : "could not be asked for", state ? state : "");
    } else if (*end == FOLLOW_DONE) {
        rc = follow_exit_code(seen.job);
        char *words = jobs_words(c, job);
        if (rc > 0)
            fprintf(stderr, "batchaid: %s failed; why: batchaid explain %s\n", name, words);
        free(words);
    }
    if (seen.job)
        json_array_append(rows, seen.job);
    json_decref(seen.job);
    return rc;
}

/* Resolves all names before it waits, so that a mistake in the last name is reported at once. */
static int wait_for_all(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *jobs = json_array(), *rows = json_array(), *job = NULL;
    int64_t timeout_ms = o->timeout ? strtoll(o->timeout, NULL, 10) * 1000 : -1,
            begun = follow_now_ms();
    int rc = 0, code = 0, end = FOLLOW_DONE;
    size_t i;
    for (int k = 0; rc == 0 && k < o->n_args; k++) {
        rc = jobs_find_job(c, o->args[k], &job, e);
        if (rc == 0)
            json_array_append_new(jobs, job);
    }
    json_array_foreach(jobs, i, job) {
        int one = rc < 0 ? 0 : wait_for(c, job, left_of(timeout_ms, begun), &end, rows, e);
        rc = one < 0 ? -1 : rc;
        code = code == 0 ? one : code;
        if (end == FOLLOW_DETACHED)
            break;
    }
    if (rc == 0 && o->json)
        json_print_list(json_incref(rows));
    json_decref(jobs);
    json_decref(rows);
    return rc < 0 ? -1 : end == FOLLOW_DETACHED ? EXIT_DETACHED : code;
}

int cmd_wait_for_jobs(const struct options *o)
{
    return jobs_with_code(o, EXIT_OWN, wait_for_all);
}
