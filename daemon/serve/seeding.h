/* SPDX-License-Identifier: MIT
 *
 * `serve --seed FILE`: as soon as requests are served, a process of this same program
 * (`batchaid seed`) has the file applied, and only then the daemon is ready. It says on standard
 * error what is wrong with the file. A file with which the daemon has ended twice (under_way.h) is
 * left out, and the log says so.
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
    void (*done)(void *ctx, bool good); /* once; good: it is applied, or left out */
    void *ctx;
};

/* The endpoint is published. `s` stays where it is until the loop has ended. */
int seeding_begin(struct seeding *s, uv_loop_t *loop, const char *state_dir, const char *file,
                  struct err *e) MUST_CHECK;
/* The daemon stops: ends the process, if it still runs. */
void seeding_stop(struct seeding *s);

#endif
