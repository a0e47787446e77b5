/* SPDX-License-Identifier: MIT
 *
 * --watch: runs a command again and again; on a terminal, the new output replaces the old.
 */
#ifndef DAEMON_CLI_WATCH_H
#define DAEMON_CLI_WATCH_H

#include "daemon/cli/cli.h"

/* Runs `show` once; with --watch repeatedly until it fails for good, or nobody reads its output. */
int watch(const struct options *o, int (*show)(const struct options *o));

#endif
