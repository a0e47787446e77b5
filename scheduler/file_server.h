/* SPDX-License-Identifier: MIT
 *
 * File servers, as far as the scheduler has to do with them.
 */
#ifndef SCHEDULER_FILE_SERVER_H
#define SCHEDULER_FILE_SERVER_H

#include "scheduler/sched_priv.h"

/* The file server that a resource id names; *out is NULL if there is none, or if it is going. */
int file_server_find(struct storage *st, struct arena *a, const char *id, struct file_server **out,
                     struct err *e) MUST_CHECK;

#endif
