/* SPDX-License-Identifier: MIT
 *
 * Tools for tests that start an sshd of their own: processes, ports, keys. The test program has
 * included cmocka.
 */
#ifndef TEST_SUPPORT_SSHD_H
#define TEST_SUPPORT_SSHD_H

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/link/identity.h"

#define SSHD "/usr/sbin/sshd"

static inline pid_t spawn(char *const *argv, const char *log)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600), in = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails half-way leaves nothing behind */
    dup2(in, 0);
    dup2(fd, 1);
    dup2(fd, 2);
    (void)signal(SIGPIPE, SIG_DFL);
    execv(argv[0], argv);
    _exit(127);
}

static inline void reap(pid_t pid, int signo)
{
    if (pid <= 1)
        return;
    kill(pid, signo);
    kill(pid, SIGCONT); /* a test that failed may have stopped it */
    waitpid(pid, NULL, 0);
}

/* Below the range that the kernel takes for outgoing connections: one of those, be it our own
 * asking whether sshd answers yet, could take the port before sshd has it. */
#define PORT_FIRST 10000
#define PORT_COUNT 22000

/* A free port. With `fd`, one that listens and never answers; the caller closes it. */
static inline int free_port(int *fd)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int port;
    do {
        port = PORT_FIRST + (int)(uv_hrtime() / 1000 % PORT_COUNT);
        a.sin_port = htons((uint16_t)port);
    } while (bind(s, (struct sockaddr *)&a, sizeof a) < 0);
    if (fd) {
        assert_int_equal(listen(s, 8), 0);
        *fd = s;
    } else {
        close(s);
    }
    return port;
}

static inline void put_file(const char *path, const char *text)
{
    struct err e;
    assert_int_equal(fs_write_atomic(path, text, strlen(text), 0600, &e), 0);
}

static inline bool answers(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                            .sin_port = htons((uint16_t)port)};
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool yes = connect(s, (struct sockaddr *)&a, sizeof a) == 0;
    close(s);
    return yes;
}

static inline void make_key(const char *path, char **public_line)
{
    struct err e;
    unlink(path);
    struct strbuf pub = STRBUF_INIT;
    strbuf_printf(&pub, "%s.pub", path);
    unlink(pub.s);
    strbuf_free(&pub);
    assert_int_equal(node_identity_create(path, "test", public_line, &e), 0);
}

static inline bool have_sshd(void)
{
    if (access(SSHD, X_OK) < 0)
        return false;
    /* A root's sshd wants this folder, which the package's service makes. */
    return geteuid() != 0 || access("/run/sshd", F_OK) == 0 || mkdir("/run/sshd", 0755) == 0;
}

struct process {
    pid_t pid, parent;
    bool is_sshd;
};

static inline bool process_read(const char *pid, struct process *out)
{
    char file[300], *text;
    snprintf(file, sizeof file, "/proc/%.20s/stat", pid);
    struct err e;
    if (pid[0] < '1' || pid[0] > '9' || fs_read(file, 4096, &text, NULL, &e) != 0)
        return false;
    const char *at = strrchr(text, ')');
    int parent = 0;
    bool ok = at && sscanf(at, ") %*c %d", &parent) == 1 && at[2] != 'Z';
    *out = (struct process){atoi(pid), parent, strstr(text, "(sshd") != NULL};
    free(text);
    return ok;
}

/* Signals what serves an sshd's connections; returns how many processes that were. An ordinary
 * user's sshd has two for each, the second the first one's child. What runs in a session goes on.
 */
static inline int signal_connections(pid_t sshd, int signo)
{
    struct process p, serving[256] = {{.pid = sshd}};
    size_t n = 1;
    for (int depth = 0; depth < 2; depth++) {
        DIR *d = opendir("/proc");
        assert_non_null(d);
        size_t above = n;
        for (struct dirent *de; n < 256 && (de = readdir(d));) {
            bool ours = false, known = false;
            if (!process_read(de->d_name, &p) || !p.is_sshd)
                continue;
            for (size_t i = 0; i < above; i++) {
                ours = ours || serving[i].pid == p.parent;
                known = known || serving[i].pid == p.pid;
            }
            if (ours && !known)
                serving[n++] = p;
        }
        closedir(d);
    }
    for (size_t i = 1; i < n; i++)
        (void)kill(serving[i].pid, signo);
    return (int)n - 1;
}

static inline const char *machine(void)
{
#if defined(__aarch64__)
    return "aarch64";
#else
    return "x86_64";
#endif
}

#endif
