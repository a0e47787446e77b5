/* SPDX-License-Identifier: MIT
 *
 * The daemon's work each second: it reports to the watchdog and the service manager that the loop
 * turns, and reaps children of the former program (orphans). Runs on the loop's thread.
 */
#include "daemon/serve/watching.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/serve/fatal.h"
#include "lib/fs.h"

enum { TICK_MS = 1000 };

/* ---- the service manager ---- */

void notify_manager(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof to.sun_path)
        return;
    size_t len = strlen(path);
    memcpy(to.sun_path, path, len);
    if (*path == '@') /* an abstract socket begins with a zero byte */
        to.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    ssize_t ignored = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
                             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    (void)ignored;
    close(fd);
}

/* ---- children of the daemon that this process was before it executed itself again ---- */

enum { ORPHANS_MAX = 1024, TEXT_MAX = 64 * 1024 };

static pid_t *orphans; /* owned */
static size_t n_orphans;

/* Reaps and forgets children that have ended. Cheap if there are none. */
static void orphans_reap(void)
{
    size_t kept = 0;
    for (size_t i = 0; orphans && i < n_orphans; i++)
        if (waitpid(orphans[i], NULL, WNOHANG) == 0)
            orphans[kept++] = orphans[i];
    n_orphans = kept;
    if (n_orphans == 0) {
        free(orphans);
        orphans = NULL;
    }
}

/* Finds the children. If the kernel does not list them in /proc, ended children stay zombies until
 * this process ends. */
void orphans_find(void)
{
    char path[64], *text, *end;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    if (fs_read(path, TEXT_MAX, &text, NULL, NULL) < 0)
        return;
    orphans = calloc(ORPHANS_MAX, sizeof *orphans);
    for (const char *at = text; orphans && n_orphans < ORPHANS_MAX; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            break;
        orphans[n_orphans++] = (pid_t)pid;
    }
    free(text);
    orphans_reap();
}

/* ---- the timer ---- */

/* A third of the service manager's timeout; 0: the manager has none, or it is for another
 * process. */
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
