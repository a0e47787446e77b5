/* SPDX-License-Identifier: MIT
 *
 * What was moved into the trash is removed by a process of its own, one at a time.
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

static _Noreturn void trash_worker(const struct agent *a, int done_fd)
{
    prctl(PR_SET_NAME, "batchai-trash");
    /* This process must keep neither the link nor the agent's lock open. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        close(fd);
    descriptors_close_all_but(done_fd, -1, -1);
    setsid();
    file_empty_directory(a->trash_dir);
    _exit(0);
}

void agent_empty_trash(struct agent *a)
{
    int fds[2];
    a->trash_more = a->trash_worker > 0;
    if (a->trash_worker > 0 || pipe2(fds, O_CLOEXEC) < 0)
        return;
    a->trash_worker = fork();
    if (a->trash_worker == 0)
        trash_worker(a, fds[1]);
    close(fds[1]);
    a->trash_fd = fds[0];
}

void agent_reap_trash_worker(struct agent *a)
{
    assert(a->trash_fd >= 0);
    close(a->trash_fd);
    a->trash_fd = -1;
    if (a->trash_worker > 0)
        waitpid(a->trash_worker, NULL, 0);
    a->trash_worker = 0;
    if (a->trash_more)
        agent_empty_trash(a);
}

void agent_empty_trash_at_last(struct agent *a)
{
    close(a->trash_fd);
    a->trash_fd = -1;
    a->trash_worker = 0;
    agent_empty_trash(a);
}
