/* SPDX-License-Identifier: MIT
 *
 * Commands that go on while the daemon does not answer, because it may be restarting: a watched
 * command that fails after it has succeeded once is still repeated, and so is a failed request of a
 * command that waits for a job. Both for ten minutes.
 */
#include "daemon/cli/watch.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "daemon/cli/client.h"
#include "daemon/cli/table.h"

#define PERIOD_S   2
#define OUTAGE_MS  600000
#define CLEAR_PAGE "\033[H\033[J" /* moves the cursor to the top, and clears the screen below */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int watch(const struct options *o, int (*show)(const struct options *o))
{
    bool on_terminal = isatty(STDOUT_FILENO), was_shown = false;
    int64_t last_ms = now_ms();
    for (bool first = true;; first = false) {
        if (o->watch && on_terminal)
            fputs(CLEAR_PAGE, stdout);
        else if (!first)
            putchar('\n');
        int code = show(o);
        if (code == EXIT_DONE) {
            was_shown = true;
            last_ms = now_ms();
        }
        if (!o->watch || !was_shown || now_ms() - last_ms >= OUTAGE_MS)
            return code;
        if (fflush(stdout) == EOF)
            return EXIT_FAILED;
        sleep(PERIOD_S);
    }
}

bool outage_goes_on(struct outage *o, const struct err *why, const char *before)
{
    if (!client_may_pass(why))
        return false;
    if (o->since_ms == 0) {
        o->since_ms = now_ms();
        fputs(before, stderr);
        table_say(stderr, "batchaid: %s", why->msg);
        fprintf(stderr, "batchaid: waiting up to %d minutes for the daemon\n", OUTAGE_MS / 60000);
    }
    return now_ms() - o->since_ms < OUTAGE_MS;
}
