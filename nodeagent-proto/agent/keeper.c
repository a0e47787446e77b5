/* SPDX-License-Identifier: MIT
 *
 * Signals a supervisor through a pidfd, so that no other process can get the signal, and waits
 * until the supervisor has ended.
 */
#include "nodeagent-proto/agent/keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/agent/supervisor.h"

/* The longest wait. The supervisor needs only milliseconds, unless a process of the task hangs in
 * the kernel. */
#define WAIT_MS      2000
#define WAIT_STEP_MS 10

static bool is_there(const struct start_record *r)
{
    return r->supervisor_start != 0 && procs_start_time(r->supervisor) == r->supervisor_start;
}

static void wait_for(const struct start_record *r, int fd)
{
    int64_t limit = monotonic_ms() + WAIT_MS;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (is_there(r) && !procs_is_over(r->supervisor) && monotonic_ms() < limit)
        if (poll(&p, fd >= 0, fd >= 0 ? (int)(limit - monotonic_ms()) : WAIT_STEP_MS) > 0)
            return;
}

/* Kernels before 5.3 have no pidfd, so there another process might get the pid between the check
 * and the signal. */
void keeper_end(const struct start_record *r)
{
    union sigval v = {.sival_int = SIGKILL};
    siginfo_t info = {.si_signo = SUPERVISOR_SIGNAL, .si_code = SI_QUEUE, .si_value = v};
    info.si_pid = getpid();
    info.si_uid = getuid();
    if (!is_there(r))
        return;
    int fd = (int)syscall(SYS_pidfd_open, r->supervisor, 0);
    if (fd >= 0 && is_there(r))
        (void)syscall(SYS_pidfd_send_signal, fd, SUPERVISOR_SIGNAL, &info, 0);
    else if (fd < 0 && errno == ENOSYS)
        (void)sigqueue(r->supervisor, SUPERVISOR_SIGNAL, v);
    wait_for(r, fd);
    if (fd >= 0)
        close(fd);
}
