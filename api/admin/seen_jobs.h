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

/* For operations whose service.may is sees_may(): whether the caller may see the job. */
bool seen_job(const struct request *r, const struct job *j);
/* The names, state and times of a job (struct job): members of all replies with jobs. */
extern const struct member seen_job_members[];
json_t *seen_job_render(struct request *r, const struct job *j);
json_t *seen_time(int64_t us); /* NULL: 0 */
/* A line of a story: an event with its instant; `at_us` 0: a statement about the present. */
json_t *seen_line(int64_t at_us, const char *text);
/* "stderr: ...", without line breaks at its end. Of the request. */
const char *seen_detail(struct request *r, const char *name, const char *value);
/* The use of nodes by the first run of a job or task. It has the machines of nodes that are
 * gone. */
struct seen_use {
    struct usage *rows;
    size_t n;
};
int seen_use_read(struct request *r, enum resource_kind owner, int64_t owner_id,
                  struct seen_use *out, struct err *e) MUST_CHECK;
/* A node with its machine of the inventory, if it has one: "tvm-... (machine gpu01)". node_id 0: it
 * is gone. In the request's arena. */
const char *seen_node(struct request *r, const struct seen_use *use, int64_t node_id,
                      const char *name);
/* Like seen_job_render() for one of its runs: of an array, with its index. */
json_t *seen_run_render(struct request *r, const struct job *j, const struct run *run);
/* A task of Azure Batch among jobs of Batch AI: its account takes the place of the workspace, its
 * job the place of the experiment. */
struct batch_account;
struct batch_job;
struct batch_task;
/* Whether the caller may read what is in the account, as the data plane has it. */
#define SEEN_BATCH_POOLS "Microsoft.Batch/batchAccounts/pools/read"
#define SEEN_BATCH_JOBS  "Microsoft.Batch/batchAccounts/jobs/read"
bool seen_in_account(const struct request *r, const struct batch_account *b, const char *action);
json_t *seen_task_render(struct request *r, const struct batch_account *b,
                         const struct batch_job *j, const struct batch_task *t);
/* The job of a run, if the caller may see it: 1, 0 or -1. */
int seen_job_with(struct request *r, const struct run *run, struct job *out, struct err *e);
/* A run and its job, if the caller may see it: 1, 0 or -1. */
int seen_job_of_run(struct request *r, int64_t run_id, struct job *out, struct run *found,
                    struct err *e);
/* Whether the user in the query made the job, and with mine=true the caller; true without both. */
bool seen_job_is_by(struct request *r, const struct job *j);

#endif
