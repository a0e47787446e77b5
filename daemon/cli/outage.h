/* SPDX-License-Identifier: MIT
 *
 * A command that waits for a job waits for a daemon that does not answer, too: it may restart.
 */
#ifndef DAEMON_CLI_OUTAGE_H
#define DAEMON_CLI_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

/* Between two requests while the daemon does not answer. */
#define OUTAGE_PAUSE_MS 2000

/* Begin with {0}, and set it to {0} when the daemon answers. */
struct outage {
    int64_t since_ms; /* monotonic; 0: the daemon answers */
};

/* Whether to repeat the request that failed: for ten minutes, unless waiting cannot help. Reports
 * this once on standard error, after `before`, which clears a line of progress. */
bool outage_goes_on(struct outage *o, const struct err *why, const char *before);

#endif
