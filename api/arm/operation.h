/* SPDX-License-Identifier: MIT
 *
 * Asynchronous operations: the 202 answer and the row behind it. wire-notes: Azure-AsyncOperation
 * points at operationresults, Location at operationstatuses, both with one id.
 */
#ifndef API_ARM_OPERATION_H
#define API_ARM_OPERATION_H

#include "api/arm/arm.h"
#include "api/arm/routes.h"
#include "model/pace.h"
#include "model/resource.h"

struct op_request {
    enum resource_kind kind;
    int64_t resource_id;
    const struct scope *scope;
    const char *name; /* the resource's name */
    bool in_group;    /* the path has no level between the group and the resource */
    bool is_delete;
    bool done; /* no work is left: the row is written as succeeded */
};

/* Writes the operation's row. *guid is arena-owned. */
int operation_start(struct request *r, const struct op_request *o, const char **guid,
                    struct err *e) MUST_CHECK;
/* In one transaction, marks the resource and its contents as deleting and writes the operation;
 * then wakes the scheduler. */
int operation_delete(struct request *r, const struct op_request *o, const char **guid,
                     struct err *e) MUST_CHECK;
/* The pace that delays operations; NULL: no delays. */
const struct pace *arm_pace(const struct request *r);
/* Whether the daemon behaves exactly like the service (strict mode), everywhere or in the request's
 * subscription. */
bool arm_is_strict(struct request *r);
/* Finds an operation by its id, in the subscription of the path only; shows it as operation_look()
 * does. */
int operation_find(struct request *r, const char *guid, struct operation *op,
                   struct err *e) MUST_CHECK;
/* Shows a succeeded operation as in progress if strict mode says that it takes longer. */
void operation_look(const struct request *r, struct operation *op);
/* Whether a resource is still shown as being created (or a secret as being deleted).
 * *made_us: in: the time when its row was made; out: the end of the delay. */
bool creation_look(const struct request *r, const char *subscription, enum pace_step step,
                   int64_t *made_us);
/* Adds Retry-After: the configured value, or the service's own in strict mode. */
void reply_retry_after(struct request *r);
/* 202 with Location, Azure-AsyncOperation and Retry-After. */
REPLIED reply_accepted(struct request *r, const struct scope *scope, const char *guid);

struct replied *operation_results(struct request *r);
struct replied *operation_statuses(struct request *r);

#endif
