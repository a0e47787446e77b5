/* SPDX-License-Identifier: MIT
 *
 * Shared by `batchaid queue`, `jobs` and `explain`: they send a query to the running daemon and
 * print the reply.
 */
#ifndef DAEMON_CLI_CMD_JOBS_H
#define DAEMON_CLI_CMD_JOBS_H

#include <jansson.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "lib/strbuf.h"

/* Opens a client and calls `fn`; returns the exit code. */
int jobs_with_client(const struct options *o,
                     int (*fn)(struct daemon_client *c, const struct options *o, struct err *e));
/* Appends NAME=VALUE to a path, after ? or &; nothing if `value` is NULL. */
void jobs_filter(struct daemon_client *c, struct strbuf *path, const char *name, const char *value);
const char *jobs_text(const json_t *o, const char *key);
/* Prints on standard error which filters had no match; nothing without filters. `all`: a command
 * that shows everything, such as "`batchaid jobs` lists all". */
void jobs_nothing_fits(const struct options *o, const char *all);
void jobs_print_json(json_t *value); /* takes the reference */

#endif
