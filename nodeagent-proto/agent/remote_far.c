/* SPDX-License-Identifier: MIT
 *
 * The far end of a remote command: a task of the job on the other node.
 *
 *   waiting for the command's text -> it runs -> it and its output ended -> EXIT was answered ->
 *   nothing of it is left
 *
 * If the near end's process has ended, the far end kills all processes of the command. If the
 * daemon is the near end, the far end also kills them if the daemon was silent for a while, and
 * after the command's end.
 */
#include <errno.h>
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
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/agent/remote_end.h"
#include "nodeagent-proto/agent/remote_start.h"
#include "nodeagent-proto/agent/ssh.h"

#define COMMAND_MAX (1024U * 1024)
/* the most bytes of input that are kept for the command until it reads them */
#define PENDING_MAX (STREAM_WINDOW * REMOTE_BYTES_MAX)
/* ms without the near end until it counts as ended; a near end that reconnects needs less */
#define GONE_MAX_MS  5000
#define GRACE_MS     3000 /* ms between SIGTERM and SIGKILL */
#define KILL_STEP_MS 50
/* ms to wait after the end of a command with a terminal: its last output may still be in the
 * kernel */
#define TTY_REST_MS 200
#define END_OF_FILE 4 /* the character that a terminal's user types at the end of input: Ctrl-D */

struct far_end {
    struct remote_end end;
    struct strbuf command;
    struct remote_started started;
    bool begun; /* `started` is set */
    bool over;  /* the command was reaped, with the wait status `status` */
    int64_t over_ms;
    int status;
    int signal_fd;
    struct strbuf pending; /* input for the command; the bytes before in_at are written */
    size_t in_at;
    bool input_ended, exit_sent, alone; /* alone: the near end is gone for good */
};

/* --- the command ------------------------------------------------------------------------------ */

static void note_over(struct far_end *f, int status)
{
    f->over = true;
    f->over_ms = monotonic_ms();
    f->status = status;
}

/* Starts the command or the connection. -1: `why` has the reason. */
static int start(struct far_end *f, char *why, size_t n)
{
    const char *command = f->command.len > 0 ? f->command.s : NULL;
    const char *size = getenv(REMOTE_TTY_VARIABLE), *port = getenv(REMOTE_PORT_VARIABLE);
    if (port)
        return remote_start_port(port, &f->started, why, n);
    int rc = size ? remote_start_tty(command, size, &f->started)
                  : remote_start_pipes(command, &f->started);
    if (rc < 0)
        snprintf(why, n, "the command cannot be started: %s", strerror(errno));
    return rc;
}

static bool is_command(const struct far_end *f)
{
    return f->command.len <= COMMAND_MAX &&
           !memchr(f->command.s ? f->command.s : "", 0, f->command.len);
}

/* This is the first message of this end, so there is room for it. */
static void say_why(struct far_end *f, const char *why)
{
    char line[512];
    int n = snprintf(line, sizeof line, "%s\n", why);
    remote_end_put(&f->end,
                   &(struct remote_msg){.kind = REMOTE_DATA,
                                        .channel = REMOTE_STDERR,
                                        .bytes = line,
                                        .n_bytes = n < (int)sizeof line ? (size_t)n : sizeof line});
}

static void run_command(struct far_end *f)
{
    char why[256] = "the command is too long, or has a zero byte";
    if (getenv(REMOTE_SFTP_VARIABLE)) {
        strbuf_reset(&f->command);
        strbuf_puts(&f->command, ssh_sftp_server);
    }
    f->begun = true;
    if (is_command(f) && start(f, why, sizeof why) == 0) {
        if (f->started.pid == 0)
            note_over(f, 0); /* a connection has no process: it ends when its output ends */
        return;
    }
    f->started = (struct remote_started){.pid = -1, .in = -1, .out = {-1, -1}};
    say_why(f, why);
    note_over(f, REMOTE_NOT_RUN << 8); /* in the form of a wait status */
}

