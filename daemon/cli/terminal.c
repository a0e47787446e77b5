/* SPDX-License-Identifier: MIT
 *
 * One poll() waits for the connection, the input, the outputs and signals. Signals are read from a
 * descriptor, so that the terminal's settings are restored after any signal. At most PIPE_BUF bytes
 * are written to an output at a time: a pipe that poll() calls writable takes so many without
 * blocking, so the connection is still served while a reader of the output stalls.
 */
#include "daemon/cli/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/table.h"

#define PIECE 4096 /* the most bytes of one write: PIPE_BUF */
/* while so many bytes wait for an output, nothing more is read from the daemon */
#define ENOUGH    (256U * 1024)
#define BY_SIGNAL 128
#define ESCAPE    '~'
#define LEAVE     '.'
#define SECOND_MS 1000

struct terminal_session {
    struct terminal_link *link;
    const struct terminal_io *io;
    struct strbuf out[2]; /* for io->out and io->err */
    size_t written[2];
    bool input_ended, over;
    size_t unanswered; /* bytes of sent frames with input that the daemon has not confirmed */
    int status;
    int signals;
    bool line_begins, escaped; /* at the beginning of a line; after a ~ there */
    /* when a frame was last received, and a ping sent; monotonic seconds */
    time_t heard, said;
    int interrupts;
};

static time_t now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void finish(struct terminal_session *s, int status)
{
    if (!s->over)
        s->status = status;
    s->over = true;
}

static void complain(struct terminal_session *s, const char *why)
{
    char *text = xstrdup(why);
    table_clean(text); /* the text may quote a machine */
    fprintf(stderr, "%sbatchaid: %s%s\n", s->io->raw ? "\r" : "", text, s->io->raw ? "\r" : "");
    free(text);
    finish(s, TERMINAL_LOST);
}

/* --- this terminal ------------------------------------------------------------------------------
 */

bool terminal_is_here(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static bool size_of(struct winsize *w)
{
    return ioctl(STDIN_FILENO, TIOCGWINSZ, w) == 0 && w->ws_row > 0 && w->ws_col > 0;
}

void terminal_add_size(json_t *ask)
{
    struct winsize w;
    const char *term = getenv("TERM");
    bool known = size_of(&w);
    json_object_set_new(ask, "rows", json_integer(known ? w.ws_row : 24));
    json_object_set_new(ask, "columns", json_integer(known ? w.ws_col : 80));
    if (term && *term)
        json_object_set_new(ask, "term", json_string(term));
}

static void send_size(struct terminal_session *s)
{
    struct winsize w;
    if (!s->io->raw || !size_of(&w))
        return;
    const unsigned char bytes[] = {(unsigned char)(w.ws_row >> 8), (unsigned char)w.ws_row,
                                   (unsigned char)(w.ws_col >> 8), (unsigned char)w.ws_col};
    terminal_link_send(s->link, TERMINAL_WINDOW, bytes, sizeof bytes);
}

static bool make_raw(int fd, struct termios *before)
{
    struct termios raw;
    if (tcgetattr(fd, before) < 0)
        return false;
    raw = *before;
    cfmakeraw(&raw);
    return tcsetattr(fd, TCSADRAIN, &raw) == 0;
}

/* --- input --------------------------------------------------------------------------------------
 */

/* Copies typed characters to `to`, except for escapes at the beginning of a line: `~.` leaves, `~~`
 * is a single `~`. Returns the number of bytes to send. */
static size_t without_escapes(struct terminal_session *s, const char *from, size_t n, char *to)
{
    size_t out = 0;
    for (size_t i = 0; i < n && !s->over; i++) {
        char c = from[i];
        if (s->escaped && c == LEAVE) {
            fputs("\r\nbatchaid: left\r\n", stderr);
            finish(s, 0);
            break;
        }
        if (s->escaped && c != ESCAPE)
            to[out++] = ESCAPE;
        bool holds = s->line_begins && !s->escaped && c == ESCAPE;
        s->line_begins = c == '\r' || c == '\n';
        s->escaped = holds;
        if (!holds)
            to[out++] = c;
    }
    return out;
}

static void read_input(struct terminal_session *s)
{
    char buf[TERMINAL_FRAME_MAX / 2], clean[TERMINAL_FRAME_MAX];
    const char *bytes = buf;
    ssize_t got = read(s->io->in, buf, sizeof buf);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    size_t n = got > 0 ? (size_t)got : 0;
    s->input_ended = got <= 0;
    if (s->io->raw && n > 0) {
        n = without_escapes(s, buf, n, clean);
        bytes = clean;
    }
    if (n == 0 && !s->input_ended)
        return;
    terminal_link_send(s->link, TERMINAL_INPUT, bytes, n);
    s->unanswered += n + TERMINAL_FRAME_HEADER;
}

/* --- output -------------------------------------------------------------------------------------
 */

static size_t unwritten(const struct terminal_session *s, int i)
{
    return s->out[i].len - s->written[i];
}

static void write_output(struct terminal_session *s, int i)
{
    int fd = i ? s->io->err : s->io->out;
    size_t left = unwritten(s, i);
    ssize_t n = write(fd, s->out[i].s + s->written[i], left < PIECE ? left : PIECE);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) /* the reader has closed the output: end like a command that gets SIGPIPE */
        finish(s, BY_SIGNAL + SIGPIPE);
    s->written[i] += n < 0 ? left : (size_t)n;
    if (unwritten(s, i) == 0) {
        strbuf_reset(&s->out[i]);
        s->written[i] = 0;
    }
}

