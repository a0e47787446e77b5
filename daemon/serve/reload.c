/* SPDX-License-Identifier: MIT
 *
 * A thread fills struct reload_files; the loop compares them with the files in use, and takes the
 * new ones into use or frees them. Everything but read_on_thread() runs on the loop's thread.
 */
#include "daemon/serve/reload.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/serve/changes.h"
#include "lib/arena.h"
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
    LOG_WARN(r->log, "daemon.certificate_expired", LF_STR("expired_at", when),
             LF_STR("remedy", "renew the file that tls.certificate names, then send SIGHUP"));
}

static void files_free(struct reload_files *f)
{
    certs_site_free(&f->certificate);
    metering_free(&f->metering);
    site_free(&f->site);
    config_free(&f->config);
    free(f);
}

/* --- requesters that wait --------------------------------------------------------------------- */

static void answer(struct reload_waiter **waiters, const json_t *changed, const struct err *why)
{
    struct reload_waiter *w = *waiters;
    *waiters = NULL;
    while (w) {
        struct reload_waiter *next = w->next;
        w->done(w->ctx, changed, why);
        free(w);
        w = next;
    }
}

void reload_end_requests(struct reload *r)
{
    struct err e;
    err_set(&e, ERR_UNAVAILABLE, NULL, "The daemon is stopping.");
    answer(&r->now, NULL, &e);
    answer(&r->further, NULL, &e);
}

/* --- a reading -------------------------------------------------------------------------------- */

static const struct config *config_in_use(const struct reload *r)
{
    return r->used ? &r->used->config : r->c->config;
}

static const struct daemon_site *site_in_use(const struct reload *r)
{
    return r->used ? &r->used->site : r->c->site;
}

/* Reads the files in use, or only checks the files that a restart will use: their settings are not
 * live, and the old files may be gone. */
static int read_certificate(const struct reload *r, struct reload_files *f, struct err *e)
{
    int64_t ends_us;
    const struct config *fresh = &f->config, *start = r->c->config;
    if (strcmp(fresh->tls_certificate, start->tls_certificate) == 0 &&
        strcmp(fresh->tls_key, start->tls_key) == 0)
        return certs_site_read(r->certs, &f->certificate, e);
    return certs_site_check(fresh->tls_certificate, fresh->tls_key, &ends_us, e) < 0
               ? err_prefix(e, "tls.certificate")
               : 0;
}

/* Runs on the worker thread; the loop does not change `used` meanwhile. Loads the programs for
 * machines when the first inventory needs them. */
static int read_files(struct reload *r, struct reload_files *f, struct err *e)
{
    if (r->c->load(r->c->load_ctx, &f->config, e) < 0 ||
        site_load(&f->config, r->c->state, &f->site, e) < 0 || read_certificate(r, f, e) < 0 ||
        metering_open(&f->config, &f->metering, e) < 0)
        return -1;
    site_keep(&f->site, site_in_use(r));
    return f->site.site.agents ? 0
                               : site_load_agents(&f->site, r->c->agent_path,
                                                  r->c->config->batch_windows_commands, e);
}

static void read_on_thread(void *ctx)
{
    struct reload *r = ctx;
    r->rc = read_files(r, r->reading, &r->err);
}

/* Takes the reading into use, as a whole or not at all. The certificate is made first, because it
 * may be refused, and the fleet borrows the settings forever once they are in use. */
static int take(struct reload *r, const json_t *changed, struct err *e)
{
    struct reload_files *f = r->reading;
    struct shown *shown;
    if (certs_site_make(r->certs, &f->certificate, &shown, e) < 0)
        return -1;
    if (changes_any_live(changed) && r->take(r->ctx, &f->config, &f->site.site, e) < 0) {
        certs_shown_free(shown);
        return -1;
    }
    certs_site_show(r->certs, shown, loop_mono_us(r->loop));
    r->meter(r->ctx, &f->metering);
    certs_site_free(&f->certificate);
    if (!changes_any_live(changed)) {
        files_free(f);
        return 0;
    }
    f->older = r->used;
    r->used = f;
    return 0;
}

static void refuse(struct reload *r)
{
    LOG_WARN(r->log, "daemon.not_reloaded", LF_STR("why", r->err.msg),
             LF_STR("remedy", "everything stays as it was; correct the file, then reload"));
    files_free(r->reading);
    answer(&r->now, NULL, &r->err);
}

static void accept_reading(struct reload *r)
{
    struct arena a;
    arena_init(&a);
    const struct changes_of of = {config_in_use(r), r->c->config, &r->reading->config,
                                  site_in_use(r), &r->reading->site};
    json_auto_t *changed = changes_find(&of);
    r->rc = take(r, changed, &r->err);
    if (r->rc == 0) {
        LOG_INFO(r->log, "daemon.reloaded", LF_STR("changed", changes_text(&a, changed, false)),
                 LF_STR("needs_restart", changes_text(&a, changed, true)));
        tell_end(r);
        answer(&r->now, changed, NULL);
    } else {
        refuse(r);
    }
    arena_free(&a);
}

static void on_read(void *ctx, enum loop_work_end end)
{
    struct reload *r = ctx;
    if (end == LOOP_WORK_DROPPED || r->stopped)
        files_free(r->reading);
    else if (r->rc == 0)
        accept_reading(r);
    else
        refuse(r);
    r->reading = NULL;
    if (r->again && !r->stopped)
        begin(r);
}

/* Refuses in a later turn of the loop, because the requester expects no reply before its call
 * returns. */
static void refuse_later(void *ctx)
{
    struct reload *r = ctx;
    err_set(&r->err, ERR_UNAVAILABLE, NULL, "too much other work is waiting");
    refuse(r);
    r->reading = NULL;
    r->again = false;
    answer(&r->further, NULL, &r->err);
}

static void begin(struct reload *r)
{
    r->again = false;
    r->now = r->further;
    r->further = NULL;
    r->reading = xcalloc(1, sizeof *r->reading);
    if (!loop_work(r->lane, read_on_thread, on_read, r))
        loop_defer(r->loop, refuse_later, r);
}

static void demand(struct reload *r)
{
    if (r->reading)
        r->again = true; /* the read in progress may have read the old files */
    else
        begin(r);
}

static void on_signal(uv_signal_t *h, int signo)
{
    (void)signo;
    demand(h->data);
}

void reload_ask(void *of, admin_reloaded *done, void *ctx)
{
    struct reload *r = of;
    struct reload_waiter *w = xcalloc(1, sizeof *w);
    *w = (struct reload_waiter){done, ctx, r->further};
    r->further = w;
    demand(r);
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
    r->stopped = true;
    uv_close((uv_handle_t *)&r->signal, NULL);
    loop_timer_destroy(r->daily);
}

void reload_free(struct reload *r)
{
    while (r->used) {
        struct reload_files *older = r->used->older;
        files_free(r->used);
        r->used = older;
    }
}
