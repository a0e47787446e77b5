/* SPDX-License-Identifier: MIT
 *
 * Who may enter a running job: run a command or a shell, or open a connection, beside the job's
 * processes. The command or connection can reach everything that these processes can reach.
 */
#ifndef API_ADMIN_TERMINAL_RIGHT_H
#define API_ADMIN_TERMINAL_RIGHT_H

#include "api/admin/admin.h"
#include "model/resource.h"

/* 1: the principal made the job and has a role to run jobs there, or has a role that names
 * ACTION_ENTER_JOBS there (a `*` does not cover it). 0: the right *action at *scope is missing;
 * both are in the arena. -1: err. */
int terminal_may(const struct admin *d, struct arena *a, const struct principal *who,
                 const struct job *j, const char **action, const char **scope,
                 struct err *e) MUST_CHECK;
/* Repeats the check of terminal_may() later, for a job or a principal that may have been removed:
 * 1: still permitted; 0: not; -1: err. */
int terminal_still_may(const struct admin *d, const char *object_id, int64_t job_id,
                       struct err *e) MUST_CHECK;

#endif
