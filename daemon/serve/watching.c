/* SPDX-License-Identifier: MIT */
#include "daemon/serve/watching.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/serve/fatal.h"
#include "daemon/serve/notify.h"
#include "daemon/serve/orphans.h"

enum { TICK_MS = 1000 };

/* A third of the service manager's timeout; 0: it has none, or for another process. */
static int64_t ping_us(void)
{
    const char *limit = getenv("WATCHDOG_USEC"), *whose = getenv("WATCHDOG_PID");
    long long us = limit ? strtoll(limit, NULL, 10) : 0;
    if (us <= 0 || (whose && strtoll(whose, NULL, 10) != getpid()))
        return 0;
    return us >= 3 ? us / 3 : 1;
}

static void on_timer(void *ctx)
{
    struct watching *w = ctx;
    int64_t now = loop_mono_us(w->loop);
    watchdog_turn(w->dog);
    orphans_reap();
    if (w->ping_us > 0 && now - w->pinged_us >= w->ping_us - w->period_us / 2) {
        notify_manager("WATCHDOG=1");
        w->pinged_us = now;
    }
    loop_timer_start(w->timer, now + w->period_us);
}

static void end(void *ctx)
{
    (void)ctx;
    fatal_stuck();
}

void watching_begin(struct watching *w, struct loop *loop, const struct serve_config *c)
{
    const struct watchdog_config wc = {.log = c->log,
                                       .tick_ms = TICK_MS,
                                       .report_ticks = (int)c->config->watchdog_report_s,
                                       .end_ticks = (int)c->config->watchdog_end_s,
                                       .end = end};
    *w = (struct watching){.loop = loop, .period_us = TICK_MS * 1000, .ping_us = ping_us()};
    if (w->ping_us > 0 && w->ping_us < w->period_us)
        w->period_us = w->ping_us;
    w->dog = watchdog_create(&wc);
    if (!w->dog)
        LOG_WARN(c->log, "watchdog.not_started", LF_STR("why", strerror(errno)));
    w->timer = loop_timer_create(loop, on_timer, w);
    on_timer(w);
}

void watching_end(struct watching *w)
{
    watchdog_destroy(w->dog);
    loop_timer_destroy(w->timer);
    *w = (struct watching){.loop = NULL};
}
