/* SPDX-License-Identifier: MIT
 *
 * How commands complain; apart from the table of commands, which calls them.
 */
#include <stdio.h>

#include "daemon/cli.h"

int cli_fail(enum exit_code code, const struct err *e)
{
    fprintf(stderr, "batchaid: %s\n", e->msg);
    return code;
}
