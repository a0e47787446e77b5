/* SPDX-License-Identifier: MIT
 *
 * The far end of a remote command: a task of the job on the other node.
 *
 *   waiting for the command's text -> it runs -> it and its output ended -> EXIT was answered ->
 *   nothing of it is left
 *
 * If the near end's process has ended, the far end kills all processes of the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/strbuf.h"
#include "nodeagent-proto/agent/command.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/agent/remote_end.h"
#include "nodeagent-proto/agent/ssh.h"

#define COMMAND_MAX (1024U * 1024)
/* bytes of input that the command has not read */
#define PENDING_MAX  (STREAM_WINDOW * REMOTE_BYTES_MAX)
#define GONE_MAX_MS  5000 /* ms; an end that reconnects needs less */
#define GRACE_MS     3000 /* between SIGTERM and SIGKILL */
#define KILL_STEP_MS 50
#define NOT_RUN      255

struct far_end {
    struct remote_end end;
    struct strbuf command;
    pid_t pid; /* 0: the command does not run yet */
    bool over; /* the command was reaped, with this status */
    int status;
    int in, out[2]; /* this end's descriptors of the pipes, stdout and stderr; -1: closed */
    int signal_fd;
    struct strbuf pending; /* input up to in_at was written */
    size_t in_at;
    bool input_ended, exit_sent, alone; /* alone: the near end is gone for good */
};

/* --- the command ------------------------------------------------------------------------------ */

static _Noreturn void become(const struct far_end *f, const int fds[3])
{
    struct arena a;
    struct err e;
    arena_init(&a);
    static char *const shell[] = {(char *)(uintptr_t) "sh", NULL};
    setsid();
    for (int fd = 0; fd < 3; fd++)
        if (dup2(fds[fd], fd) < 0)
            _exit(NOT_RUN);
    command_default_signals();
    unsetenv(REMOTE_SESSION_VARIABLE);
    unsetenv(REMOTE_SFTP_VARIABLE);
    if (f->command.len > 0) {
        command_exec_shell(f->command.s, environ, &a, &e);
        fprintf(stderr, "ssh: %s\n", e.msg);
    } else {
        execv("/bin/bash", shell);
        execv("/bin/sh", shell);
        fprintf(stderr, "ssh: there is no shell\n");
    }
    _exit(NOT_RUN);
}

