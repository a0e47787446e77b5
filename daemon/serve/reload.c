/* SPDX-License-Identifier: MIT */
#include "daemon/serve/reload.h"

#include <signal.h>

#include "lib/timefmt.h"

static void begin(struct reload *r);

#define DAY_US INT64_C(86400000000)

static void tell_end(void *ctx)
{
    struct reload *r = ctx;
    char when[TIMEFMT_SIZE];
    int64_t ends_us = certs_site_ends_us(r->certs);
    loop_timer_start(r->daily, loop_mono_us(r->loop) + DAY_US);
    if (ends_us == 0 || ends_us > loop_wall_us(r->loop))
        return;
    timefmt_wire(ends_us, when);
    LOG_WARN(r->log, "daemon.certificate_expired", LF_STR("ended", when),
             LF_STR("remedy", "renew the file that tls.certificate names, then send SIGHUP"));
}

static void read_files(void *ctx)
{
    struct reload *r = ctx;
    r->rc = certs_site_read(r->certs, &r->site, &r->err);
}

static void on_read(void *ctx, enum loop_work_end end)
{
    struct reload *r = ctx;
    r->reading = false;
    if (end == LOOP_WORK_DROPPED)
        return;
    if (r->rc == 0)
        r->rc = certs_site_take(r->certs, &r->site, loop_mono_us(r->loop), &r->err);
    if (r->rc == 0) {
        LOG_INFO(r->log, "daemon.reloaded");
        tell_end(r);
    } else {
        LOG_WARN(r->log, "daemon.not_reloaded", LF_STR("why", r->err.msg),
                 LF_STR("remedy", "the old certificate is shown on; mend the file, then reload"));
    }
    certs_site_free(&r->site);
    if (r->again)
        begin(r);
}

static void begin(struct reload *r)
{
    r->again = false;
    r->reading = loop_work(r->lane, read_files, on_read, r);
    if (!r->reading)
        LOG_WARN(r->log, "daemon.not_reloaded", LF_STR("why", "too much other work is waiting"));
}

static void on_signal(uv_signal_t *h, int signo)
{
    struct reload *r = h->data;
    (void)signo;
    if (r->reading)
        r->again = true; /* the running read may see the old files */
    else
        begin(r);
}

void reload_start(struct reload *r, uv_loop_t *loop)
{
    uv_signal_init(loop, &r->signal);
    r->signal.data = r;
    uv_signal_start(&r->signal, on_signal, SIGHUP);
    r->daily = loop_timer_create(r->loop, tell_end, r);
    tell_end(r);
}

void reload_stop(struct reload *r)
{
    r->again = false;
    uv_close((uv_handle_t *)&r->signal, NULL);
    loop_timer_destroy(r->daily);
}
