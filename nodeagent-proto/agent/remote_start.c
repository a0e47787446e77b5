/* SPDX-License-Identifier: MIT
 *
 * Runs in the far end's process, which has one thread and the rights of the job. The child becomes
 * the leader of a new session, so that signals can be sent to its process group. If there is a
 * terminal, it belongs to the session.
 */
#include "nodeagent-proto/agent/remote_start.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "nodeagent-proto/agent/command.h"
#include "nodeagent-proto/wire/remote.h"

#define SIZE_MAX_TTY 10000 /* rows or columns */
#define CONNECT_S    5
#define TCP_LISTEN   10 /* the state in /proc/net/tcp */
#define CONTROL_MAX  64U

/* --- a command -------------------------------------------------------------------------------- */

static _Noreturn void become(const char *command, bool tty)
{
    static char *const as_sh[] = {(char *)(uintptr_t) "sh", NULL};
    static char *const as_bash[] = {(char *)(uintptr_t) "bash", NULL};
    struct arena a;
    struct err e;
    arena_init(&a);
    command_default_signals();
    unsetenv(REMOTE_SESSION_VARIABLE);
    unsetenv(REMOTE_SFTP_VARIABLE);
    unsetenv(REMOTE_TTY_VARIABLE);
    if (command) {
        command_exec_shell(command, environ, &a, &e);
        fprintf(stderr, "ssh: %s\n", e.msg);
    } else {
        execv("/bin/bash", tty ? as_bash : as_sh);
        execv("/bin/sh", as_sh);
        fprintf(stderr, "ssh: there is no shell\n");
    }
    _exit(REMOTE_NOT_RUN);
}

static void close_both(const int fds[2])
{
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static _Noreturn void become_on(const char *command, bool tty, const int fds[3])
{
    for (int fd = 0; fd < 3; fd++)
        if (dup2(fds[fd], fd) < 0)
            _exit(REMOTE_NOT_RUN);
    become(command, tty);
}

int remote_start_pipes(const char *command, struct remote_started *s)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    if (pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0)
        s->pid = fork();
    else
        s->pid = -1;
    if (s->pid == 0) {
        setsid();
        become_on(command, false, (const int[]){in[0], out[1], err[1]});
    }
    if (s->pid < 0) {
        int why = errno;
        close_both(in);
        close_both(out);
        close_both(err);
        errno = why;
        return -1;
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    s->in = in[1];
    s->out[0] = out[0];
    s->out[1] = err[0];
    (void)fcntl(s->in, F_SETFL, O_NONBLOCK);
    return 0;
}

/* --- a terminal ------------------------------------------------------------------------------- */

static void set_size(int fd, const char *text)
{
    char *end;
    long rows = strtol(text, &end, 10), columns = strtol(end, NULL, 10);
    if (rows < 1 || columns < 1 || rows > SIZE_MAX_TTY || columns > SIZE_MAX_TTY)
        return;
    const struct winsize w = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    (void)ioctl(fd, TIOCSWINSZ, &w);
}

int remote_start_tty(const char *command, const char *size, struct remote_started *s)
{
    char name[64];
    int main = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), side = -1, in = -1;
    if (main >= 0 && grantpt(main) == 0 && unlockpt(main) == 0 &&
        ptsname_r(main, name, sizeof name) == 0)
        side = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (side >= 0)
        in = fcntl(main, F_DUPFD_CLOEXEC, 3);
    if (in >= 0) {
        set_size(main, size);
        s->pid = fork();
    }
    if (in >= 0 && s->pid == 0) {
        const char *kind = strrchr(size, ' ');
        if (kind)
            setenv("TERM", kind + 1, 1);
        setsid();
        (void)ioctl(side, TIOCSCTTY, 0);
        become_on(command, true, (const int[]){side, side, side});
    }
    int why = errno;
    if (side >= 0)
        close(side);
    if (in < 0 || s->pid < 0) {
        close_both((const int[]){main, in});
        errno = why;
        return -1;
    }
    (void)fcntl(main, F_SETFL, O_NONBLOCK);
    *s = (struct remote_started){.pid = s->pid, .tty = true, .in = in, .out = {main, -1}};
    return 0;
}