static void close_in(struct far_end *f)
{
    remote_close_in(&f->started);
    strbuf_reset(&f->pending);
    f->in_at = 0;
}

/* Input for a command that has closed its stdin is dropped. */
static void write_in(struct far_end *f)
{
    bool had = f->in_at < f->pending.len;
    while (f->started.in >= 0 && f->in_at < f->pending.len) {
        ssize_t n = write(f->started.in, f->pending.s + f->in_at, f->pending.len - f->in_at);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            close_in(f);
        else
            f->in_at += (size_t)n;
    }
    strbuf_reset(&f->pending);
    f->in_at = 0;
    if (f->input_ended && !f->started.tty)
        close_in(f);
    if (had)
        remote_end_ack(&f->end);
}

/* --- messages of the near end ----------------------------------------------------------------- */

/* An acknowledgement is for all messages up to its number, so it waits for the input before. */
static enum remote_taken taken(const struct far_end *f)
{
    return f->in_at < f->pending.len ? REMOTE_TAKEN : REMOTE_DONE;
}

static enum remote_taken hear_input(struct far_end *f, const struct remote_msg *m)
{
    if (f->pending.len - f->in_at + m->n_bytes > PENDING_MAX)
        return REMOTE_NO_ROOM;
    if (m->n_bytes == 0) {
        f->input_ended = true;
        if (f->started.tty)
            strbuf_putc(&f->pending, END_OF_FILE);
    } else if (f->started.in >= 0)
        strbuf_add(&f->pending, m->bytes, m->n_bytes);
    return taken(f);
}

static void hear_command(struct far_end *f, const struct remote_msg *m)
{
    if (m->n_bytes == 0)
        run_command(f);
    else if (f->command.len <= COMMAND_MAX)
        strbuf_add(&f->command, m->bytes, m->n_bytes);
}

static enum remote_taken hear(void *ctx, const struct remote_msg *m)
{
    struct far_end *f = ctx;
    if (m->kind == REMOTE_GONE)
        f->alone = monotonic_ms() - f->end.gone_ms >= GONE_MAX_MS;
    if (m->kind == REMOTE_LOST)
        f->alone = true; /* the daemon reports that the user of its near end has left */
    if (m->kind != REMOTE_DATA)
        return REMOTE_DONE;
    if (m->channel == REMOTE_STDIN)
        return hear_input(f, m);
    if (m->channel == REMOTE_COMMAND && !f->begun)
        hear_command(f, m);
    if (m->channel == REMOTE_CONTROL && f->begun && !f->over)
        remote_control(&f->started, m->bytes, m->n_bytes);
    return taken(f);
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
        if (f->begun && pid == f->started.pid)
            note_over(f, status);
}

static void read_out(struct far_end *f, int i)
{
    char buf[REMOTE_BYTES_MAX];
    ssize_t n = read(f->started.out[i], buf, sizeof buf);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        remote_close_out(&f->started, i);
        return;
    }
    remote_end_put(&f->end, &(struct remote_msg){.kind = REMOTE_DATA,
                                                 .channel = i ? REMOTE_STDERR : REMOTE_STDOUT,
                                                 .bytes = buf,
                                                 .n_bytes = (size_t)n});
}

/* Sends the exit as sshd does: when the command and all processes with its output have ended. A
 * terminal ends with its command: processes that still have it get SIGHUP. `quiet`: there is no
 * output to read. */
static void send_exit(struct far_end *f, bool quiet)
{
    if (f->over && f->started.tty && quiet && monotonic_ms() - f->over_ms >= TTY_REST_MS)
        remote_close_out(&f->started, 0);
    if (!f->over || f->exit_sent || f->started.out[0] >= 0 || f->started.out[1] >= 0 ||
        !remote_stream_has_room(&f->end.stream))
        return;
    f->exit_sent = true;
    int signo = WIFSIGNALED(f->status) ? WTERMSIG(f->status) : 0;
    remote_end_put(&f->end, &(struct remote_msg){.kind = REMOTE_EXIT,
                                                 .exit_code = signo ? 0 : WEXITSTATUS(f->status),
                                                 .signal = signo});
}

