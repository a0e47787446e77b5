/* SPDX-License-Identifier: MIT
 *
 * Error messages of commands. In a file apart from the table of commands, because that calls the
 * commands.
 */
#include <stdio.h>

#include "daemon/cli/cli.h"

int cli_fail(enum exit_code code, const struct err *e)
{
    fprintf(stderr, "batchaid: %s\n", e->msg);
    return code;
}
