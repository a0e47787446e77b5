/* SPDX-License-Identifier: MIT
 *
 * Lets a command that waits for a job also wait while the daemon does not answer, because the
 * daemon may be restarting.
 */
#ifndef DAEMON_CLI_OUTAGE_H
#define DAEMON_CLI_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

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
