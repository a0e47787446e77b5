/* SPDX-License-Identifier: MIT
 *
 * `batchaid cancel`: terminates the named jobs, or all jobs of the caller.
 */
#include <string.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/json_print.h"

static void say(const struct options *o, const json_t *job)
{
    if (o->json)
        return;
    if (jobs_has_ended(job))
        printf("%s has ended already (%s)\n", jobs_text(job, "name"), jobs_text(job, "state"));
    else
        printf("%s is cancelled\n", jobs_text(job, "name"));
}

/* Cancels one job, unless it has ended. Notes in the job's row whether this command has cancelled
 * it. */
static int cancel_one(struct daemon_client *c, const struct options *o, json_t *job, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    json_object_set_new(job, "cancelled", json_false());
    if (jobs_has_ended(job)) {
        say(o, job);
        return 0;
    }
    jobs_add_path(c, job, "/terminate", &path);
    int rc = client_call(c, "POST", path.s, NULL, &reply, e);
    if (rc == 0) {
        json_object_set_new(job, "cancelled", json_true());
        say(o, job);
    } else {
        err_prefix(e, "%.100s cannot be cancelled", jobs_text(job, "name"));
    }
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

/* Appends the caller's jobs in this state. */
static int add_own(struct daemon_client *c, const char *state, json_t *jobs, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    strbuf_concat(&path, "/batchaid/jobs?mine=true&max=1000&state=", state);
    jobs_filter(c, &path, "subscription", client_meant(c));
    int rc = jobs_ask_all(c, path.s, jobs, e);
    strbuf_free(&path);
    return rc;
}

static int collect(struct daemon_client *c, const struct options *o, json_t *jobs, struct err *e)
{
    json_t *job = NULL;
    for (int i = 0; i < o->n_args; i++) {
        if (jobs_find_job(c, o->args[i], &job, e) < 0)
            return -1;
        json_array_append_new(jobs, job);
    }
    if ((o->mine || o->queued) && add_own(c, "queued", jobs, e) < 0)
        return -1;
    if (o->mine && add_own(c, "running", jobs, e) < 0)
        return -1;
    if (json_array_size(jobs) == 0 && jobs_check_subscription(c, e) < 0)
        return -1;
    return jobs_name_subscription(c, jobs, e);
}

/* Cancels each job; if one cannot be cancelled, goes on with the next. */
static int cancel(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *jobs = json_array(), *job;
    size_t i;
    int rc = collect(c, o, jobs, e), failed = 0;
    json_array_foreach(jobs, i, job) {
        struct err why;
        if (rc == 0 && cancel_one(c, o, job, &why) < 0)
            failed = cli_fail(EXIT_FAILED, &why);
    }
    if (rc == 0 && o->json)
        json_print_list(json_incref(jobs));
    else if (rc == 0 && json_array_size(jobs) == 0)
        printf("you have no %s jobs%s%s\n", o->mine ? "running or waiting" : "waiting",
               client_meant(c) ? " in the subscription " : "",
               client_meant(c) ? client_meant(c) : "");
    json_decref(jobs);
    return rc < 0 ? -1 : failed;
}

int cmd_cancel(const struct options *o)
{
    struct err e;
    bool own = o->mine || o->queued;
    if (own != (o->n_args == 0)) {
        err_set(&e, ERR_CONFIG, NULL,
                "cancel: name the jobs, or use --mine (all your running and waiting jobs) or "
                "--queued (all your waiting jobs)%s",
                own ? "; not both" : "");
        return cli_fail(EXIT_USAGE, &e);
    }
    return jobs_with_client(o, cancel);
}
