/* SPDX-License-Identifier: MIT
 *
 * Functions for the commands that send a query to the running daemon and print the reply: `batchaid
 * queue`, `jobs`, `explain`, `job` and `report`.
 */
#ifndef DAEMON_CLI_CMD_JOBS_H
#define DAEMON_CLI_CMD_JOBS_H

#include <jansson.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "lib/strbuf.h"

/* Opens a client and calls `fn`; returns the exit code. */
int jobs_with_client(const struct options *o,
                     int (*fn)(struct daemon_client *c, const struct options *o, struct err *e));
/* Like jobs_with_client(), but always for the daemon of this machine, even if there is a login. */
int jobs_here(const struct options *o,
              int (*fn)(struct daemon_client *c, const struct options *o, struct err *e));
/* Like jobs_with_client(), but `fn` returns the exit code, or -1: then the exit code is `own`. */
int jobs_with_code(const struct options *o, int own,
                   int (*fn)(struct daemon_client *c, const struct options *o, struct err *e));
/* Opens a client of the daemon that the options and the login select. */
int jobs_open(const struct options *o, struct daemon_client **out, struct err *e);
/* Like jobs_open(), but does not log in; client_enter() does. */
int jobs_reach(const struct options *o, struct daemon_client **out, struct err *e);
/* Appends NAME=VALUE to a path, after ? or &; nothing if `value` is NULL. */
void jobs_filter(struct daemon_client *c, struct strbuf *path, const char *name, const char *value);
const char *jobs_text(const json_t *o, const char *key);
/* Appends all results of a query, page by page; `question` has no page yet. */
int jobs_ask_all(struct daemon_client *c, const char *question, json_t *found,
                 struct err *e) MUST_CHECK;
/* Appends the results of the first page that has any, because pages may be empty. */
int jobs_ask_first(struct daemon_client *c, const char *question, json_t *found,
                   struct err *e) MUST_CHECK;
/* Prints on standard error that no job matches, with the filters, then `all`, which names a command
 * that shows everything, such as "`batchaid jobs` lists all". Without filters prints `none`. */
void jobs_nothing_fits(const struct options *o, const char *none, const char *all);
/* The name that means the last job that the caller has submitted. */
#define JOBS_LAST "-"
/* Finds the job or task with this name, [[[GROUP/]WORKSPACE/]EXPERIMENT/]JOB or
 * [[GROUP/]ACCOUNT/]JOB/TASK; if there is none, the only job whose name begins with it; or
 * JOBS_LAST. If several subscriptions have a job with this path, takes the job in the client's
 * subscription; if that has none, the error lists them. Caller decrefs *found, an array. */
int jobs_find(struct daemon_client *c, const char *name, json_t **found, struct err *e);
/* Like jobs_find(), but finds only jobs of Batch AI. Caller decrefs *job. */
int jobs_find_job(struct daemon_client *c, const char *name, json_t **job, struct err *e);
/* Like jobs_find_job(), but also takes "sweep[3]", an index of an array as tables show it. *index
 * is -1 if the name contains no index. */
int jobs_find_index(struct daemon_client *c, const char *name, json_t **job, json_int_t *index,
                    struct err *e);
/* A copy of the name without its index; *index points to the index as a text in that copy, NULL if
 * the name contains none. Caller frees. */
char *jobs_without_index(const char *name, const char **index);
/* The daemon's rows leave out the configured subscription; adds it to rows if the client's
 * subscription is another. jobs_find() and similar functions have called this already. */
int jobs_name_subscription(struct daemon_client *c, json_t *rows, struct err *e) MUST_CHECK;
/* Fails if the client means a subscription that does not exist, for whoever has found no job. */
int jobs_check_subscription(struct daemon_client *c, struct err *e) MUST_CHECK;
/* The id of the subscription of a row; borrowed. */
const char *jobs_subscription(const struct daemon_client *c, const json_t *j);
/* The job's name as the argument of a command, with --subscription if the name alone may mean
 * another job. Caller frees. */
char *jobs_words(const struct daemon_client *c, const json_t *j);
/* Appends the path of the job's resource and `tail`, with the api-version as its query; `j`
 * contains its subscription, unless that is the client's. */
void jobs_add_path(struct daemon_client *c, const json_t *j, const char *tail, struct strbuf *path);
/* Appends the path of the job in batchaid's own service (what `batchaid explain` gets); `tail` is a
 * path below it, or "". */
void jobs_add_story(struct daemon_client *c, const json_t *j, const char *tail,
                    struct strbuf *path);
/* The path of the next page of a list of Batch AI resources; NULL: this page is the last.
 * Borrowed. */
const char *jobs_next_page(const struct daemon_client *c, const json_t *reply);
/* Whether the job has ended; `j` is a reply of the daemon. */
bool jobs_has_ended(const json_t *j);
/* Gets BELOW/GROUP/WORKSPACE/EXPERIMENT/JOB of a found job or task. */
int jobs_ask_about(struct daemon_client *c, const char *below, const json_t *j, json_t **reply,
                   struct err *e);

#endif
