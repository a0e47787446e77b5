/* SPDX-License-Identifier: MIT
 *
 * `batchaid shell`: a job that only waits, and a shell in it.
 *
 * The job and the shell meet at a FIFO in the job's directory: the job reads it, and the shell has
 * it open. So the job ends with the shell, whatever ends the shell: its user, a lost connection, a
 * kill of this program. A job that no shell enters within a minute ends by itself.
 */
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/enter.h"
#include "daemon/cli/submit.h"
#include "daemon/cli/terminal.h"

#define FIFO      "\"$AZ_BATCHAI_JOB_TEMP/.batchaid-shell\""
#define ENTER_S   "60"
#define LOOK_MS   200
#define NAME_SIZE 16
/* The code of a reply from a node that does not take a terminal now. */
#define NOT_NOW "Conflict"
/* The time limit of a shell without --time. */
#define LIMIT "1h"

/* The job: waits for the shell to open the FIFO, and then for it to close it. */
static const char wait_line[] = "rm -f " FIFO "; mkfifo " FIFO " || exit 1; (sleep " ENTER_S
                                "; : >" FIFO ") & t=$!; exec 3<" FIFO "; kill $t; cat <&3";
/* The shell: 9 is the FIFO, also in its children. */
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

/* --- until it runs ---------------------------------------------------------------------------- */

static void cancel(struct daemon_client *c, const json_t *job)
{
    struct strbuf path = STRBUF_INIT;
    struct err ignored;
    json_t *reply = NULL;
    jobs_add_path(c, job, "/terminate", &path);
    if (client_call(c, "POST", path.s, NULL, &reply, &ignored) < 0)
        fprintf(stderr, "batchaid: %s is still there: %s\n", jobs_text(job, "name"), ignored.msg);
    json_decref(reply);
    strbuf_free(&path);
}

/* 1: it runs; 0: not yet. */
static int has_begun(struct daemon_client *c, const char *name, json_t **job, struct err *e)
{
    json_decref(*job);
    *job = NULL;
    if (jobs_find_job(c, name, job, e) < 0)
        return -1;
    if (jobs_has_ended(*job))
        return err_set(e, ERR_CONFIG, NULL,
                       "%s ended before its shell began; see: batchaid explain %s", name, name);
    return strcmp(jobs_text(*job, "state"), "running") == 0;
}

/* -1: a signal came, and the job is cancelled. */
static int wait_a_moment(struct daemon_client *c, const json_t *job, const sigset_t *signals,
                         struct err *e)
{
    static const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    if (sigtimedwait(signals, NULL, &pause) < 0)
        return 0;
    cancel(c, job);
    return err_set(e, ERR_CONFIG, NULL, "%s is cancelled", jobs_text(job, "name"));
}

static int wait_for_begin(struct daemon_client *c, const char *name, json_t **job,
                          const sigset_t *signals, struct err *e)
{
    bool said = false;
    for (;;) {
        int rc = has_begun(c, name, job, e);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
        if (wait_a_moment(c, *job, signals, e) < 0)
            return -1;
        if (!said)
            fprintf(stderr, "batchaid: %s waits for its node; Ctrl-C cancels it\n", name);
        said = true;
    }
}

/* --- the shell -------------------------------------------------------------------------------- */

/* A job that has just begun may refuse a shell for a moment: its node is still being prepared. */
static int wait_and_enter(struct daemon_client *c, const char *name, struct err *e)
{
    json_t *job = NULL;
    sigset_t signals, before;
    bool said = false;
    int rc;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    for (;;) {
        rc = wait_for_begin(c, name, &job, &signals, e);
        if (rc < 0)
            break;
        sigprocmask(SIG_SETMASK, &before, NULL);
        rc = enter_job(c, &(struct entered){.job = job, .index = -1}, shell_line, e);
        sigprocmask(SIG_BLOCK, &signals, NULL);
        if (rc >= 0 || strcmp(e->target, NOT_NOW) != 0)
            break;
        if (!said)
            fprintf(stderr, "batchaid: %s; it is asked again, and Ctrl-C cancels it\n", e->msg);
        said = true;
        if (wait_a_moment(c, job, &signals, e) < 0)
            break;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    json_decref(job);
    return rc;
}

static int shell(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct sent_job s = {.has_folder = false};
    arena_init(&s.arena);
    int rc = submit(c, o, &s, e);
    const struct job_place *p = &s.place;
    if (rc == 0) /* by its whole name: another group may have a job of this name, too */
        rc = wait_and_enter(
            c,
            arena_concat(&s.arena, p->group, "/", p->workspace, "/", p->experiment, "/", p->name),
            e);
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
