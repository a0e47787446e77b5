/* SPDX-License-Identifier: MIT
 *
 * The parent of a new resource, in either form of its path. The API versions without workspaces
 * make the parent (model/home.h) together with the first resource, in one transaction.
 */
#ifndef API_ARM_BATCHAI_HOME_H
#define API_ARM_BATCHAI_HOME_H

#include "api/arm/batchai/batchai.h"
#include "api/arm/kind.h"
#include "model/resource.h"
#include "storage/storage.h"

/* Finds the parent workspace or experiment. Id 0: home_make_*() must make it. */
int home_workspace(struct request *r, struct workspace *w, struct err *e) MUST_CHECK;
int home_experiment(struct request *r, struct workspace *w, struct experiment *x,
                    struct err *e) MUST_CHECK;

/* Called in a transaction: inserts a row with id 0 and sets its id. */
int home_make_workspace(struct request *r, struct workspace *w, struct err *e) MUST_CHECK;
int home_make_experiment(struct request *r, struct workspace *w, struct experiment *x,
                         struct err *e) MUST_CHECK;

/* An id that no row has. */
#define NO_ROW (-1)
/* Selects clusters or file servers of a list. The versions without workspaces see only clusters and
 * file servers in the home. */
int home_filter(struct request *r, const struct rm_query *q, struct st_filter *out,
                struct err *e) MUST_CHECK;

/* For a kind's steps of a PUT: the parent workspace is m->parent, and its scope the operation's. */
rm_step home_step_workspace;

#endif
