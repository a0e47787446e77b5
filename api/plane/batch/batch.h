/* SPDX-License-Identifier: MIT
 *
 * The data plane of Azure Batch: pools, nodes, jobs, tasks and their files, each account at hosts
 * of its own (ACCOUNT.REGION.batch.localhost).
 *
 * A request names its account by its host; or by the key that it is signed with, or, if there is
 * only one account, not at all: then https://localhost:PORT alone serves as its endpoint. Paths
 * have no account in them.
 */
#ifndef API_PLANE_BATCH_BATCH_H
#define API_PLANE_BATCH_BATCH_H

#include <jansson.h>

#include "api/arm/arm.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/rows.h"
#include "model/batch/versions.h"

struct batch_error_value;
struct batch_front;

/* Of each account; 0: there is none. */
struct batch_quotas {
    int64_t jobs, pools; /* jobs: with schedules, those that are not completed */
};

struct batch {
    struct arm arm;
    struct batch_front *front;
    struct batch_quotas quotas;
};

/* At the hosts of accounts; and at all others, by its paths. */
extern const struct service batch_service, batch_paths_service;

static inline const struct batch *batch_of(const struct request *r)
{
    return r->deps;
}

/* What is known of a request: who it is from is checked before its handler is called. */
struct batch_grant {
    struct batch_account account;
    bool by_key;                      /* signed with one of the account's keys */
    const struct batch_task *task;    /* whose token it has; NULL: it has none */
    struct batch_error_value *values; /* of the error to answer with (batch_value()) */
};

/* Made when it is asked for first. */
struct batch_grant *batch_grant(struct request *r);

static inline const struct batch_account *batch_account_of(struct request *r)
{
    return &batch_grant(r)->account;
}

/* service.may of both services: finds the account, and checks the signature or the token. */
int batch_may(struct request *r, struct err *e) MUST_CHECK;
/* For what a body has done besides what its path says: whether who asks may do that, too. Keys may;
 * of tasks' tokens nothing is asked here. `action`: "/pools/write". */
int batch_check_also(struct request *r, const char *action, struct err *e) MUST_CHECK;
/* "/subscriptions/S/.../batchAccounts/NAME", the arena's. */
const char *batch_account_scope(struct request *r);
/* Whether a role of who asks has this action at the account; ERR_FORBIDDEN. */
int batch_check_role(struct request *r, const char *action, struct err *e) MUST_CHECK;
/* Whether an account may have one more pool; as getters: 1, 0, -1. */
int batch_quota_pools(struct storage *st, const struct batch_quotas *q, int64_t account_id,
                      struct err *e) MUST_CHECK;
/* BATCH_ACTIVE_JOB_AND_SCHEDULE_QUOTA_REACHED: the account of the request may not. */
int batch_check_job_quota(struct request *r, struct err *e) MUST_CHECK;
/* timeout, recursive and force: refuses what is no value of theirs. */
int batch_check_query(struct request *r, struct err *e) MUST_CHECK;

/* --- references to application packages ---------------------------------------------------------
 *
 * Each in what is added or changed must be to a package that is active. */

/* `list`: applicationPackageReferences, or NULL. The first that names none: "app01 1.0", and in
 * *application the id alone; both the arena's. A getter: 0: there is none such. */
int package_refs_missing(struct storage *st, struct arena *a, int64_t account_id,
                         const json_t *list, const char **application, const char **text,
                         struct err *e) MUST_CHECK;
/* BATCH_INVALID_APPLICATION_PACKAGE_REFERENCES, with the application's id as a value. */
int batch_check_packages(struct request *r, const json_t *list, struct err *e) MUST_CHECK;
/* Those of a job, or of the jobs of a schedule: of its manager, and of the pool that is made for
 * it. */
int batch_check_job_packages(struct request *r, const json_t *job, struct err *e) MUST_CHECK;

#endif
