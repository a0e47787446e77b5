/* SPDX-License-Identifier: MIT
 *
 * --watch runs a command again and again; on a terminal, the new output replaces the old. A command
 * that is watched, or that waits for a job, also waits while the daemon does not answer, because
 * the daemon may be restarting.
 */
#ifndef DAEMON_CLI_WATCH_H
#define DAEMON_CLI_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/cli/cli.h"
#include "lib/err.h"

/* Runs `show` once; with --watch repeatedly until it fails for good, or nobody reads its output. */
int watch(const struct options *o, int (*show)(const struct options *o));

/* The pause between two requests while the daemon does not answer. */
#define OUTAGE_PAUSE_MS 2000

/* Begin with {0}, and set it to {0} when the daemon answers. */
struct outage {
    int64_t since_ms; /* monotonic; 0: the daemon answers */
};

/* Whether to repeat the failed request: yes for ten minutes, unless waiting cannot help. The first
 * time, reports the outage on standard error, after `before`, which clears a line of progress. */
bool outage_goes_on(struct outage *o, const struct err *why, const char *before);

#endif
