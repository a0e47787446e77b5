/* SPDX-License-Identifier: MIT
 *
 * Open terminals: each is a client's connection (api/http/upgrade.h, lib/terminal_frames.h) and a
 * near end of a command on a node (scheduler/run/terminal.h), with bounded bytes in between. A
 * client that does not read stops the command's output, a command that does not read stops the
 * client.
 */
#ifndef API_ADMIN_TERMINALS_H
#define API_ADMIN_TERMINALS_H

#include "api/admin/admin.h"
#include "scheduler/run/terminal.h"

#define TERMINALS_MAX        256
#define TERMINALS_OF_ONE_MAX 32 /* of one principal */

struct terminals;

struct terminals *terminals_create(uv_loop_t *loop, const struct log *log);
/* Call after the server has stopped, which ends all terminals. */
void terminals_free(struct terminals *all);

struct terminal_for {
    int64_t run_id, job_id;
    const char *job; /* its name, for the log */
};
/* ERR_QUOTA: too many. Replies with 101, unless it returns NULL with *e. */
struct replied *terminals_add(struct terminals *all, struct request *r,
                              const struct terminal_for *of, const struct terminal_ask *ask,
                              struct err *e);

#endif
