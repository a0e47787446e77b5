/* SPDX-License-Identifier: MIT
 *
 * The connection of one end to its agent: reads and writes frames, keeps messages that the other
 * end has not acknowledged (wire/stream.h) and repeats them after a break. One thread, in a process
 * of the job; that process owns struct remote_end.
 */
#include "nodeagent-proto/agent/remote_end.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/fs.h"
#include "nodeagent-proto/agent/monotonic.h"

#define DIAL_MS   200
#define MEET_MS   1000 /* ms between messages OPEN or RESUME until the other end answers */
#define SILENT_MS 5000 /* ms of silence until this end sends RESUME to the other end */
/* after so many ms without any message, the agent may have stopped reading this connection */
#define STUCK_MS 30000
/* ms; messages after a lost message request its repetition at most this often */
#define MISSED_MS 200
#define READ_SIZE 65536U

void remote_end_begin(struct remote_end *r)
{
    r->fd = -1;
    r->met_ms = monotonic_ms();
    frame_decoder_init(&r->in);
}

static void hang_up(struct remote_end *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    r->dial_ms = monotonic_ms() + DIAL_MS;
    frame_decoder_free(&r->in);
    frame_decoder_init(&r->in);
    strbuf_reset(&r->out);
    r->out_sent = 0;
}

void remote_end_free(struct remote_end *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    frame_decoder_free(&r->in);
    strbuf_free(&r->out);
    remote_stream_free(&r->stream);
}

/* --- out ------------------------------------------------------------------------------------ */

static void flush(struct remote_end *r)
{
    while (r->fd >= 0 && r->out_sent < r->out.len) {
        ssize_t n = send(r->fd, r->out.s + r->out_sent, r->out.len - r->out_sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            hang_up(r);
        if (n < 0)
            return;
        r->out_sent += (size_t)n;
    }
    strbuf_reset(&r->out);
    r->out_sent = 0;
}

/* Sends a message. Without a connection, or as long as the other end is unknown, the message is
 * dropped: messages of the stream are sent again later. */
static void say(void *ctx, const struct remote_msg *given)
{
    struct remote_end *r = ctx;
    struct remote_msg m = *given;
    struct err e;
    if (r->fd < 0 || (r->rank < 0 && m.kind != REMOTE_OPEN))
        return;
    m.session = r->session;
    m.rank = r->rank < 0 ? 0 : r->rank;
    m.to_near = !r->host;
    json_t *j = remote_pack(&m);
    if (j && frame_encode_with(j, m.bytes, m.n_bytes, &r->out, &e) == 0)
        flush(r);
    json_decref(j);
}

void remote_end_put(struct remote_end *r, const struct remote_msg *m)
{
    remote_stream_put(&r->stream, m, say, r);
}

/* Acknowledges only processed messages. So the other end sends no more than one window of messages
 * that wait here. */
static void acknowledge(struct remote_end *r)
{
    say(r, &(struct remote_msg){.kind = REMOTE_ACK, .n = r->processed});
}

void remote_end_ack(struct remote_end *r)
{
    r->processed = r->stream.expected;
    acknowledge(r);
}

static void resume(struct remote_end *r, bool answer)
{
    say(r, &(struct remote_msg){.kind = REMOTE_RESUME, .n = r->processed, .answer = answer});
}

/* Sends RESUME; a near end sends OPEN until the other end has answered. */
static void ask(struct remote_end *r)
{
    r->asked_ms = monotonic_ms();
    if (r->met || !r->host)
        resume(r, false);
    else
        say(r, &(struct remote_msg){.kind = REMOTE_OPEN, .host = r->host});
}

/* --- in ------------------------------------------------------------------------------------- */

static void hear_next(struct remote_end *r, const struct remote_msg *m)
{
    int64_t now = monotonic_ms();
    if (m->n < r->stream.expected)
        acknowledge(r); /* our acknowledgement was lost, or is late */
    if (m->n > r->stream.expected && now - r->missed_ms >= MISSED_MS) {
        r->missed_ms = now;
        resume(r, true);
    }
    if (m->n != r->stream.expected)
        return;
    enum remote_taken taken = r->hear(r->ctx, m);
    if (taken != REMOTE_NO_ROOM)
        (void)remote_stream_take(&r->stream, m);
    if (taken == REMOTE_DONE)
        remote_end_ack(r);
}

static void hear(struct remote_end *r, const struct remote_msg *m)
{
    bool is_other = m->kind != REMOTE_GONE && m->kind != REMOTE_LOST;
    if (is_other) {
        r->met = true;
        r->met_ms = monotonic_ms();
        r->gone_ms = 0;
        r->rank = m->rank;
    }
    switch (m->kind) {
    case REMOTE_RESUME:
        remote_stream_acked(&r->stream, m->n);
        if (!m->answer)
            resume(r, true);
        remote_stream_repeat(&r->stream, say, r);
        break;
    case REMOTE_ACK:
        remote_stream_acked(&r->stream, m->n);
        break;
    case REMOTE_DATA:
    case REMOTE_EXIT:
        hear_next(r, m);
        break;
    case REMOTE_GONE:
        if (r->gone_ms == 0)
            r->gone_ms = monotonic_ms();
        (void)r->hear(r->ctx, m);
        break;
    case REMOTE_LOST:
        (void)r->hear(r->ctx, m);
        break;
    case REMOTE_OPEN:
        break;
    }
}

static void read_socket(struct remote_end *r)
{
    char buf[READ_SIZE];
    struct remote_msg m;
    struct err e;
    json_t *msg;
    ssize_t n = recv(r->fd, buf, sizeof buf, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hang_up(r);
        return;
    }
    r->heard_ms = monotonic_ms();
    frame_decoder_feed(&r->in, buf, (size_t)n);
    while (r->fd >= 0 && frame_decoder_next(&r->in, &msg, &e) > 0) {
        size_t n_bytes;
        const char *bytes = frame_decoder_bytes(&r->in, &n_bytes);
        if (remote_read(msg, bytes, n_bytes, &m, &e) == 0)
            hear(r, &m);
        json_decref(msg);
    }
    if (r->fd >= 0 && r->in.broken.code != ERR_NONE)
        hang_up(r);
}

/* --- connecting ----------------------------------------------------------------------------- */

/* Connects by the descriptor of the folder, because the path of a socket has at most 107 bytes. */
static int dial(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char *folder = fs_folder(path);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
    int n = snprintf(to.sun_path, sizeof to.sun_path, "/proc/self/fd/%d/%s", dir, name);
    if (dir >= 0 && n > 0 && (size_t)n < sizeof to.sun_path)
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) < 0) {
        close(fd);
        fd = -1;
    }
    if (dir >= 0)
        close(dir);
    free(folder);
    return fd;
}

