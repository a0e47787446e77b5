/* SPDX-License-Identifier: MIT
 *
 * Runs the near end of a remote command: it reads ssh's arguments (ssh_args.c), connects to the
 * job's socket, and passes standard input, output and the exit code. A process of the job, with one
 * thread and no state of the agent.
 */
#include "nodeagent-proto/agent/ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/strbuf.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/remote_end.h"

#define FAILED       255 /* ssh's exit code for a command that could not be run or was lost */
#define BY_SIGNAL    128 /* an exit code is this plus the signal's number, as in shells */
#define GONE_MAX_MS  30000
#define GOODBYE_MS   1000
#define SESSION_SIZE 17 /* with its NUL */

struct near_end {
    struct remote_end end;
    struct ssh_args args;
    struct strbuf command; /* the command's text; the bytes before command_at are sent */
    size_t command_at;
    bool command_sent, input_ended, over;
    int status;
};

/* --- messages of the far end ------------------------------------------------------------------ */

static void complain(const struct near_end *s, const char *why)
{
    fprintf(stderr, "ssh: %s: %s\n", s->args.host ? s->args.host : "?", why);
}

static void finish(struct near_end *s, int status)
{
    if (!s->over)
        s->status = status;
    s->over = true;
}

/* Waits while `fd` would block: another process, for example rsync, may have made this open file
 * non-blocking. */
static int write_patiently(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EAGAIN)
            (void)poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        else if (done < 0 && errno != EINTR)
            return -1;
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

static void write_out(struct near_end *s, const struct remote_msg *m)
{
    int fd = m->channel == REMOTE_STDERR ? STDERR_FILENO : STDOUT_FILENO;
    if (m->n_bytes > 0 && write_patiently(fd, m->bytes, m->n_bytes) < 0 && fd == STDOUT_FILENO) {
        fprintf(stderr, "ssh: cannot write: %s\n", strerror(errno));
        finish(s, FAILED);
    }
}

static enum remote_taken hear(void *ctx, const struct remote_msg *m)
{
    struct near_end *s = ctx;
    if (m->kind == REMOTE_DATA) {
        write_out(s, m);
    } else if (m->kind == REMOTE_EXIT) {
        finish(s, m->signal ? BY_SIGNAL + m->signal : m->exit_code);
    } else if (m->kind == REMOTE_LOST) {
        complain(s, m->why);
        finish(s, FAILED);
    } else if (s->end.met && monotonic_ms() - s->end.gone_ms >= GONE_MAX_MS) {
        complain(s, "the command is lost: its node does not know it any more");
        finish(s, FAILED);
    }
    return REMOTE_DONE;
}

/* --- output ----------------------------------------------------------------------------------- */

static void send_command(struct near_end *s)
{
    while (!s->command_sent && remote_stream_has_room(&s->end.stream)) {
        size_t left = s->command.len - s->command_at;
        struct remote_msg m = {.kind = REMOTE_DATA,
                               .channel = REMOTE_COMMAND,
                               .bytes = left ? s->command.s + s->command_at : "",
                               .n_bytes = left < REMOTE_BYTES_MAX ? left : REMOTE_BYTES_MAX};
        s->command_at += m.n_bytes;
        s->command_sent = m.n_bytes == 0; /* an empty message ends the text */
        remote_end_put(&s->end, &m);
    }
}

static bool wants_input(const struct near_end *s)
{
    return s->command_sent && !s->input_ended && remote_stream_has_room(&s->end.stream);
}

/* Whether the program that started ssh has ended, so that nobody can use the command any more.
 * Programs that use ssh as a transport (sshfs) pass one socket as ssh's input and output; this
 * socket is closed then. */
static bool is_abandoned(const struct near_end *s)
{
    struct stat in, out;
    struct pollfd p = {.fd = STDIN_FILENO};
    return s->input_ended && !s->args.no_input && fstat(STDIN_FILENO, &in) == 0 &&
           S_ISSOCK(in.st_mode) && fstat(STDOUT_FILENO, &out) == 0 && in.st_dev == out.st_dev &&
           in.st_ino == out.st_ino && poll(&p, 1, 0) == 1 && (p.revents & POLLHUP);
}

