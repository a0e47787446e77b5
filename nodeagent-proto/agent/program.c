/* SPDX-License-Identifier: MIT
 *
 * Finds a program in PATH, then in the usual directories, and runs it with pipes for input and
 * output. Blocks until the program ends: for workers, never for the agent's loop.
 */
#include "nodeagent-proto/agent/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fs.h"

#define USUAL_PLACES "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define SAID_MAX     4096U

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static char *find_in(const char *places, const char *name)
{
    for (const char *p = places; p && *p; p += strcspn(p, ":"), p += *p == ':') {
        char *dir = strndup(p, strcspn(p, ":"));
        char *path = dir && *dir == '/' ? fs_join(dir, name) : NULL;
        free(dir);
        if (path && is_program(path))
            return path;
        free(path);
    }
    return NULL;
}

char *program_in_path(const char *name)
{
    return find_in(getenv("PATH"), name);
}

char *program_find(const char *name)
{
    char *path = program_in_path(name);
    return path ? path : find_in(USUAL_PLACES, name);
}

static _Noreturn void become(char *path, const char *const *argv, int in, int out)
{
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(out, STDERR_FILENO) >= 0) {
        setenv("LC_ALL", "C", 1);
        (void)signal(SIGPIPE, SIG_DFL);
        execv(path, (char *const *)(uintptr_t)argv);
    }
    _exit(127);
}

/* Returns the read end of a pipe that holds the whole input; without input, /dev/null. The input
 * fits into the pipe's buffer, so neither process waits for the other. */
static int input_pipe(const char *input)
{
    int fds[2];
    if (!input)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    int rc = fs_write_all(fds[1], input, strlen(input));
    close(fds[1]);
    (void)fcntl(fds[0], F_SETFL, 0);
    if (rc == 0)
        return fds[0];
    close(fds[0]);
    return -1;
}

static void read_said(int fd, struct strbuf *said)
{
    char buf[1024];
    ssize_t n;
    while ((n = read(fd, buf, sizeof buf)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0 && said->len < SAID_MAX)
            strbuf_add(said, buf, (size_t)n);
    while (said->len > 0 && strchr(" \n", said->s[said->len - 1]))
        said->s[--said->len] = '\0';
}

static int run(char *path, const char *const *argv, int in, const int out[2], struct strbuf *said)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        become(path, argv, in, out[1]);
    close(out[1]);
    if (pid > 0)
        read_said(out[0], said);
    close(out[0]);
    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int program_run(const char *const *argv, const char *input, struct strbuf *said, struct err *e)
{
    char *path = program_find(argv[0]);
    if (!path)
        return err_set(e, ERR_NODE, NULL,
                       "this machine has no program '%s' (looked for in PATH and " USUAL_PLACES
                       "); install the package it comes with",
                       argv[0]);
    int out[2], rc = -1, in = input_pipe(input);
    if (in >= 0 && pipe2(out, O_CLOEXEC) == 0)
        rc = run(path, argv, in, out, said);
    if (rc < 0)
        err_errno(e, ERR_NODE, "cannot run %s", path);
    if (in >= 0)
        close(in);
    free(path);
    return rc;
}
