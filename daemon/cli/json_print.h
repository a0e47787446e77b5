/* SPDX-License-Identifier: MIT
 *
 * What --json prints: JSON texts on standard output, as all commands write them.
 */
#ifndef DAEMON_CLI_JSON_PRINT_H
#define DAEMON_CLI_JSON_PRINT_H

#include <jansson.h>

#include "lib/err.h"

/* Prints the value, indented, and a newline. */
void json_print(const json_t *value);
/* Like json_print(), and then decrefs the value. */
void json_print_new(json_t *value);
/* Prints {"value": VALUE}, and then decrefs the value. */
void json_print_list(json_t *value);
/* Refuses a file name that is not UTF-8, because JSON cannot contain it. ERR_CONFIG: the message
 * contains `what`, for example "the state directory". */
int json_print_check(const char *what, const char *name, struct err *e) MUST_CHECK;

#endif
