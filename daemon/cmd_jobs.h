/* SPDX-License-Identifier: MIT
 *
 * What `batchaid queue`, `jobs` and `explain` share: they ask the running daemon and print what it
 * says.
 */
#ifndef DAEMON_CMD_JOBS_H
#define DAEMON_CMD_JOBS_H

#include <jansson.h>

#include "daemon/cli.h"
#include "daemon/client.h"
#include "lib/strbuf.h"

/* Opens a client and calls `fn`; returns the exit code. */
int jobs_with_client(const struct options *o,
                     int (*fn)(struct client *c, const struct options *o, struct err *e));
/* Appends NAME=VALUE to a path, with ? or & before it; not if `value` is NULL. */
void jobs_filter(struct client *c, struct strbuf *path, const char *name, const char *value);
const char *jobs_text(const json_t *o, const char *key);
void jobs_print_json(json_t *value); /* takes the reference */

#endif
