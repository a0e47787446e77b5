/* SPDX-License-Identifier: MIT
 *
 * --watch: runs a command that shows something again and again; on a terminal, in one place.
 */
#ifndef DAEMON_CLI_WATCH_H
#define DAEMON_CLI_WATCH_H

#include "daemon/cli/cli.h"

/* Runs `show` once; with --watch again until it fails, or its output has no reader. */
int watch(const struct options *o, int (*show)(const struct options *o));

#endif
