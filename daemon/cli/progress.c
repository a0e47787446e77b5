/* SPDX-License-Identifier: MIT */
#include "daemon/cli/progress.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "daemon/cli/table.h"

#define QUIET_US INT64_C(1000000)
#define AGAIN_US INT64_C(200000)
#define WIDEST   200 /* the most characters; a line wider than the terminal cannot be overwritten */

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void progress_begin(struct progress *p)
{
    *p = (struct progress){.terminal = isatty(STDERR_FILENO), .begun_us = now_us()};
}

void progress_begin_unless(struct progress *p, bool quiet)
{
    progress_begin(p);
    p->terminal = p->terminal && !quiet;
}

int64_t progress_us(const struct progress *p)
{
    return now_us() - p->begun_us;
}

static bool is_time(const struct progress *p)
{
    int64_t now = now_us();
    return p->terminal && now - p->begun_us >= QUIET_US &&
           (!p->shown || now - p->shown_us >= AGAIN_US);
}

/* Whether the terminal takes text now. If the user has stopped it with Ctrl-S, the work must not
 * stop, too: a backup has a transaction open. */
static bool takes_text(void)
{
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

void progress_say(struct progress *p, const char *fmt, ...)
{
    char *text;
    va_list ap;
    if (!is_time(p) || !takes_text())
        return;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    va_end(ap);
    table_clean(text);
    int width = table_screen_of(stderr).width;
    int most = width > 1 && width < WIDEST ? width - 1 : WIDEST;
    fprintf(stderr, "\r\033[K%.*s", table_bytes_of(text, most), text);
    fflush(stderr);
    free(text);
    p->shown = true;
    p->shown_us = now_us();
}

void progress_say_bytes(struct progress *p, const char *what, int64_t done, int64_t all)
{
    struct strbuf so_far = STRBUF_INIT, of = STRBUF_INIT;
    if (!is_time(p))
        return;
    table_bytes(done, &so_far);
    table_bytes(all, &of);
    progress_say(p, "%s%s%s: %s", so_far.s, all > 0 ? " of " : "", all > 0 ? of.s : "", what);
    strbuf_free(&so_far);
    strbuf_free(&of);
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
