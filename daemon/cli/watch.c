/* SPDX-License-Identifier: MIT
 *
 * Runs a command again and again. If it fails after it has succeeded once, it is still repeated,
 * because the daemon may be restarting.
 */
#include "daemon/cli/watch.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_S   2
#define OUTAGE_S   600
#define CLEAR_PAGE "\033[H\033[J" /* moves the cursor to the top, and clears the screen below */

static time_t now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

int watch(const struct options *o, int (*show)(const struct options *o))
{
    bool on_terminal = isatty(STDOUT_FILENO), was_shown = false;
    time_t last = now_s();
    for (bool first = true;; first = false) {
        if (o->watch && on_terminal)
            fputs(CLEAR_PAGE, stdout);
        else if (!first)
            putchar('\n');
        int code = show(o);
        if (code == EXIT_DONE) {
            was_shown = true;
            last = now_s();
        }
        if (!o->watch || !was_shown || now_s() - last >= OUTAGE_S)
            return code;
        if (fflush(stdout) == EOF)
            return EXIT_FAILED;
        sleep(PERIOD_S);
    }
}
