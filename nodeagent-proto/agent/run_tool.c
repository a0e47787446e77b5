/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/run_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/strbuf.h"
#include "nodeagent-proto/agent/descriptors.h"
#include "nodeagent-proto/agent/monotonic.h"

#define ASK_LIMIT_MS 10000
#define ANSWER_MAX   (64U * 1024)
#define SEARCH_PATH  "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* In the child. The environment has only PATH, because the agent's environment may hold secrets of
 * a task. */
static _Noreturn void become(const char *const *argv, int out_fd)
{
    sigset_t none;
    char *env[] = {(char *)(uintptr_t)SEARCH_PATH, NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out_fd, STDOUT_FILENO) < 0 ||
        dup2(null, STDERR_FILENO) < 0)
        _exit(127);
    descriptors_close_all_but(-1, -1, -1);
    (void)putenv(env[0]); /* execvpe() searches by the PATH of this process */
    execvpe(argv[0], (char *const *)(uintptr_t)argv, env);
    _exit(127);
}

/* True: the program has closed its output. False: the limit of time or size was reached, or reading
 * failed. */
static bool read_answer(int fd, struct strbuf *answer)
{
    int64_t limit = monotonic_ms() + ASK_LIMIT_MS, left;
    while (answer->len < ANSWER_MAX && (left = limit - monotonic_ms()) > 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        char buf[4096];
        if (poll(&p, 1, (int)left) <= 0)
            continue;
        ssize_t n = read(fd, buf, sizeof buf);
        if (n == 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            strbuf_add(answer, buf, (size_t)n);
    }
    return false;
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int ask_program(const char *const *argv, char **out, struct err *e)
{
    int fds[2];
    struct strbuf answer = STRBUF_INIT;
    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_errno(e, ERR_NODE, "cannot make a pipe");
    pid_t pid = fork();
    if (pid == 0)
        become(argv, fds[1]);
    close(fds[1]);
    bool complete = pid > 0 && read_answer(fds[0], &answer);
    close(fds[0]);
    if (pid > 0 && !complete)
        kill(pid, SIGKILL);
    int code = pid > 0 ? wait_for(pid) : -1;
    if (complete && code == 0) {
        *out = strbuf_take(&answer);
        return 0;
    }
    strbuf_free(&answer);
    if (pid > 0 && !complete)
        return err_set(e, ERR_NODE, NULL, "%s did not answer within %d s", argv[0],
                       ASK_LIMIT_MS / 1000);
    return err_set(e, ERR_NODE, NULL, code == 127 ? "%s could not be run" : "%s found no entry",
                   argv[0]);
}
