/* SPDX-License-Identifier: MIT
 *
 * The data plane of Azure Batch: pools, nodes, jobs, tasks and their files. Each account has its
 * own hosts (ACCOUNT.REGION.batch.localhost).
 *
 * A request names its account by its host or by the key that signs it. If there is only one
 * account, a request need not name it, so https://localhost:PORT serves as its endpoint. Paths
 * contain no account.
 */
#ifndef API_PLANE_BATCH_BATCH_H
#define API_PLANE_BATCH_BATCH_H

#include <assert.h>
#include <jansson.h>

#include "api/arm/arm.h"
#include "api/http/service.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/rows.h"
#include "model/batch/versions.h"

struct azstorage;
struct batch_error_value;
struct batch_front;

struct batch {
    struct arm arm;
    struct batch_front *front;
    const struct azstorage *store; /* for signatures of URLs; borrowed */
};

/* batch_service serves the hosts of accounts; batch_paths_service serves the same paths at all
 * other hosts. */
extern const struct service batch_service, batch_paths_service;
/* Actions on jobs and tasks at the daemon's own paths, below /batchaid/batch. */
extern const struct service batch_actions_service;

static inline const struct batch *batch_of(const struct request *r)
{
    assert(service_deps_are(r->service, "batch"));
    return r->deps;
}

/* The verified facts about a request; the sender is checked before the handler is called. */
struct batch_grant {
    struct batch_account account;
    bool by_key;                   /* signed with one of the account's keys */
    const struct batch_task *task; /* the task whose token the request has; NULL: no such token */
    struct batch_error_value *values; /* values of the error reply, added by batch_value() */
};

/* The request's grant; the first call creates it. */
struct batch_grant *batch_grant(struct request *r);

static inline const struct batch_account *batch_account_of(struct request *r)
{
    return &batch_grant(r)->account;
}

/* The function `may` of both services: finds the account, and checks the signature or the token. */
int batch_may(struct request *r, struct err *e) MUST_CHECK;
/* Like batch_may(), for batch_actions_service: the account is in the path, and the login is
 * checked. */
int batch_may_in(struct request *r, const char *account, struct err *e) MUST_CHECK;
/* For a body whose request needs a further right: checks that the sender may also do `action`
 * ("/pools/write"). A request that is signed with a key may; the token of a task may not. */
int batch_check_also(struct request *r, const char *action, struct err *e) MUST_CHECK;
/* The account's resource id "/subscriptions/S/.../batchAccounts/NAME", in the request's arena. */
const char *batch_account_scope(struct request *r);
/* Fails with ERR_FORBIDDEN unless one of the principal's roles allows this action at the
 * account. */
int batch_check_role(struct request *r, const char *action, struct err *e) MUST_CHECK;
/* Fails with BATCH_ACTIVE_JOB_AND_SCHEDULE_QUOTA_REACHED if the request's account may have no more
 * jobs. */
int batch_check_job_quota(struct request *r, struct err *e) MUST_CHECK;
/* Refuses invalid values of timeout, recursive and force. */
int batch_check_query(struct request *r, struct err *e) MUST_CHECK;

/* --- references to application packages ---------------------------------------------------------
 *
 * Each reference that is added or changed must be to an active package. */

/* Finds the first reference to a package that does not exist. `list`: applicationPackageReferences,
 * or NULL. 1: *text becomes "app01 1.0", *application "app01", both in the arena; 0: all packages
 * exist. */
int package_refs_missing(struct storage *st, struct arena *a, int64_t account_id,
                         const json_t *list, const char **application, const char **text,
                         struct err *e) MUST_CHECK;
/* The id of a task must differ from the ids of the preparation and release tasks of its job (NULL:
 * no such task). Otherwise: BATCH_TASK_ID_SAME_AS_JOB_PREPARATION_TASK, ..._RELEASE_TASK. */
int batch_check_task_id(const char *preparation, const char *release, const char *id,
                        struct err *e) MUST_CHECK;
/* Checks the ids of the manager, preparation and release tasks of a job document, or of a
 * schedule's specification: they must differ. */
int batch_check_own_ids(const json_t *job, struct err *e) MUST_CHECK;
/* Fails with BATCH_INVALID_APPLICATION_PACKAGE_REFERENCES if a package of `list` does not exist;
 * the error has the application's id as a value. */
int batch_check_packages(struct request *r, const json_t *list, struct err *e) MUST_CHECK;
/* Checks the references of a job, or of a schedule's jobs: those of its manager, and of the pool
 * that is made for it. */
int batch_check_job_packages(struct request *r, const json_t *job, struct err *e) MUST_CHECK;

#endif
