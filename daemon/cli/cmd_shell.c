/* SPDX-License-Identifier: MIT
 *
 * `batchaid shell`: creates a job that only waits, and opens a shell in it.
 *
 * A FIFO in the job's directory connects both: the job reads it, and the shell keeps it open. So
 * the job ends when the shell ends, whatever the reason: its user, a lost connection, a kill of
 * this program. If no shell opens the FIFO within a minute, the job ends by itself.
 */
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/enter.h"
#include "daemon/cli/interrupt.h"
#include "daemon/cli/submit.h"
#include "daemon/cli/terminal.h"
#include "daemon/cli/watch.h"

#define FIFO      "\"$AZ_BATCHAI_JOB_TEMP/.batchaid-shell\""
#define ENTER_S   "60"
#define LOOK_MS   200
#define NAME_SIZE 16
/* The code of a reply if the node cannot open a terminal yet. */
#define NOT_NOW "Conflict"
/* The time limit of a shell without --time. */
#define LIMIT "1h"

/* The job's command line: it waits until the shell opens the FIFO, and then until the shell closes
 * it. */
static const char wait_line[] = "rm -f " FIFO "; mkfifo " FIFO " || exit 1; (sleep " ENTER_S
                                "; : >" FIFO ") & t=$!; exec 3<" FIFO "; kill $t; cat <&3";
/* The shell's command line: it and its children have the FIFO open as descriptor 9. */
static const char shell_line[] = "until [ -p " FIFO " ]; do sleep 0.1; done; exec 9>" FIFO
                                 "; s=$(command -v bash || command -v sh); exec \"$s\" -i";

static void print_name(char name[NAME_SIZE])
{
    unsigned char random[4];
    char hex[2 * sizeof random + 1];
    randombytes_buf(random, sizeof random);
    sodium_bin2hex(hex, sizeof hex, random, sizeof random);
    snprintf(name, NAME_SIZE, "shell-%s", hex);
}

struct shell_job {
    struct daemon_client *c;
    /* with all parts of its path, because another group may have a job of this name */
    const char *name;
    json_t *row; /* the job as lists show it */
    sigset_t signals, before;
    int looks; /* how often the job was read while it waited for its node */
    bool refused;
    struct outage outage;
};

/* --- until it runs ---------------------------------------------------------------------------- */

/* Cancels the job, and adds to the error whether that succeeded. Returns -1. */
static int cancel(const struct shell_job *j, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    struct err why;
    json_t *reply = NULL;
    const char *name = jobs_text(j->row, "name");
    jobs_add_path(j->c, j->row, "/terminate", &path);
    if (client_call(j->c, "POST", path.s, NULL, &reply, &why) < 0)
        err_prefix(e, "%.100s is still there, and was not cancelled (%.200s)", name, why.msg);
    else
        err_prefix(e, "%.100s is cancelled", name);
    json_decref(reply);
    strbuf_free(&path);
    return -1;
}

/* 1: the job runs or has ended; 0: it still waits; -1: error. */
static int has_begun(struct shell_job *j, struct err *e)
{
    json_t *row = NULL;
    if (jobs_find_job(j->c, j->name, &row, e) < 0)
        return -1;
    json_decref(j->row);
    j->row = row;
    return jobs_has_ended(row) || strcmp(jobs_text(row, "state"), "running") == 0;
}

static int end_wait(struct err *e)
{
    return err_set(e, ERR_CONFIG, NULL, "a signal ended the wait for its shell");
}

/* Pauses. 0: the pause is over; -1: a signal arrived. */
static int wait_a_moment(const struct shell_job *j, struct err *e)
{
    const long ms = j->outage.since_ms ? OUTAGE_PAUSE_MS : LOOK_MS;
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    return sigtimedwait(&j->signals, NULL, &pause) < 0 ? 0 : end_wait(e);
}

/* --- the shell -------------------------------------------------------------------------------- */

static int enter(struct shell_job *j, struct err *e)
{
    sigprocmask(SIG_SETMASK, &j->before, NULL);
    int rc = enter_job(j->c, &(struct entered){.job = j->row, .index = -1}, shell_line, e);
    sigprocmask(SIG_BLOCK, &j->signals, NULL);
    return rc;
}

/* Whether to try again to open the shell. While the node is still being prepared for the job, it
 * refuses a shell for a moment. */
static bool goes_on(struct shell_job *j, const struct err *e)
{
    if (strcmp(e->target, NOT_NOW) != 0)
        return outage_goes_on(&j->outage, e, "");
    if (!j->refused)
        fprintf(stderr, "batchaid: %s; it is asked again, and Ctrl-C cancels it\n", e->msg);
    j->refused = true;
    return true;
}

static int wait_and_enter(struct shell_job *j, struct err *e)
{
    for (;;) {
        int rc = has_begun(j, e);
        if (jobs_has_ended(j->row))
            return err_set(e, ERR_CONFIG, NULL,
                           "%s ended before its shell began; see: batchaid explain %s", j->name,
                           j->name);
        if (rc > 0 && (rc = enter(j, e)) >= 0)
            return rc;
        if (rc == 0)
            j->outage = (struct outage){0};
        if (rc == 0 && j->looks++ == 1)
            fprintf(stderr, "batchaid: %s waits for its node; Ctrl-C cancels it\n", j->name);
        if ((rc < 0 && !goes_on(j, e)) || wait_a_moment(j, e) < 0)
            return cancel(j, e);
    }
}

static int wait_with_signals(struct shell_job *j, struct err *e)
{
    sigemptyset(&j->signals);
    sigaddset(&j->signals, SIGINT);
    sigaddset(&j->signals, SIGTERM);
    sigaddset(&j->signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &j->signals, &j->before);
    int rc = wait_and_enter(j, e);
    sigprocmask(SIG_SETMASK, &j->before, NULL);
    return rc;
}

static int shell(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct sent_job s = {.has_folder = false};
    arena_init(&s.arena);
    int rc = submit(c, o, &s, e);
    const struct job_place *p = &s.place;
    if (rc == 0) {
        struct shell_job j = {.c = c};
        j.name =
            arena_concat(&s.arena, p->group, "/", p->workspace, "/", p->experiment, "/", p->name);
        j.row = json_pack("{s:s, s:s, s:s, s:s}", "resourceGroup", p->group, "workspace",
                          p->workspace, "experiment", p->experiment, "name", p->name);
        rc = interrupt_take() ? end_wait(e) : 0;
        rc = rc < 0 ? cancel(&j, e) : wait_with_signals(&j, e);
        json_decref(j.row);
    }
    sent_job_free(&s);
    return rc;
}

int cmd_shell(const struct options *o)
{
    char name[NAME_SIZE], line[sizeof wait_line], *args[] = {line, NULL};
    struct options of_job = *o;
    print_name(name);
    memcpy(line, wait_line, sizeof line);
    of_job.args = args;
    of_job.n_args = 1;
    of_job.no_copy = true;
    of_job.name = o->name ? o->name : name;
    of_job.time = o->time ? o->time : LIMIT;
    if (!terminal_is_here()) {
        struct err e;
        err_set(&e, ERR_CONFIG, NULL,
                "a shell needs a terminal; run a command without one by: batchaid run -- COMMAND");
        return cli_fail(TERMINAL_LOST, &e);
    }
    return jobs_with_code(&of_job, TERMINAL_LOST, shell);
}
