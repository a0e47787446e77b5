/* SPDX-License-Identifier: MIT
 *
 * The request for a terminal in a running job; `batchaid exec`, `ssh` and `forward` are the
 * clients. The command can do everything that the job's processes can do.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/admin/errors.h"
#include "api/admin/routes.h"
#include "api/admin/seen_jobs.h"
#include "api/admin/terminal_right.h"
#include "api/admin/terminals.h"
#include "api/http/accept.h"
#include "api/http/upgrade.h"
#include "lib/terminal_frames.h"
#include "model/enums.h"
#include "model/schema_rows.h"
#include "storage/storage.h"

#define COMMAND_MAX  200000 /* bytes */
#define NODE_MAX     255
#define TERM_MAX     64
#define ROWS_MAX     10000
#define TERM_UNKNOWN "dumb"
#define NO_INDEX     (-1)

struct terminal_request {
    const char *node, *command, *term;
    int rows, columns, port, index;
};

static int check_term(const json_t *value, const char *path, struct err *e)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._+-";
    const char *text = json_string_value(value);
    if (text[strspn(text, letters)] == '\0')
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "'%.64s' is not a valid terminal; use letters, digits and ._+- as in "
                   "xterm-256color",
                   text);
}

static const struct field asked_rows[] = {
    TEXT("node", 0, 1, NODE_MAX, INTO(terminal_request, node)),
    INT("index", INTO(terminal_request, index)),
    TEXT("command", KEEP_EMPTY, 0, COMMAND_MAX, INTO(terminal_request, command)),
    INT("rows", 0, 1, ROWS_MAX, INTO(terminal_request, rows)),
    INT("columns", 0, 1, ROWS_MAX, INTO(terminal_request, columns)),
    TEXT("term", 0, 1, TERM_MAX, .check = check_term, INTO(terminal_request, term)),
    INT("port", 0, 1, 65535, INTO(terminal_request, port)),
};
static SCHEMA(asked_body, asked_rows, "Terminal", FILLS(terminal_request));

static int read_ask(struct request *r, struct terminal_ask *out, int *index, struct err *e)
{
    struct terminal_request given = {.index = NO_INDEX};
    if (request_read_body(r, &asked_body, &given, e) < 0)
        return -1;
    if (given.port && (given.command || given.rows))
        return err_set(e, ERR_INVALID_PROPERTY, "port",
                       "a connection to a port has neither command nor rows; leave these out");
    if (!given.rows != !given.columns)
        return err_set(e, ERR_MISSING_PROPERTY, given.rows ? "columns" : "rows",
                       "a terminal needs rows and columns");
    *index = given.index;
    *out = (struct terminal_ask){
        .node = given.node, .command = given.command ? given.command : "", .port = given.port};
    if (given.rows)
        out->tty = arena_printf(&r->arena, "%d %d %s", given.rows, given.columns,
                                given.term ? given.term : TERM_UNKNOWN);
    return 0;
}

/* Finds the job in the path; fails if the caller may not see the job. */
static int find_job(struct request *r, struct job *j, struct err *e)
{
    const struct admin *d = admin_of(r);
    const char *of = request_query(r, "subscription");
    const struct scope s = {.subscription = of ? of : d->access->subscription_id,
                            .group = request_param(r, "group"),
                            .workspace = request_param(r, "workspace"),
                            .experiment = request_param(r, "experiment")};
    const char *name = request_param(r, "job");
    int rc = st_job_find(d->storage, &r->arena, &s, name, j, e);
    if (rc < 0 || (rc > 0 && seen_job(r, j)))
        return rc < 0 ? -1 : 0;
    return err_set(e, ERR_JOB_NOT_FOUND, NULL, "There is no job %.100s in %.100s/%.100s/%.100s.",
                   name, s.group, s.workspace, s.experiment);
}

static int no_run(const struct job *j, int index, int first, struct err *e)
{
    if (index == NO_INDEX)
        return err_set(e, ERR_MISSING_PROPERTY, "index",
                       "The job %s is an array of %d indexes; name one that runs, as in %s[%d].",
                       j->name, j->runs, j->name, first);
    if (j->runs <= 1 && first == 0)
        return err_set(e, ERR_INVALID_PROPERTY, "index",
                       "The job %s is not an array; leave the index out.", j->name);
    return err_set(e, ERR_INVALID_PROPERTY, "index",
                   "%d is not an index of the job %s; its first index is %d, and it has %d.", index,
                   j->name, first, j->runs);
}

