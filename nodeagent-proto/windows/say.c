/* SPDX-License-Identifier: MIT
 *
 * Messages of cmd, and exit codes of children.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "nodeagent-proto/windows/windows_priv.h"

int complain(const char *fmt, ...)
{
    va_list ap;
    fflush(stdout);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    fflush(stderr);
    return 1;
}

int wait_for(int pid)
{
    int status;
    pid_t got;
    do
        got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
