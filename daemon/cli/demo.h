/* SPDX-License-Identifier: MIT
 *
 * The resources of `batchaid demo`, and the function that prints them.
 */
#ifndef DAEMON_CLI_DEMO_H
#define DAEMON_CLI_DEMO_H

#include <jansson.h>
#include <stdbool.h>

#include "daemon/cli/environment.h"

/* Rules for the fake nodes, up to a NULL, and the state that is seeded after them. */
extern const char *const demo_rules[];
extern const char demo_seed[];

/* Prints the resources in `dump`, and commands to try. `dir`: the daemon's state directory. */
void demo_show(const struct environment *env, const char *dir, const json_t *dump, bool json);

#endif