static void close_both(const int fds[2])
{
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* -1: the system has no descriptors or processes left; errno has the reason. */
static int start(struct far_end *f)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    if (pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0)
        f->pid = fork();
    else
        f->pid = -1;
    if (f->pid == 0)
        become(f, (const int[]){in[0], out[1], err[1]});
    if (f->pid < 0) {
        close_both(in);
        close_both(out);
        close_both(err);
        return -1;
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    f->in = in[1];
    f->out[0] = out[0];
    f->out[1] = err[0];
    (void)fcntl(f->in, F_SETFL, O_NONBLOCK);
    return 0;
}

static void run_command(struct far_end *f)
{
    if (getenv(REMOTE_SFTP_VARIABLE)) {
        strbuf_reset(&f->command);
        strbuf_puts(&f->command, ssh_sftp_server);
    }
    if (f->command.len <= COMMAND_MAX &&
        !memchr(f->command.s ? f->command.s : "", 0, f->command.len) && start(f) == 0)
        return;
    f->pid = -1;
    f->over = true;
    f->status = NOT_RUN << 8; /* as wait(2) has it */
}

static void close_in(struct far_end *f)
{
    if (f->in >= 0)
        close(f->in);
    f->in = -1;
    strbuf_reset(&f->pending);
    f->in_at = 0;
}

/* Input for a command that has closed its stdin is dropped. */
static void write_in(struct far_end *f)
{
    bool had = f->in_at < f->pending.len;
    while (f->in >= 0 && f->in_at < f->pending.len) {
        ssize_t n = write(f->in, f->pending.s + f->in_at, f->pending.len - f->in_at);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            close_in(f);
        else
            f->in_at += (size_t)n;
    }
    strbuf_reset(&f->pending);
    f->in_at = 0;
    if (f->input_ended)
        close_in(f);
    if (had)
        remote_end_ack(&f->end);
}

/* --- what the near end says ------------------------------------------------------------------- */

static enum remote_taken hear_input(struct far_end *f, const struct remote_msg *m)
{
    if (f->pending.len - f->in_at + m->n_bytes > PENDING_MAX)
        return REMOTE_NO_ROOM;
    if (m->n_bytes == 0)
        f->input_ended = true;
    else if (f->in >= 0)
        strbuf_add(&f->pending, m->bytes, m->n_bytes);
    return f->in_at < f->pending.len ? REMOTE_TAKEN : REMOTE_DONE;
}

static enum remote_taken hear(void *ctx, const struct remote_msg *m)
{
    struct far_end *f = ctx;
    if (m->kind == REMOTE_GONE)
        f->alone = monotonic_ms() - f->end.gone_ms >= GONE_MAX_MS;
    if (m->kind != REMOTE_DATA)
        return REMOTE_DONE;
    if (m->channel == REMOTE_STDIN)
        return hear_input(f, m);
    if (m->channel != REMOTE_COMMAND || f->pid)
        return REMOTE_DONE;
    if (m->n_bytes == 0)
        run_command(f);
    else if (f->command.len <= COMMAND_MAX)
        strbuf_add(&f->command, m->bytes, m->n_bytes);
    return REMOTE_DONE;
}

/* --- running ---------------------------------------------------------------------------------- */

static void reap(struct far_end *f)
{
    struct signalfd_siginfo info;
    int status;
    pid_t pid;
    while (read(f->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        ;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == f->pid) {
            f->over = true;
            f->status = status;
        }
}

static void read_out(struct far_end *f, int i)
{
    char buf[REMOTE_BYTES_MAX];
    ssize_t n = read(f->out[i], buf, sizeof buf);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        close(f->out[i]);
        f->out[i] = -1;
        return;
    }
    remote_end_put(&f->end, &(struct remote_msg){.kind = REMOTE_DATA,
                                                 .channel = i ? REMOTE_STDERR : REMOTE_STDOUT,
                                                 .bytes = buf,
                                                 .n_bytes = (size_t)n});
}

/* As sshd has it: when the command has ended, and everybody who had its output. */
static void send_exit(struct far_end *f)
{
    if (!f->over || f->exit_sent || f->out[0] >= 0 || f->out[1] >= 0 ||
        !remote_stream_has_room(&f->end.stream))
        return;
    f->exit_sent = true;
    int signo = WIFSIGNALED(f->status) ? WTERMSIG(f->status) : 0;
    remote_end_put(&f->end, &(struct remote_msg){.kind = REMOTE_EXIT,
                                                 .exit_code = signo ? 0 : WEXITSTATUS(f->status),
                                                 .signal = signo});
}

enum { SLOT_END, SLOT_SIGNAL, SLOT_IN, SLOT_OUT, SLOT_ERR, SLOTS };

static void turn(struct far_end *f)
{
    bool room = remote_stream_has_room(&f->end.stream), input = f->in_at < f->pending.len;
    struct pollfd p[SLOTS] = {
        [SLOT_SIGNAL] = {.fd = f->signal_fd, .events = POLLIN},
        [SLOT_IN] = {.fd = input ? f->in : -1, .events = POLLOUT},
        [SLOT_OUT] = {.fd = room ? f->out[0] : -1, .events = POLLIN},
        [SLOT_ERR] = {.fd = room ? f->out[1] : -1, .events = POLLIN},
    };
    remote_end_fill(&f->end, &p[SLOT_END]);
    if (poll(p, SLOTS, remote_end_timeout(&f->end)) < 0)
        for (int i = 0; i < SLOTS; i++)
            p[i].revents = 0;
    remote_end_act(&f->end, &p[SLOT_END]);
    reap(f);
    if (f->in >= 0)
        write_in(f);
    for (int i = 0; i < 2; i++)
        if (p[SLOT_OUT + i].revents && f->out[i] >= 0 && remote_stream_has_room(&f->end.stream))
            read_out(f, i);
    send_exit(f);
}

/* Sends EXIT as sshd does: after the command and all processes with its output have ended. */
static bool none_left(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static void kill_rest(void)
{
    int64_t until = monotonic_ms() + GRACE_MS;
    procs_signal_below(getpid(), SIGTERM, NULL, 0);
    while (!none_left()) {
        if (monotonic_ms() >= until)
            procs_signal_below(getpid(), SIGKILL, NULL, 0);
        (void)poll(NULL, 0, KILL_STEP_MS);
    }
}

/* Background processes that outlive the command belong to the task. */
static void await_rest(void)
{
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
}

/* Signals for the task are meant for the command, which gets them too; this process survives to
 * report the exit. */
static int take_signals(void)
{
    static const int passed[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};
    sigset_t set;
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        (void)signal(passed[i], SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* "RANK-SESSION" */
static bool read_session(struct remote_end *end)
{
    const char *text = getenv(REMOTE_SESSION_VARIABLE);
    char *rest;
    end->socket = getenv(REMOTE_SOCKET_VARIABLE);
    if (!text || !end->socket)
        return false;
    end->rank = (int)strtol(text, &rest, 10);
    end->session = rest + 1;
    return rest > text && *rest == '-' && remote_session_valid(rest + 1);
}

int remote_far_main(void)
{
    struct far_end f = {.in = -1, .out = {-1, -1}, .end = {.hear = hear}};
    f.end.ctx = &f;
    f.signal_fd = take_signals();
    if (!read_session(&f.end) || f.signal_fd < 0) {
        fputs("batchai-node remote: is run by the daemon for `ssh` inside a job\n", stderr);
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    remote_end_begin(&f.end);
    while (!f.alone && !(f.exit_sent && remote_stream_is_clear(&f.end.stream)))
        turn(&f);
    close_in(&f);
    close_both(f.out);
    if (f.alone)
        kill_rest();
    remote_end_free(&f.end);
    strbuf_free(&f.command);
    strbuf_free(&f.pending);
    await_rest();
    return 0;
}
