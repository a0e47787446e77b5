/* SPDX-License-Identifier: MIT
 *
 * What `batchaid queue`, `jobs` and `explain` share: they ask the running daemon and print what it
 * says.
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
/* Appends NAME=VALUE to a path, with ? or & before it; not if `value` is NULL. */
void jobs_filter(struct daemon_client *c, struct strbuf *path, const char *name, const char *value);
const char *jobs_text(const json_t *o, const char *key);
/* Says on standard error which filters let nothing through; not if none was given. `all`: what
 * shows everything, such as "`batchaid jobs` lists all". */
void jobs_nothing_fits(const struct options *o, const char *all);
void jobs_print_json(json_t *value); /* takes the reference */

#endif
