/* SPDX-License-Identifier: MIT
 *
 * What processes of a job say to the agent through the socket for remote commands, and what the
 * daemon says to them. A line that begins with a digit is of the process with this number: a
 * frame's JSON, which may have '@' and bytes before it; after '?' bytes that are no frame; nothing:
 * it ends. A line with '<' is of the daemon. '-': the job's socket is closed and opened. Whatever
 * comes, all that goes to the daemon is the job's own and well-formed, and it is never more than
 * what came.
 */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/arena.h"
#include "nodeagent-proto/agent/agent.h"
#include "nodeagent-proto/agent/remote_place.h"
#include "nodeagent-proto/wire/message.h"
#include "nodeagent-proto/wire/remote.h"
#include "test/fuzz/fuzz.h"
#include "test/sim/wrap.h"

#define JOB       "g-1"
#define PROCESSES 10

static struct remotes_world {
    struct agent a;
    int process[PROCESSES]; /* its end of its connection, plus 1; 0: none */
    int to_accept;          /* the agent's end of the next; -1: none */
    int listening;          /* -1: not open */
    bool daemon_speaks;     /* it may ask for any job */
} w;

/* --- in the place of what acts on the machine --- */

int remote_place(const char *root, const char *job, const struct account *as, struct err *e)
{
    (void)as, (void)e;
    CLAIM(root == w.a.root && strcmp(job, JOB) == 0 && w.listening < 0);
    w.listening = eventfd(1, EFD_CLOEXEC); /* always readable: somebody connects */
    return w.listening;
}

void remote_displace(const char *root, const char *job)
{
    CLAIM(root == w.a.root && strcmp(job, JOB) == 0);
}

void remote_clear(const char *root)
{
    CLAIM(root == w.a.root);
}

WRAP(int, accept4, int fd, struct sockaddr *from, socklen_t *n, int flags)
{
    int got = w.to_accept;
    (void)from, (void)n, (void)flags;
    CLAIM(fd == w.listening);
    w.to_accept = -1;
    return got;
}

void agent_send(struct agent *a, json_t *msg)
{
    agent_send_with(a, msg, NULL, 0);
}

void agent_send_with(struct agent *a, json_t *msg, const void *bytes, size_t n)
{
    struct remote_msg m;
    struct err e;
    struct strbuf frame = STRBUF_INIT;
    CLAIM(a == &w.a && msg);
    CLAIM(remote_read(msg, bytes, n, &m, &e) == 0);
    CLAIM(m.run && m.kind != REMOTE_LOST);
    CLAIM(strcmp(m.run, JOB) == 0 || (m.kind == REMOTE_GONE && w.daemon_speaks));
    CLAIM(frame_encode_with(msg, bytes, n, &frame, &e) == 0 && frame.len <= REMOTE_FRAME_MAX);
    tell("passed on", 0, "");
    strbuf_free(&frame);
    json_decref(msg);
}

/* --- processes --- */

static void turn(void)
{
    size_t n = remotes_poll_count(&w.a);
    struct pollfd *p = xcalloc(n + 1, sizeof *p);
    remotes_poll_fill(&w.a, p);
    (void)poll(p, (nfds_t)n, 0);
    remotes_poll_act(&w.a, p, n);
    CLAIM(remotes_poll_timeout(&w.a) >= -1);
    free(p);
}

/* Reads what the agent has passed on: whole frames without the job's name. */
static void drain(int fd)
{
    struct frame_decoder in;
    char buf[4096];
    ssize_t n;
    json_t *msg;
    struct err e;
    frame_decoder_init(&in);
    while ((n = recv(fd, buf, sizeof buf, MSG_DONTWAIT)) > 0)
        frame_decoder_feed(&in, buf, (size_t)n);
    while (frame_decoder_next(&in, &msg, &e) > 0) {
        CLAIM(!json_object_get(msg, "job"));
        json_decref(msg);
    }
    CLAIM(in.broken.code == ERR_NONE);
    frame_decoder_free(&in);
}

static void hang_up(int i)
{
    if (w.process[i] > 0) {
        drain(w.process[i] - 1);
        close(w.process[i] - 1);
    }
    w.process[i] = 0;
    turn();
}

static int connection_of(int i)
{
    int fds[2];
    if (w.process[i] > 0)
        return w.process[i] - 1;
    CLAIM(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    w.to_accept = fds[1];
    w.process[i] = fds[0] + 1;
    turn();
    CLAIM(w.to_accept == -1);
    return fds[0];
}

static void put_u32(struct strbuf *out, size_t v)
{
    const unsigned char b[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16),
                                (unsigned char)(v >> 8), (unsigned char)v};
    strbuf_add(out, b, sizeof b);
}

static void make_frame(struct strbuf *out, const char *line)
{
    const char *json = *line == '@' ? strchr(line, '{') : NULL;
    if (*line == '?') {
        strbuf_puts(out, line + 1);
    } else if (json) {
        put_u32(out, 0x80000000U | (4 + strlen(line + 1)));
        put_u32(out, strlen(json));
        strbuf_puts(out, json);
        strbuf_add(out, line + 1, (size_t)(json - line - 1));
    } else {
        put_u32(out, strlen(line));
        strbuf_puts(out, line);
    }
}

static void process_says(int i, const char *line)
{
    struct strbuf frame = STRBUF_INIT;
    int fd = connection_of(i);
    make_frame(&frame, line);
    for (size_t at = 0; at < frame.len;) {
        ssize_t n = send(fd, frame.s + at, frame.len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n <= 0)
            break; /* the agent has closed it, or does not read now */
        at += (size_t)n;
        turn();
    }
    strbuf_free(&frame);
    drain(fd);
}

static void daemon_says(const char *line)
{
    const char *json = *line == '@' ? strchr(line, '{') : NULL;
    json_t *msg = json_loads(json ? json : line, JSON_REJECT_DUPLICATES, NULL);
    w.daemon_speaks = true;
    if (json_is_object(msg))
        remotes_hear(&w.a, msg, json ? line + 1 : NULL, json ? (size_t)(json - line - 1) : 0);
    w.daemon_speaks = false;
    json_decref(msg);
}

static void open_socket(void)
{
    struct err e;
    w.listening = -1;
    CLAIM(remotes_open(&w.a, JOB, NULL, &e) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char root[] = "/node";
    struct pieces in = {(const char *)data, (const char *)data + size};
    memset(&w, 0, sizeof w);
    w.a.root = root;
    w.to_accept = -1;
    open_socket();
    while (in.p < in.end) {
        char *line = next_line(&in);
        if (*line >= '0' && *line <= '9' && line[1])
            process_says(*line - '0', line + 1);
        else if (*line >= '0' && *line <= '9')
            hang_up(*line - '0');
        else if (*line == '<')
            daemon_says(line + 1);
        else if (*line == '-') {
            remotes_close(&w.a, JOB);
            open_socket();
        }
        free(line);
    }
    for (int i = 0; i < PROCESSES; i++)
        hang_up(i);
    remotes_close_all(&w.a);
    return 0;
}