static int check_runs(const struct job *j, const struct run *run, struct err *e)
{
    if (run->state == RUN_ALLOCATED)
        return 0;
    return j->runs > 1
               ? err_set(e, ERR_CONFLICT, NULL,
                         "Index %d of the job %s is not running now; a terminal needs a running "
                         "index.",
                         run->number, j->name)
               : err_set(e, ERR_CONFLICT, NULL, "The job %s is %s; a terminal needs a running job.",
                         j->name, enum_to_name(exec_state_names, (int)j->exec_state));
}

static int find_run(struct request *r, const struct job *j, int index, struct run *run,
                    struct err *e)
{
    struct storage *st = admin_of(r)->storage;
    int rc = st_run_of(st, &r->arena, RES_JOB, j->id, 0, run, e);
    int first = rc > 0 ? run->number : 0;
    if (rc > 0 && index != NO_INDEX)
        rc = st_run_of_number(st, &r->arena, RES_JOB, j->id, index, run, e);
    else if (j->runs > 1)
        rc = 0;
    if (rc < 0)
        return -1;
    return rc > 0 ? check_runs(j, run, e) : no_run(j, index, first, e);
}

static int check_right(struct request *r, const struct job *j, struct err *e)
{
    const char *action, *scope;
    int may = terminal_may(admin_of(r), &r->arena, r->who, j, &action, &scope, e);
    return may < 0 ? -1 : may ? 0 : access_refuse(r, action, scope, e);
}

/* Stores an event, so that the history of the job shows its owner who else opened a terminal. One
 * event for each person: every connection of `batchaid forward` is a terminal, and their events
 * would push the job's other events out of its history. */
static int tell_owner(struct request *r, const struct job *j, struct err *e)
{
    struct storage *st = admin_of(r)->storage;
    const char *reason = arena_concat(&r->arena, "a terminal was opened by ", r->who->name);
    bool told = false;
    if (j->created_by && strcasecmp(j->created_by, r->who->object_id) == 0)
        return 0;
    if (st_event_told(st, RES_JOB, j->id, reason, &told, e) < 0)
        return -1;
    return told ? 0
                : st_event_add(st,
                               &(struct event){.at_us = r->now_us,
                                               .kind = RES_JOB,
                                               .resource_id = j->id,
                                               .from = (int)j->exec_state,
                                               .to = (int)j->exec_state,
                                               .reason = reason},
                               e);
}

static int check_upgrade(const struct request *r, struct err *e)
{
    return request_may_upgrade(r)
               ? 0
               : err_set(e, ADMIN_UPGRADE_REQUIRED, NULL,
                         "A terminal needs the headers 'Connection: Upgrade' and 'Upgrade: %s' of "
                         "HTTP/1.1, and over TLS the same protocol by ALPN; `batchaid exec` sends "
                         "them.",
                         TERMINAL_PROTOCOL);
}

struct terminal_opening {
    struct request *r;
    const struct job *job;
    const struct run *run;
    const struct terminal_ask *ask;
    struct replied *done;
};

/* In a transaction, so that the event is undone if the terminal is refused. */
static int open_and_tell(struct storage *st, void *ctx, struct err *e)
{
    struct terminal_opening *o = ctx;
    const struct terminal_for of = {
        .run_id = o->run->id, .job_id = o->job->id, .job = o->job->name};
    (void)st;
    if (tell_owner(o->r, o->job, e) < 0)
        return -1;
    o->done = terminals_add(admin_of(o->r)->terminals, o->r, &of, o->ask, e);
    return o->done ? 0 : -1;
}

struct replied *terminal_open_in_job(struct request *r)
{
    struct job j;
    struct run run;
    struct err e;
    struct terminal_ask ask;
    struct terminal_opening o = {.r = r, .job = &j, .run = &run, .ask = &ask};
    int index = 0;
    bool told = find_job(r, &j, &e) == 0 && check_right(r, &j, &e) == 0 &&
                check_upgrade(r, &e) == 0 && read_ask(r, &ask, &index, &e) == 0 &&
                find_run(r, &j, index, &run, &e) == 0 &&
                st_tx(admin_of(r)->storage, "open a terminal", open_and_tell, &o, &e) == 0;
    return told || o.done ? o.done : reply_err(r, &e);
}
