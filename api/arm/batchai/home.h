/* SPDX-License-Identifier: MIT
 *
 * The parent of a new resource, for paths with and without workspaces. In the api-versions without
 * workspaces the parent (model/home.h) is created together with the first resource, in one
 * transaction.
 */
#ifndef API_ARM_BATCHAI_HOME_H
#define API_ARM_BATCHAI_HOME_H

#include "api/arm/batchai/batchai.h"
#include "api/arm/kind.h"
#include "model/resource.h"
#include "storage/storage.h"

/* Finds the parent workspace or experiment. If its id is 0 afterwards, home_make_*() must create
 * it. */
int home_workspace(struct request *r, struct workspace *w, struct err *e) MUST_CHECK;
int home_experiment(struct request *r, struct workspace *w, struct experiment *x,
                    struct err *e) MUST_CHECK;

/* Call it in a transaction: if the id is 0, inserts the row and sets the id. */
int home_make_workspace(struct request *r, struct workspace *w, struct err *e) MUST_CHECK;
int home_make_experiment(struct request *r, struct workspace *w, struct experiment *x,
                         struct err *e) MUST_CHECK;

/* An id that no row has. */
#define NO_ROW (-1)
/* The filter for a list of clusters or file servers. Versions without workspaces see only those in
 * the home (model/home.h). */
int home_filter(struct request *r, const struct rm_query *q, struct st_filter *out,
                struct err *e) MUST_CHECK;

/* A step of a PUT of some kinds: sets m->parent to the parent workspace, and the operation's scope
 * to the workspace's. */
rm_step home_step_workspace;

#endif