/* --- a port ----------------------------------------------------------------------------------- */

/* Whether a line of /proc/net/tcp or tcp6 is a listener at this port of a loopback address or of
 * all addresses. Addresses are words of 32 bits in the machine's order. */
static bool listens_at(const char *line, unsigned port, unsigned *uid)
{
    char at[33];
    unsigned at_port, state;
    /* The kernel wrote the line, so no number is too large.  NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, " %*d: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %u", at, &at_port,
               &state, uid) != 4 ||
        at_port != port || state != TCP_LISTEN)
        return false;
    static const char *const heard[] = {
        "00000000",
        "0100007F",
        "00000000000000000000000000000000",
        "00000000000000000000000001000000",
        "0000000000000000FFFF00000100007F",
    };
    for (size_t i = 0; i < sizeof heard / sizeof heard[0]; i++)
        if (strcmp(at, heard[i]) == 0)
            return true;
    return false;
}

/* Adds to *listeners how many sockets of the table listen at the port, and to *own how many of
 * these belong to our account. */
static void count_listeners(const char *table, unsigned port, int *listeners, int *own)
{
    char line[512];
    unsigned uid;
    FILE *f = fopen(table, "re");
    while (f && fgets(line, sizeof line, f))
        if (listens_at(line, port, &uid)) {
            ++*listeners;
            *own += uid == geteuid();
        }
    if (f)
        fclose(f);
}

static int dial(int family, unsigned port)
{
    const struct sockaddr_in v4 = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                                    .sin6_port = htons((uint16_t)port),
                                    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const struct timeval limit = {.tv_sec = CONNECT_S};
    bool is4 = family == AF_INET;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, is4 ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6,
                is4 ? sizeof v4 : sizeof v6) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

int remote_start_port(const char *port, struct remote_started *s, char *why, size_t n)
{
    unsigned at = (unsigned)strtoul(port, NULL, 10);
    int listeners = 0, own = 0;
    count_listeners("/proc/net/tcp", at, &listeners, &own);
    count_listeners("/proc/net/tcp6", at, &listeners, &own);
    if (listeners == 0 || own < listeners) {
        snprintf(why, n,
                 listeners == 0 ? "nothing listens at port %u of a loopback address"
                                : "a process of another account listens at port %u",
                 at);
        return -1;
    }
    int fd = dial(AF_INET, at);
    if (fd < 0)
        fd = dial(AF_INET6, at);
    int in = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
    if (in < 0) {
        snprintf(why, n, "cannot connect to port %u: %s", at, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    *s = (struct remote_started){.in = in, .out = {fd, -1}};
    return 0;
}

/* --- all ---------------------------------------------------------------------------------------
 */

void remote_close_in(struct remote_started *s)
{
    if (s->in < 0)
        return;
    if (s->pid == 0)
        (void)shutdown(s->in, SHUT_WR);
    close(s->in);
    s->in = -1;
}

void remote_close_out(struct remote_started *s, int i)
{
    if (s->out[i] >= 0)
        close(s->out[i]);
    s->out[i] = -1;
}

static void send_signal(const struct remote_started *s, int signo)
{
    pid_t group = s->tty && s->out[0] >= 0 ? tcgetpgrp(s->out[0]) : 0;
    if (s->pid > 0 && signo > 0 && signo < NSIG)
        (void)kill(group > 1 ? -group : -s->pid, signo);
}

void remote_control(const struct remote_started *s, const char *text, size_t n)
{
    static const char size[] = "size ", signal[] = "signal ";
    char line[CONTROL_MAX];
    if (n >= sizeof line || s->pid < 0)
        return;
    memcpy(line, text, n);
    line[n] = '\0';
    if (strncmp(line, size, strlen(size)) == 0 && s->tty && s->out[0] >= 0)
        set_size(s->out[0], line + strlen(size));
    else if (strncmp(line, signal, strlen(signal)) == 0)
        send_signal(s, (int)strtol(line + strlen(signal), NULL, 10));
}
