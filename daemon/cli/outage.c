/* SPDX-License-Identifier: MIT */
#include "daemon/cli/outage.h"

#include <stdio.h>
#include <time.h>

#include "daemon/cli/client.h"
#include "daemon/cli/table.h"

#define LONGEST_MS 600000

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool outage_goes_on(struct outage *o, const struct err *why, const char *before)
{
    if (!client_may_pass(why))
        return false;
    if (o->since_ms == 0) {
        o->since_ms = now_ms();
        fputs(before, stderr);
        table_say(stderr, "batchaid: %s", why->msg);
        fprintf(stderr, "batchaid: waiting up to %d minutes for the daemon\n", LONGEST_MS / 60000);
    }
    return now_ms() - o->since_ms < LONGEST_MS;
}
