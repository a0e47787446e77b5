/* SPDX-License-Identifier: MIT
 *
 * Variables BATCHAID_... of the daemon's environment: a misspelt variable would be ignored, and a
 * default would apply unnoticed. So an unknown variable is refused.
 */
#ifndef DAEMON_CONFIG_VARIABLES_H
#define DAEMON_CONFIG_VARIABLES_H

#include <stddef.h>

#include "lib/err.h"

/* Checks the environment of this process. `switches`: options of `serve` that may be variables too,
 * such as "fake-nodes". ERR_CONFIG names the variable, and the nearest known one. */
int variables_check(const char *const *switches, size_t n, struct err *e) MUST_CHECK;

/* "BATCHAID_FAKE_NODES" for "fake-nodes". Returns `out`. */
#define VARIABLE_SIZE 64
const char *variable_of_switch(const char *name, char out[VARIABLE_SIZE]);

#endif
