/* SPDX-License-Identifier: MIT
 *
 * Jobs of all groups for administrators: which jobs the caller may see, and their displayed
 * properties.
 */
#ifndef API_ADMIN_SEEN_JOBS_H
#define API_ADMIN_SEEN_JOBS_H

#include "api/admin/admin.h"
#include "api/admin/members.h"
#include "model/resource.h"

/* Whether the caller may see the job. For operations whose service.may is sees_may(). */
bool seen_job(const struct request *r, const struct job *j);
/* The names, state and times of a job (struct job): the members of a job in all replies. */
extern const struct member seen_job_members[];
json_t *seen_job_render(struct request *r, const struct job *j);
json_t *seen_time(int64_t us); /* 0 gives NULL */
/* A line of a history: an event at the time `at_us`; 0: a statement about the present. */
json_t *seen_line(int64_t at_us, const char *text);
/* The text "NAME: VALUE", such as "stderr: ...", without line breaks at its end. In the request's
 * arena. */
const char *seen_detail(struct request *r, const char *name, const char *value);
/* The records of node use of a job's or task's first run. They name the machines of nodes that no
 * longer exist, too. */
struct seen_use {
    struct usage *rows;
    size_t n;
};
int seen_use_read(struct request *r, enum resource_kind owner, int64_t owner_id,
                  struct seen_use *out, struct err *e) MUST_CHECK;
/* The name of a node with its machine of the inventory, if it has one: "tvm-... (machine gpu01)".
 * node_id 0: the node no longer exists. In the request's arena. */
const char *seen_node(struct request *r, const struct seen_use *use, int64_t node_id,
                      const char *name);
/* Like seen_job_render(), for one run of the job; for an array with the run's index. */
json_t *seen_run_render(struct request *r, const struct job *j, const struct run *run);
/* A task of Azure Batch in a list of Batch AI jobs: its account is shown as the workspace, its job
 * as the experiment. */
struct batch_account;
struct batch_job;
struct batch_task;
/* Whether the caller has the right `action` in the account, by the rule of the data plane. */
#define SEEN_BATCH_POOLS "Microsoft.Batch/batchAccounts/pools/read"
#define SEEN_BATCH_JOBS  "Microsoft.Batch/batchAccounts/jobs/read"
bool seen_in_account(const struct request *r, const struct batch_account *b, const char *action);
json_t *seen_task_render(struct request *r, const struct batch_account *b,
                         const struct batch_job *j, const struct batch_task *t);
/* Reads the job of a run: 1; 0: there is none that the caller may see, or the run is a preparation
 * or release task; -1: err. */
int seen_job_with(struct request *r, const struct run *run, struct job *out, struct err *e);
/* Reads a run and its job: 1; 0: there is none that the caller may see; -1: err. */
int seen_job_of_run(struct request *r, int64_t run_id, struct job *out, struct run *found,
                    struct err *e);
/* Whether the job has the maker that the query requires: `user` requires this user, mine=true the
 * caller, both together both. Without these parameters always true. */
bool seen_job_is_by(struct request *r, const struct job *j);

#endif
