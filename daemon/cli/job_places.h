/* SPDX-License-Identifier: MIT
 *
 * Finds the place of a job of `submit`, and makes its missing parts (group, workspace, cluster,
 * experiment, share) with requests that any client could send.
 */
#ifndef DAEMON_CLI_JOB_PLACES_H
#define DAEMON_CLI_JOB_PLACES_H

#include "daemon/cli/client.h"
#include "daemon/cli/job_wish.h"

/* Fills *p except `archive`. Creates nothing. Texts are in the arena; the caller decrefs
 * p->secrets. */
int job_place_find(struct daemon_client *c, const struct options *o, struct arena *a,
                   struct job_place *p, struct err *e) MUST_CHECK;
/* ERR_CONFLICT: a job with this name exists already. */
int job_place_check_name(struct daemon_client *c, const struct job_place *p,
                         struct err *e) MUST_CHECK;
/* Makes the cluster, with the resources above it, or raises its limit of nodes to what the job
 * needs. Makes the caller's share. If the account belongs to another user, sets p->account to
 * p->second_account. */
int job_place_make(struct daemon_client *c, const struct options *o, struct job_place *p,
                   struct err *e) MUST_CHECK;
/* Creates the job, and its experiment if that is missing. ERR_CONFLICT: a job with this name exists
 * already. */
int job_place_put(struct daemon_client *c, const struct job_place *p, const json_t *document,
                  struct err *e) MUST_CHECK;

#endif
