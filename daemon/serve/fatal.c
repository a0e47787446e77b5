/* SPDX-License-Identifier: MIT
 *
 * The end of the process by a fault of the daemon itself. The signal handler records the work in
 * progress, writes the stack to standard error, and executes this program again. It may run on any
 * thread, does its work at most once, and calls only async-signal-safe functions. `own` is global,
 * because signal handlers get no context.
 */
#include "daemon/serve/fatal.h"

#include <execinfo.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "daemon/serve/under_way.h"
#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/watchdog.h"
#include "lib/work.h"

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { N_FATAL = sizeof fatal / sizeof fatal[0], FRAMES = 64, ARGUMENTS_MAX = 1024 * 1024 };

static struct {
    struct sigaction before[N_FATAL];
    sigset_t mask; /* the process's initial signal mask */
    pid_t loop;
    atomic_bool ending, stuck;
    bool go_again;
    char program[PATH_MAX];
    char *arguments, **argv; /* owned */
} own;

/* The handler's stack, because the thread's stack may have overflowed. */
static char stack[64 * 1024];

/* --- the end
 * -------------------------------------------------------------------------------------- */

static struct sigaction *before(int signo)
{
    size_t i = 0;
    while (i < N_FATAL - 1 && fatal[i] != signo)
        i++;
    return &own.before[i];
}

static void write_stack(void)
{
    void *frame[FRAMES];
    if (!watchdog_can_trace())
        return;
    int n = backtrace(frame, FRAMES);
    backtrace_symbols_fd(frame, n, STDERR_FILENO);
}

/* Executes the program again; this closes all descriptors of the daemon. */
static void go_again(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!under_way_may_go_again(now.tv_sec))
        return;
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &own.mask, NULL);
    execv(own.program, own.argv);
}

static void on_fatal(int signo, siginfo_t *info, void *context)
{
    (void)context;
    const struct sigaction *old = before(signo);
    bool by_others = info->si_code == SI_USER && info->si_pid != getpid();
    if (!by_others && !work_gave_up() && !atomic_exchange(&own.ending, true)) {
        bool stuck = atomic_load(&own.stuck);
        under_way_note_end(signo, stuck || gettid() == own.loop, stuck);
        write_stack();
        /* If a sanitizer has a handler, that runs instead, because it reports more. */
        if (own.go_again && !(old->sa_flags & SA_SIGINFO) && old->sa_handler == SIG_DFL)
            go_again();
    }
    sigaction(signo, old, NULL);
    if (info->si_code <= 0 && signo != SIGABRT)
        /* otherwise the signal occurs again when the handler returns, or abort() raises it */
        raise(signo);
    if (by_others && signo == SIGABRT)
        raise(signo);
}

_Noreturn void fatal_stuck(void)
{
    atomic_store(&own.stuck, true);
    abort();
}

/* --- before it
 * ------------------------------------------------------------------------------------- */

/* Reads the original command line. */
static bool read_arguments(void)
{
    size_t n, count = 0, i = 0;
    ssize_t len = readlink("/proc/self/exe", own.program, sizeof own.program - 1);
    if (len <= 0 || fs_read("/proc/self/cmdline", ARGUMENTS_MAX, &own.arguments, &n, NULL) < 0)
        return false;
    own.program[len] = '\0';
    for (size_t at = 0; at < n; at += strlen(own.arguments + at) + 1)
        count++;
    own.argv = xcalloc(count + 1, sizeof *own.argv);
    for (size_t at = 0; at < n; at += strlen(own.arguments + at) + 1)
        own.argv[i++] = own.arguments + at;
    return count > 0;
}

/* Gives the handler a separate stack, because an overflowed stack has no room for it. */
static void give_stack(void)
{
    stack_t had, ours = {.ss_sp = stack, .ss_size = sizeof stack};
    if (sigaltstack(NULL, &had) == 0 && (had.ss_flags & SS_DISABLE))
        (void)sigaltstack(&ours, NULL);
}

void fatal_watch(bool again)
{
    struct sigaction sa = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&sa.sa_mask);
    own.loop = gettid();
    pthread_sigmask(SIG_SETMASK, NULL, &own.mask);
    own.go_again = again && read_arguments();
    give_stack();
    for (size_t i = 0; i < N_FATAL; i++)
        sigaction(fatal[i], &sa, &own.before[i]);
}

void fatal_unwatch(void)
{
    for (size_t i = 0; i < N_FATAL; i++)
        sigaction(fatal[i], &own.before[i], NULL);
    free(own.arguments);
    free(own.argv);
    own.arguments = NULL;
    own.argv = NULL;
}
