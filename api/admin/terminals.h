/* SPDX-License-Identifier: MIT
 *
 * Open terminals. Each joins a client's connection (api/http/upgrade.h, lib/terminal_frames.h) with
 * the daemon's end of a command on a node (scheduler/run/terminal.h); the bytes between them are
 * bounded. If the client does not read, the command's output stops; if the command does not read,
 * the client must stop sending input, but its pings are answered and its signals arrive.
 */
#ifndef API_ADMIN_TERMINALS_H
#define API_ADMIN_TERMINALS_H

#include "api/admin/admin.h"
#include "scheduler/run/terminal.h"

#define TERMINALS_MAX        256
#define TERMINALS_OF_ONE_MAX 32 /* open terminals of one principal */

struct terminals;

struct terminals *terminals_create(uv_loop_t *loop, const struct log *log);
/* Call it after the server has stopped: that ends all terminals. */
void terminals_free(struct terminals *all);

struct terminal_for {
    int64_t run_id, job_id;
    const char *job; /* its name, for the log */
};
/* Opens a terminal and replies with 101. NULL: err; ERR_QUOTA: too many terminals are open. */
struct replied *terminals_add(struct terminals *all, struct request *r,
                              const struct terminal_for *of, const struct terminal_ask *ask,
                              struct err *e);

#endif