enum { SLOT_END, SLOT_SIGNAL, SLOT_IN, SLOT_OUT, SLOT_ERR, SLOTS };

/* Whether the daemon is the near end. */
static bool is_bounded(const struct far_end *f)
{
    return f->end.rank == REMOTE_DAEMON;
}

/* How many ms to wait for the last output of a terminal; -1: there is none to wait for. */
static int rest_left(const struct far_end *f)
{
    int64_t left = f->over_ms + TTY_REST_MS - monotonic_ms();
    if (!f->over || f->started.out[0] < 0 || !f->started.tty ||
        !remote_stream_has_room(&f->end.stream))
        return -1;
    return left > 0 ? (int)left : 0;
}

static void wait_for_news(struct far_end *f, struct pollfd *p)
{
    int limit = remote_end_timeout(&f->end), rest = rest_left(f);
    if (rest >= 0 && (limit < 0 || rest < limit))
        limit = rest;
    if (poll(p, SLOTS, limit) < 0)
        for (int i = 0; i < SLOTS; i++)
            p[i].revents = 0;
}

static void turn(struct far_end *f)
{
    struct remote_started *s = &f->started;
    bool room = remote_stream_has_room(&f->end.stream), input = f->in_at < f->pending.len;
    struct pollfd p[SLOTS] = {
        [SLOT_SIGNAL] = {.fd = f->signal_fd, .events = POLLIN},
        [SLOT_IN] = {.fd = input ? s->in : -1, .events = POLLOUT},
        [SLOT_OUT] = {.fd = room ? s->out[0] : -1, .events = POLLIN},
        [SLOT_ERR] = {.fd = room ? s->out[1] : -1, .events = POLLIN},
    };
    remote_end_fill(&f->end, &p[SLOT_END]);
    wait_for_news(f, p);
    remote_end_act(&f->end, &p[SLOT_END]);
    reap(f);
    if (s->in >= 0)
        write_in(f);
    for (int i = 0; i < 2; i++)
        if (p[SLOT_OUT + i].revents && s->out[i] >= 0 && remote_stream_has_room(&f->end.stream))
            read_out(f, i);
    send_exit(f, room && !p[SLOT_OUT].revents);
    if (is_bounded(f) && monotonic_ms() - f->end.met_ms > REMOTE_SILENT_MAX_MS)
        f->alone = true;
}

/* Reaps the children that have ended. True if no child is left. */
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

/* Waits for background processes that outlive the command, because they belong to the task. */
static void await_rest(void)
{
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
}

/* Signals to the task reach the command as well as this process. This process ignores them, so that
 * it survives and reports the command's exit. Returns a descriptor that reports SIGCHLD. */
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

/* Reads the session from a variable with the value "RANK-SESSION". */
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
    struct far_end f = {.started = {.in = -1, .out = {-1, -1}}, .end = {.hear = hear}};
    f.end.ctx = &f;
    f.signal_fd = take_signals();
    if (!read_session(&f.end) || f.signal_fd < 0) {
        fputs("batchai-node remote: is run by the daemon inside a job\n", stderr);
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    remote_end_begin(&f.end);
    while (!f.alone && !(f.exit_sent && remote_stream_is_clear(&f.end.stream)))
        turn(&f);
    close_in(&f);
    for (int i = 0; i < 2; i++)
        remote_close_out(&f.started, i);
    if (f.alone || is_bounded(&f))
        kill_rest();
    remote_end_free(&f.end);
    strbuf_free(&f.command);
    strbuf_free(&f.pending);
    await_rest();
    return 0;
}
