/* SPDX-License-Identifier: MIT
 *
 * What a waiting job waits for, in words.
 */
#ifndef API_ADMIN_WAITS_H
#define API_ADMIN_WAITS_H

#include "api/admin/admin.h"
#include "scheduler/queue_view.h"

/* Of the i-th of those that wait: "2 of 4 nodes free, behind j17". The request's; NULL: err. */
const char *waits_for(struct request *r, const struct queue_view *v, size_t i, struct err *e);
/* Of a run that is held: "job a to succeed, job b to end". */
const char *waits_for_ends(struct request *r, const struct run *run, struct err *e);

#endif