static void send_input(struct near_end *s)
{
    char buf[REMOTE_BYTES_MAX];
    ssize_t n = s->args.no_input ? 0 : read(STDIN_FILENO, buf, sizeof buf);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    s->input_ended = n <= 0;
    remote_end_put(&s->end, &(struct remote_msg){.kind = REMOTE_DATA,
                                                 .channel = REMOTE_STDIN,
                                                 .bytes = buf,
                                                 .n_bytes = n > 0 ? (size_t)n : 0});
    if (is_abandoned(s))
        finish(s, FAILED);
}

/* --- running ---------------------------------------------------------------------------------- */

/* Option -f: continues in the background once the command runs. */
static void go_to_background(struct near_end *s)
{
    if (!s->args.background || !s->end.met)
        return;
    s->args.background = false;
    pid_t pid = fork();
    if (pid > 0)
        _exit(0);
    if (pid == 0)
        setsid();
}

static void turn(struct near_end *s)
{
    struct pollfd p[2] = {{.fd = -1}, {.fd = -1, .events = POLLIN}};
    remote_end_fill(&s->end, &p[0]);
    bool input = wants_input(s);
    if (input && !s->args.no_input)
        p[1].fd = STDIN_FILENO;
    int timeout = input && s->args.no_input ? 0 : remote_end_timeout(&s->end);
    int got = poll(p, 2, timeout);
    if (got < 0 && errno != EINTR) {
        complain(s, strerror(errno));
        finish(s, FAILED);
    }
    if (got < 0)
        p[0].revents = p[1].revents = 0;
    remote_end_act(&s->end, &p[0]);
    send_command(s);
    if (wants_input(s) && (p[1].revents || s->args.no_input))
        send_input(s);
    go_to_background(s);
}

/* Waits until the acknowledgement of EXIT is sent, because the far end must still get it. */
static void say_goodbye(struct near_end *s)
{
    int64_t until = monotonic_ms() + GOODBYE_MS;
    while (!remote_end_is_flushed(&s->end) && monotonic_ms() < until) {
        struct pollfd p;
        remote_end_fill(&s->end, &p);
        (void)poll(&p, 1, GOODBYE_MS);
        remote_end_act(&s->end, &p);
    }
}

static int make_session(char out[SESSION_SIZE])
{
    unsigned char random[SESSION_SIZE - 1];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return -1;
    for (size_t i = 0; i < sizeof random; i++)
        out[i] = "abcdefghijklmnopqrstuvwxyz012345"[random[i] % 32];
    out[SESSION_SIZE - 1] = '\0';
    return 0;
}

const char ssh_sftp_server[] = "PATH=/usr/lib/openssh:/usr/libexec/openssh:/usr/lib/ssh:$PATH "
                               "exec sftp-server";

/* Joins the words with blanks for the remote shell, as ssh does. */
static void join_command(struct near_end *s)
{
    if (s->args.subsystem) {
        strbuf_puts(&s->command, ssh_sftp_server);
        return;
    }
    for (char *const *word = s->args.command; *word; word++) {
        if (word != s->args.command)
            strbuf_putc(&s->command, ' ');
        strbuf_puts(&s->command, *word);
    }
}

/* If descriptor 0, 1 or 2 is closed, opens /dev/null there; otherwise a socket would get the
 * number. */
static void open_standard(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

int ssh_main(char **argv)
{
    struct near_end s = {.end = {.rank = -1, .socket = getenv(REMOTE_SOCKET_VARIABLE)}};
    char session[SESSION_SIZE];
    const char *why = "";
    open_standard();
    if (!ssh_read_args(argv + 1, &s.args, &why)) {
        complain(&s, why);
        return FAILED;
    }
    if (!s.end.socket || make_session(session) < 0) {
        complain(&s, "this ssh works inside jobs with several nodes alone, between these nodes");
        return FAILED;
    }
    join_command(&s);
    s.end.host = s.args.host;
    s.end.session = session;
    s.end.hear = hear;
    s.end.ctx = &s;
    remote_end_begin(&s.end);
    while (!s.over)
        turn(&s);
    say_goodbye(&s);
    remote_end_free(&s.end);
    strbuf_free(&s.command);
    return s.status;
}
