/* SPDX-License-Identifier: MIT
 *
 * Finds rows by path parameters. Each find_*() fails if the resource or a parent is missing; the
 * error names the first missing parent. Rows are in the request's arena.
 */
#ifndef API_ARM_BATCHAI_LOOKUP_H
#define API_ARM_BATCHAI_LOOKUP_H

#include "api/arm/batchai/batchai.h"
#include "api/arm/lookup.h"
#include "model/resource.h"

int find_workspace(struct request *r, struct workspace *w, struct err *e) MUST_CHECK;
int find_experiment(struct request *r, struct experiment *x, struct err *e) MUST_CHECK;
int find_cluster(struct request *r, struct cluster *c, struct err *e) MUST_CHECK;
int find_file_server(struct request *r, struct file_server *f, struct err *e) MUST_CHECK;
int find_job(struct request *r, struct job *j, struct err *e) MUST_CHECK;

/* Read the parent of a cluster, file server or job, for paths with and without workspaces: 1; 0:
 * the home of the versions without workspaces (model/home.h) does not exist; -1: err. */
int seek_workspace(struct request *r, struct workspace *w, struct err *e) MUST_CHECK;
int seek_experiment(struct request *r, struct experiment *x, struct err *e) MUST_CHECK;

/* Finds the cluster with a resource id. ERR_INVALID_PROPERTY: `id` is not the id of a cluster;
 * ARM_LINKED_FORBIDDEN: the principal may not read a cluster with this id, whether it exists or
 * not. */
int find_cluster_by_ref(struct request *r, const char *id, struct cluster *c,
                        struct err *e) MUST_CHECK;

/* ERR_INVALID_NAME unless `name` is 1 to 64 letters, digits, '-' or '_' (in old versions also '.').
 */
int check_name(const struct request *r, const char *what, const char *name,
               struct err *e) MUST_CHECK;

/* Sets *who to the creator of the request's job or experiment; an arm_made_by function
 * (api/arm/may.h). *who is NULL for the DELETE of an experiment with a job of somebody else. */
int made_by(struct request *r, const char **who, struct err *e) MUST_CHECK;

#endif
