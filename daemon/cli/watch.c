/* SPDX-License-Identifier: MIT */
#include "daemon/cli/watch.h"

#include <stdio.h>
#include <unistd.h>

#define PERIOD_S   2
#define CLEAR_PAGE "\033[H\033[J" /* the cursor at the top, nothing below */

int watch(const struct options *o, int (*show)(const struct options *o))
{
    bool on_terminal = isatty(STDOUT_FILENO);
    for (bool first = true;; first = false) {
        if (o->watch && on_terminal)
            fputs(CLEAR_PAGE, stdout);
        else if (!first)
            putchar('\n');
        int code = show(o);
        if (!o->watch || code != EXIT_DONE)
            return code;
        if (fflush(stdout) == EOF)
            return EXIT_FAILED;
        sleep(PERIOD_S);
    }
}
