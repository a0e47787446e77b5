/* SPDX-License-Identifier: MIT
 *
 * Asynchronous operations: the reply 202 and the operation's row. As in the real service,
 * Azure-AsyncOperation is a URL with operationresults, Location one with operationstatuses; both
 * have the operation's id.
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
    bool in_group;    /* the resource is directly in the group */
    bool is_delete;
    bool done; /* nothing is left to do: state succeeded */
};

/* Inserts the operation's row. *guid is in the request's arena. */
int operation_start(struct request *r, const struct op_request *o, const char **guid,
                    struct err *e) MUST_CHECK;
/* In one transaction, marks the resource and its contents as being deleted and inserts the
 * operation; then wakes the scheduler. */
int operation_delete(struct request *r, const struct op_request *o, const char **guid,
                     struct err *e) MUST_CHECK;
/* How long operations seem to take in strict mode; NULL: no delays. */
const struct pace *arm_pace(const struct request *r);
/* Whether the daemon behaves exactly like the service (strict mode), everywhere or in the request's
 * subscription. */
bool arm_is_strict(struct request *r);
/* Finds an operation by its id, only in the subscription of the path, and applies operation_look()
 * to it. */
int operation_find(struct request *r, const char *guid, struct operation *op,
                   struct err *e) MUST_CHECK;
/* 1: the path names a deletion that the principal of the request began; 0: it does not; -1: err.
 * The operation's id, as the last part of a longer name too, tells who began the operation. Only
 * paths of locations count, not those below a Batch account. */
int operation_is_own_delete(struct request *r, struct err *e) MUST_CHECK;
/* In strict mode, changes a succeeded operation to "in progress" until its delay has passed. */
void operation_look(const struct request *r, struct operation *op);
/* Whether a resource is still shown as being created (or a secret as being deleted) in strict mode.
 * *made_us: in: the time at which the row was inserted; out, if false: that time plus the delay
 * (in a seed unchanged). */
bool creation_look(const struct request *r, const char *subscription, enum pace_step step,
                   int64_t *made_us);
/* Adds Retry-After: the configured value, or the service's own in strict mode. */
void reply_retry_after(struct request *r);
/* Replies with 202, Location, Azure-AsyncOperation and Retry-After. */
REPLIED reply_accepted(struct request *r, const struct scope *scope, const char *guid);

struct replied *operation_results(struct request *r);
struct replied *operation_statuses(struct request *r);

#endif
