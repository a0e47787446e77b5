/* SPDX-License-Identifier: MIT
 *
 * The watched thread records its own stack, in a handler of a signal that the watchdog sends; the
 * watchdog reads the stack after the handler has marked it complete.
 */
#include "lib/watchdog.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "lib/work.h"

enum {
    FRAMES = 48,
    PRIME_TICK = 3, /* by this tick after the start, the library that backtrace() needs is loaded */
    THREAD_STACK = 256 * 1024 /* in bytes: enough for logging and for loading a library */
};
/* How long the watched thread may take to answer the signal: 100 steps of 10 ms. */
#define ANSWER_STEPS   100
#define ANSWER_STEP_NS 10000000

struct watchdog {
    struct watchdog_config config;
    pthread_t thread;
    pid_t watched;
    atomic_uint turns;
    pthread_mutex_t lock; /* protects `stopping` */
    pthread_cond_t wake;
    bool stopping;
    /* Only the watchdog's thread uses the next members. */
    unsigned seen;
    int ticks, able; /* ticks since the last turn; those of them in which the state was not 'D' */
    bool ended, in_kernel;
    struct sigaction before;
};

/* --- the position of the thread --- */

static struct {
    void *frame[FRAMES];
    int n;
    char doing[WORK_TEXT_SIZE];
    atomic_bool asked, whole;
} taken;

static void take(int signo)
{
    (void)signo;
    int error = errno;
    if (!atomic_load(&taken.asked) || atomic_load(&taken.whole))
        return;
    const struct work_item *w = work_now();
    taken.doing[0] = '\0';
    if (w)
        work_text(w, taken.doing);
    taken.n = backtrace(taken.frame, FRAMES);
    atomic_store(&taken.whole, true);
    errno = error;
}

/* Asks the watched thread to record its stack. True: it has done so; false: it did not answer in
 * time. */
static bool ask(const struct watchdog *w)
{
    const struct timespec step = {.tv_nsec = ANSWER_STEP_NS};
    atomic_store(&taken.whole, false);
    atomic_store(&taken.asked, true);
    tgkill(getpid(), w->watched, SIGURG);
    for (int i = 0; i < ANSWER_STEPS && !atomic_load(&taken.whole); i++)
        nanosleep(&step, NULL);
    atomic_store(&taken.asked, false);
    return atomic_load(&taken.whole);
}

/* "batchaid+0x1234 < batchaid+0x5678": input for addr2line. The first two frames are the
 * handler's. */
static void put_stack(struct strbuf *b)
{
    for (int i = 2; i < taken.n; i++) {
        Dl_info in;
        strbuf_puts(b, b->len > 0 ? " < " : "");
        if (!dladdr(taken.frame[i], &in) || !in.dli_fname) {
            strbuf_printf(b, "%p", taken.frame[i]);
            continue;
        }
        const char *slash = strrchr(in.dli_fname, '/');
        strbuf_printf(b, "%s+0x%lx", slash ? slash + 1 : in.dli_fname,
                      (unsigned long)((uintptr_t)taken.frame[i] - (uintptr_t)in.dli_fbase));
        if (in.dli_sname)
            strbuf_printf(b, " (%s)", in.dli_sname);
    }
}

/* The thread's state as proc(5) names it: 'D': in an uninterruptible system call; 't', 'T':
 * stopped; '?': unknown. */
static char state_of(pid_t thread)
{
    char path[64], text[512], *end;
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *f = fopen(path, "re");
    if (f) {
        n = fread(text, 1, sizeof text - 1, f);
        fclose(f);
    }
    text[n] = '\0';
    end = strrchr(text, ')');
    return end && end[1] == ' ' ? end[2] : '?';
}

/* --- the watchdog's thread -----------------------------------------------------------------------
 */

/* A thread in an uninterruptible system call (state 'D') cannot answer, so only the name of its
 * work is recorded. */
static bool find_out(const struct watchdog *w, char state)
{
    if (state != 'D')
        return ask(w);
    const struct work_item *in = work_now();
    taken.n = 0;
    taken.doing[0] = '\0';
    if (in)
        work_text(in, taken.doing);
    return true;
}

