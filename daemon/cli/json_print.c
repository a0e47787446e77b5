/* SPDX-License-Identifier: MIT
 *
 * Prints the JSON of commands, with an indentation of two spaces.
 */
#include "daemon/cli/json_print.h"

#include <stdio.h>
#include <string.h>

#include "lib/jsontext.h"

void json_print(const json_t *value)
{
    json_dumpf(value, stdout, JSON_INDENT(2));
    putchar('\n');
}

void json_print_new(json_t *value)
{
    json_print(value);
    json_decref(value);
}

void json_print_list(json_t *value)
{
    json_print_new(json_pack("{s:o}", "value", value));
}

int json_print_check(const char *what, const char *name, struct err *e)
{
    if (jsontext_is_utf8(name, strlen(name)))
        return 0;
    return err_set(e, ERR_CONFIG, NULL, "--json cannot print %s, which is not UTF-8; omit --json",
                   what);
}
