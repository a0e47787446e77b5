/* SPDX-License-Identifier: MIT
 *
 * Removes the content of the trash in a forked process; one such process runs at a time. The
 * process begins after a short delay, so that one process serves many small jobs.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent-proto/agent/agent.h"
#include "nodeagent-proto/agent/descriptors.h"
#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/agent/monotonic.h"

#define TRASH_PAUSE_MS 500

static _Noreturn void trash_worker(const struct agent *a, int done_fd)
{
    prctl(PR_SET_NAME, "batchai-trash");
    /* This process must not keep the link or the agent's lock open. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        close(fd);
    descriptors_close_all_but(done_fd, -1, -1);
    setsid();
    file_empty_directory(a->trash_dir);
    _exit(0);
}

static void start_worker(struct agent *a)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return;
    a->trash_worker = fork();
    if (a->trash_worker == 0)
        trash_worker(a, fds[1]);
    close(fds[1]);
    a->trash_fd = fds[0];
}

void agent_empty_trash(struct agent *a)
{
    if (a->trash_due_ms == 0)
        a->trash_due_ms = monotonic_ms() + TRASH_PAUSE_MS;
}

int agent_trash_timeout(const struct agent *a)
{
    if (a->trash_due_ms == 0 || a->trash_worker > 0)
        return -1;
    int64_t ms = a->trash_due_ms - monotonic_ms();
    return ms > 0 ? (int)ms : 0;
}

void agent_tend_trash(struct agent *a)
{
    if (agent_trash_timeout(a) != 0)
        return;
    a->trash_due_ms = 0;
    start_worker(a);
}

void agent_reap_trash_worker(struct agent *a)
{
    assert(a->trash_fd >= 0);
    close(a->trash_fd);
    a->trash_fd = -1;
    if (a->trash_worker > 0)
        waitpid(a->trash_worker, NULL, 0);
    a->trash_worker = 0;
}

void agent_empty_trash_at_last(struct agent *a)
{
    if (a->trash_due_ms == 0)
        return;
    if (a->trash_fd >= 0)
        close(a->trash_fd);
    a->trash_fd = -1;
    start_worker(a);
}
