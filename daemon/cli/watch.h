/* SPDX-License-Identifier: MIT
 *
 * --watch: a command that shows something is run again and again, on a terminal in the same place.
 */
#ifndef DAEMON_CLI_WATCH_H
#define DAEMON_CLI_WATCH_H

#include "daemon/cli/cli.h"

/* Runs `show` once; with --watch again until it fails, or its output has no reader. */
int watch(const struct options *o, int (*show)(const struct options *o));

#endif
