/* SPDX-License-Identifier: MIT
 *
 * The size of machines for a job of `submit`: of the sizes with machines that fit, the size with
 * the fewest GPUs.
 */
#ifndef DAEMON_CLI_JOB_SIZE_H
#define DAEMON_CLI_JOB_SIZE_H

#include "daemon/cli/job_wish.h"

/* Sets the size of p, the cluster, which has the size's name in lower case, and its limit of nodes.
 * Leaves p->vm_size if machines of any size fit, or if there are no machines. `machines`: as GET
 * /batchaid/nodes lists them. ERR_CONFIG: the job fits on no machine. */
int job_size_choose(const json_t *machines, const struct options *o, struct arena *a,
                    struct job_place *p, struct err *e) MUST_CHECK;

#endif
