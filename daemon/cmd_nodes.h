/* SPDX-License-Identifier: MIT
 *
 * `batchaid nodes` and what may follow it. cmd_nodes.c chooses; a file for each kind of work:
 * cmd_cmd_nodes_list.c and cmd_nodes_change.c ask the daemon, cmd_cmd_nodes_check.c goes to the
 * machines itself.
 */
#ifndef DAEMON_CMD_NODES_H
#define DAEMON_CMD_NODES_H

#include <jansson.h>

#include "daemon/cli.h"

/* Each gets the options with the names of machines as `args`, and returns the exit code. */
int cmd_nodes_list(const struct options *o);
int cmd_nodes_drain(const struct options *o);
int cmd_nodes_undrain(const struct options *o);
int cmd_nodes_reboot(const struct options *o);
int cmd_nodes_check(const struct options *o);

/* On standard error: `what`, and how an inventory is written. */
void nodes_explain_inventory(const char *what);

/* Prints `value` as the JSON text {"value": [...]}; takes the reference. */
void nodes_print_json(json_t *value);

/* "there is no machine 'NAME'; there are: ..." with as many of the `n` names as are worth reading.
 */
int nodes_unknown(const char *name, const char *(*name_at)(const void *ctx, size_t i),
                  const void *ctx, size_t n, struct err *e);

#endif
