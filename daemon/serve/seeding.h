/* SPDX-License-Identifier: MIT
 *
 * `serve --seed FILE`: as soon as requests are served, a child process (`batchaid seed`) loads the
 * file; the daemon is ready only after that. Errors in the file are written to standard error. A
 * file that has crashed the daemon twice (under_way.h) is skipped, and the log has the reason.
 */
#ifndef DAEMON_SERVE_SEEDING_H
#define DAEMON_SERVE_SEEDING_H

#include <stdbool.h>
#include <uv.h>

#include "lib/err.h"
#include "lib/log.h"

struct seeding {
    uv_process_t process;
    bool running;
    const char *file;
    const struct log *log;
    void (*done)(void *ctx, bool good); /* called once; good: the file is loaded, or skipped */
    void *ctx;
};

/* Call it after the endpoint is published. `s` must not move until the loop has ended. */
int seeding_begin(struct seeding *s, uv_loop_t *loop, const char *state_dir, const char *file,
                  struct err *e) MUST_CHECK;
/* Call it when the daemon stops: ends the child process if it still runs. */
void seeding_stop(struct seeding *s);

#endif
