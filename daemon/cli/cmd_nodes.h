/* SPDX-License-Identifier: MIT
 *
 * `batchaid nodes` and its subcommands. cmd_nodes.c chooses the subcommand; the subcommands are in
 * these files: cmd_nodes_list.c and cmd_nodes_change.c ask the daemon, cmd_nodes_check.c and
 * cmd_nodes_clean.c connect to the machines themselves.
 */
#ifndef DAEMON_CLI_CMD_NODES_H
#define DAEMON_CLI_CMD_NODES_H

#include <jansson.h>

#include "daemon/cli/cli.h"
#include "daemon/config/config.h"
#include "daemon/config/site.h"

/* Each function gets the names of machines in `args` of its options, and returns the exit code. */
int cmd_nodes_list(const struct options *o);
int cmd_nodes_drain(const struct options *o);
int cmd_nodes_undrain(const struct options *o);
int cmd_nodes_reboot(const struct options *o);
int cmd_nodes_check(const struct options *o);
int cmd_nodes_clean(const struct options *o);

/* Builds the machines of a configuration, with the agents for them. */
int nodes_load_site(const struct options *o, const struct config *c, struct daemon_site *site,
                    struct err *e) MUST_CHECK;

/* Prints `what`, and how to write an inventory, on standard error. */
void nodes_explain_inventory(const char *what);

/* The check of the value of --state; an error lists the states. */
int nodes_check_state(const char *value, struct err *e);
/* Sets the error "there is no machine 'NAME'; there are ...", with the first of the `n` names. */
int nodes_unknown(const char *name, const char *(*name_at)(const void *ctx, size_t i),
                  const void *ctx, size_t n, struct err *e);

#endif
