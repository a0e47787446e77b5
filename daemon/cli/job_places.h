/* SPDX-License-Identifier: MIT
 *
 * Where a job of `submit` goes: it finds the place, and makes what is missing of group, workspace,
 * cluster, experiment and share, with the requests of any client.
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
/* Makes the cluster, with what it is in, or lets it have as many nodes as the job needs; and the
 * caller's share. If the account is somebody else's, p->account becomes the second. */
int job_place_make(struct daemon_client *c, const struct options *o, struct job_place *p,
                   struct err *e) MUST_CHECK;
/* Creates the job, and its experiment if that is missing. ERR_CONFLICT: a job has the name
 * already. */
int job_place_put(struct daemon_client *c, const struct job_place *p, const json_t *document,
                  struct err *e) MUST_CHECK;

#endif