static void hear(struct terminal_session *s, const struct terminal_frame *f)
{
    char *why;
    switch (f->kind) {
    case TERMINAL_OUTPUT:
    case TERMINAL_ERRORS:
        strbuf_add(&s->out[f->kind == TERMINAL_ERRORS], f->bytes, f->n);
        break;
    case TERMINAL_TAKEN:
        s->unanswered -= (size_t)f->bytes[1] << 16 | (size_t)f->bytes[2] << 8 | f->bytes[3];
        break;
    case TERMINAL_EXIT:
        finish(s, f->bytes[1] ? BY_SIGNAL + f->bytes[1] : f->bytes[0]);
        break;
    case TERMINAL_FAILED:
        why = xcalloc(1, f->n + 1);
        memcpy(why, f->bytes, f->n);
        complain(s, why);
        free(why);
        break;
    default:
        break;
    }
}

static bool has_room(const struct terminal_session *s)
{
    return unwritten(s, 0) < ENOUGH && unwritten(s, 1) < ENOUGH;
}

static void read_link(struct terminal_session *s)
{
    struct terminal_frame f;
    struct err e;
    int rc = 0;
    while (!s->over && has_room(s) && (rc = terminal_link_next(s->link, &f, &e)) > 0) {
        s->heard = now_s();
        hear(s, &f);
    }
    if (!s->over && rc < 0)
        complain(s, e.msg);
}

/* --- signals and time ---------------------------------------------------------------------------
 */

/* Handles Ctrl-C if the command has no terminal: the first is sent to the command, the second ends
 * this program. */
static void interrupt(struct terminal_session *s, unsigned char signo)
{
    if (s->interrupts++ > 0)
        finish(s, BY_SIGNAL + signo);
    else
        terminal_link_send(s->link, TERMINAL_SIGNAL, &signo, 1);
}

static void read_signals(struct terminal_session *s)
{
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo == SIGWINCH)
            send_size(s);
        else if (info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT)
            interrupt(s, (unsigned char)info.ssi_signo);
        else
            finish(s, BY_SIGNAL + (int)info.ssi_signo);
}

