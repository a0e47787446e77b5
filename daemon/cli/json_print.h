/* SPDX-License-Identifier: MIT
 *
 * What --json prints: JSON texts on standard output, as all commands write them.
 */
#ifndef DAEMON_CLI_JSON_PRINT_H
#define DAEMON_CLI_JSON_PRINT_H

#include <jansson.h>

#include "lib/err.h"

/* Prints the value, indented, and a line's end. */
void json_print(const json_t *value);
/* The same, and releases the value. */
void json_print_new(json_t *value);
/* Prints {"value": VALUE}, and releases the value. */
void json_print_list(json_t *value);
/* JSON cannot say a name of a file that is not UTF-8. ERR_CONFIG with `what`, "the state
 * directory".
 */
int json_print_check(const char *what, const char *name, struct err *e) MUST_CHECK;

#endif