static void connect_again(struct remote_end *r)
{
    int64_t now = monotonic_ms();
    if (now < r->dial_ms)
        return;
    r->fd = dial(r->socket);
    r->dial_ms = now + DIAL_MS;
    if (r->fd < 0)
        return;
    r->heard_ms = now;
    ask(r);
}

/* --- the loop ------------------------------------------------------------------------------- */

static int64_t ask_at(const struct remote_end *r)
{
    if (!r->met || r->gone_ms)
        return r->asked_ms + MEET_MS;
    int64_t last = r->heard_ms > r->asked_ms ? r->heard_ms : r->asked_ms;
    return last + SILENT_MS;
}

void remote_end_fill(const struct remote_end *r, struct pollfd *p)
{
    short events = POLLIN;
    if (r->out_sent < r->out.len)
        events |= POLLOUT;
    *p = (struct pollfd){.fd = r->fd, .events = events};
}

int remote_end_timeout(const struct remote_end *r)
{
    int64_t left = (r->fd < 0 ? r->dial_ms : ask_at(r)) - monotonic_ms();
    return left > 0 ? (int)left : 0;
}

void remote_end_act(struct remote_end *r, const struct pollfd *p)
{
    if (r->fd >= 0 && (p->revents & POLLOUT))
        flush(r);
    if (r->fd >= 0 && (p->revents & (POLLIN | POLLHUP | POLLERR)))
        read_socket(r);
    int64_t now = monotonic_ms();
    /* Only a received message shows that the agent works: sent messages may wait there unread. */
    if (r->fd >= 0 && now - r->heard_ms > STUCK_MS)
        hang_up(r);
    if (r->fd < 0)
        connect_again(r);
    else if (now >= ask_at(r))
        ask(r);
}

bool remote_end_is_flushed(const struct remote_end *r)
{
    return r->out_sent == r->out.len;
}
