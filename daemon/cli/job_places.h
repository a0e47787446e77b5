/* SPDX-License-Identifier: MIT
 *
 * The place of a job of `submit`: finds it, and makes the missing parts (group, workspace, cluster,
 * experiment, share) with requests that any client could send.
 */
#ifndef DAEMON_CLI_JOB_PLACES_H
#define DAEMON_CLI_JOB_PLACES_H

#include "daemon/cli/client.h"
#include "daemon/cli/job_wish.h"

/* Fills everything of *p but `archive`. Makes nothing. Texts are in the arena; p->secrets is the
 * caller's. */
int job_place_find(struct daemon_client *c, const struct options *o, struct arena *a,
                   struct job_place *p, struct err *e) MUST_CHECK;
/* ERR_CONFLICT: a job has the name already. */
int job_place_check_name(struct daemon_client *c, const struct job_place *p,
                         struct err *e) MUST_CHECK;
/* Makes the cluster, with the resources above it, or raises its limit of nodes to what the job
 * needs. Makes the caller's share. If the account is somebody else's, p->account becomes
 * p->second_account. */
int job_place_make(struct daemon_client *c, const struct options *o, struct job_place *p,
                   struct err *e) MUST_CHECK;
/* Creates the job, and its experiment if that is missing. ERR_CONFLICT: a job has the name
 * already. */
int job_place_put(struct daemon_client *c, const struct job_place *p, const json_t *document,
                  struct err *e) MUST_CHECK;

#endif
