/* SPDX-License-Identifier: MIT
 *
 * Lists the resources of a kind in all subscriptions of the daemon.
 */
#ifndef DAEMON_CLI_EVERYWHERE_H
#define DAEMON_CLI_EVERYWHERE_H

#include <jansson.h>

#include "daemon/cli/client.h"

/* Appends the resources to `rows`; `list`: the path of their list below a subscription, with its
 * query. */
int everywhere_list(struct daemon_client *c, const char *list, json_t *rows,
                    struct err *e) MUST_CHECK;

#endif