static void report(const struct watchdog *w, char state)
{
    struct strbuf stack = STRBUF_INIT;
    const char kernel[] = {state, '\0'};
    bool told = find_out(w, state);
    if (told)
        put_stack(&stack);
    LOG_ERROR(w->config.log, "loop.stuck", LF_INT("seconds", w->ticks),
              LF_STR("work", told && *taken.doing ? taken.doing : NULL),
              LF_STR("thread_state", kernel), LF_STR("stack", stack.len > 0 ? stack.s : NULL));
    strbuf_free(&stack);
}

/* Ends the process once the thread stood still for end_ticks ticks outside of uninterruptible
 * system calls. */
static void end(struct watchdog *w, char state)
{
    if (state == 'D' && !w->in_kernel) {
        LOG_ERROR(w->config.log, "loop.blocked_in_kernel", LF_INT("seconds", w->ticks),
                  LF_STR("remedy", "a system call cannot be interrupted, so the daemon waits for "
                                   "it: check its mounts and disks"));
        w->in_kernel = true;
    }
    if (w->able < w->config.end_ticks)
        return;
    w->ended = true;
    LOG_ERROR(w->config.log, "loop.aborted", LF_INT("seconds", w->ticks));
    w->config.end(w->config.ctx);
}

static void goes_on(struct watchdog *w)
{
    if (w->ticks >= w->config.report_ticks)
        LOG_WARN(w->config.log, "loop.resumed", LF_INT("seconds", w->ticks));
    w->seen = atomic_load(&w->turns);
    w->ticks = w->able = 0;
    w->ended = w->in_kernel = false;
}

static void tick(struct watchdog *w)
{
    if (atomic_load(&w->turns) != w->seen) {
        goes_on(w);
        return;
    }
    char state = state_of(w->watched);
    if (state == 't' || state == 'T')
        return;
    w->ticks++;
    w->able += state != 'D';
    if (w->ticks == w->config.report_ticks)
        report(w, state);
    if (w->config.end_ticks > 0 && w->ticks >= w->config.end_ticks && !w->ended)
        end(w, state);
}

/* Waits for one tick. True: the tick is over; false: the watchdog must stop. A wait counts as one
 * tick, however long it took. */
static bool wait_tick(struct watchdog *w)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += w->config.tick_ms / 1000;
    until.tv_nsec += w->config.tick_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    int rc = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->stopping && rc == 0)
        rc = pthread_cond_timedwait(&w->wake, &w->lock, &until);
    bool stop = w->stopping;
    pthread_mutex_unlock(&w->lock);
    return !stop;
}

static atomic_bool primed;

bool watchdog_can_trace(void)
{
    return atomic_load(&primed);
}

static void *run(void *ctx)
{
    struct watchdog *w = ctx;
    void *frame;
    for (int n = 1; wait_tick(w); n += n < PRIME_TICK) {
        /* The first call of backtrace() loads a library, which a signal handler must not do. */
        if (n == PRIME_TICK - 1) {
            (void)backtrace(&frame, 1);
            atomic_store(&primed, true);
        }
        tick(w);
    }
    return NULL;
}

/* --- from outside
 * --------------------------------------------------------------------------------- */

static int start_thread(struct watchdog *w)
{
    pthread_attr_t how;
    sigset_t all, before;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, THREAD_STACK);
    sigfillset(&all);
    sigdelset(&all, SIGABRT);
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&w->thread, &how, run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&how);
    if (rc == 0)
        pthread_setname_np(w->thread, "watchdog");
    return rc;
}

struct watchdog *watchdog_create(const struct watchdog_config *c)
{
    struct watchdog *w = xcalloc(1, sizeof *w);
    pthread_condattr_t clock;
    w->config = *c;
    w->watched = gettid();
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &clock);
    pthread_condattr_destroy(&clock);
    struct sigaction sa = {.sa_handler = take, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigaction(SIGURG, &sa, &w->before);
    int rc = start_thread(w);
    if (rc == 0)
        return w;
    sigaction(SIGURG, &w->before, NULL);
    free(w);
    errno = rc;
    return NULL;
}

void watchdog_turn(struct watchdog *w)
{
    if (w)
        atomic_fetch_add(&w->turns, 1);
}

void watchdog_destroy(struct watchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    sigaction(SIGURG, &w->before, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