static void keep_alive(struct terminal_session *s)
{
    time_t now = now_s();
    if (!has_room(s))
        s->heard = now; /* this program has read nothing meanwhile */
    if (now - s->said >= TERMINAL_PING_S) {
        s->said = now;
        terminal_link_send(s->link, TERMINAL_PING, "", 0);
    }
    if (now - s->heard > TERMINAL_GONE_S)
        complain(s, "the daemon does not answer any more");
}

/* --- the loop -----------------------------------------------------------------------------------
 */

enum { SLOT_LINK, SLOT_SIGNALS, SLOT_IN, SLOT_OUT, SLOT_ERR, SLOTS };

static void turn(struct terminal_session *s)
{
    struct err e;
    bool reads = !s->input_ended && s->unanswered + TERMINAL_FRAME_MAX < TERMINAL_WINDOW_MAX;
    short link = terminal_link_events(s->link);
    struct pollfd p[SLOTS] = {
        [SLOT_LINK] = {.fd = terminal_link_fd(s->link),
                       .events = has_room(s) ? link : (short)(link & ~POLLIN)},
        [SLOT_SIGNALS] = {.fd = s->signals, .events = POLLIN},
        [SLOT_IN] = {.fd = reads ? s->io->in : -1, .events = POLLIN},
        [SLOT_OUT] = {.fd = unwritten(s, 0) ? s->io->out : -1, .events = POLLOUT},
        [SLOT_ERR] = {.fd = unwritten(s, 1) ? s->io->err : -1, .events = POLLOUT},
    };
    if (poll(p, SLOTS, SECOND_MS) < 0)
        return;
    read_signals(s);
    read_link(s);
    for (int i = 0; i < 2; i++)
        if (p[SLOT_OUT + i].revents && unwritten(s, i) > 0)
            write_output(s, i);
    if (p[SLOT_IN].revents && !s->over)
        read_input(s);
    keep_alive(s);
    if (terminal_link_flush(s->link, &e) < 0 && !s->over)
        complain(s, e.msg);
}

static int take_signals(sigset_t *before)
{
    static const int taken[] = {SIGWINCH, SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        sigaddset(&set, taken[i]);
    sigprocmask(SIG_BLOCK, &set, before);
    (void)signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Writes the rest of the received bytes, until a reader stops reading or a signal arrives. */
static void write_rest(struct terminal_session *s)
{
    for (int i = 0; i < 2; i++)
        while (unwritten(s, i) > 0) {
            size_t before = unwritten(s, i);
            struct pollfd p[2] = {{.fd = i ? s->io->err : s->io->out, .events = POLLOUT},
                                  {.fd = s->signals, .events = POLLIN}};
            if (poll(p, 2, -1) < 0 && errno != EINTR)
                return;
            if (p[1].revents)
                return;
            write_output(s, i);
            if (unwritten(s, i) == before && !(p[0].revents & POLLOUT))
                return;
        }
}

int terminal_serve(struct terminal_link *l, const struct terminal_io *io)
{
    struct termios settings;
    sigset_t mask;
    struct terminal_session s = {.link = l, .io = io, .line_begins = true};
    s.signals = take_signals(&mask);
    s.heard = s.said = now_s();
    bool raw = io->raw && make_raw(io->in, &settings);
    while (!s.over)
        turn(&s);
    write_rest(&s);
    if (raw)
        (void)tcsetattr(io->in, TCSADRAIN, &settings);
    close(s.signals);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    for (int i = 0; i < 2; i++)
        strbuf_free(&s.out[i]);
    return s.status;
}

char *terminal_path(struct daemon_client *c, const json_t *job)
{
    static const char *const parts[] = {"resourceGroup", "workspace", "experiment", "name"};
    struct strbuf path = STRBUF_INIT;
    strbuf_puts(&path, "/batchaid/jobs");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char *escaped = client_escape(c, jobs_text(job, parts[i]));
        strbuf_concat(&path, "/", escaped);
        free(escaped);
    }
    strbuf_puts(&path, "/terminal");
    jobs_filter(c, &path, "subscription", jobs_text(job, "subscription"));
    return strbuf_take(&path);
}
