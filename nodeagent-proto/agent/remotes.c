/* SPDX-License-Identifier: MIT
 *
 * Sockets of jobs, the connected ends, and the messages between an end and the daemon. The job of
 * an end is known from its socket, not from its messages. All this runs in the agent's poll loop
 * without blocking; struct remotes owns sockets and ends.
 */
#include "nodeagent-proto/agent/remotes.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/arena.h"
#include "nodeagent-proto/agent/agent.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/remote_place.h"
#include "nodeagent-proto/wire/remote.h"

#define CLIENTS_MAX        1024 /* connections to all sockets */
#define CLIENTS_OF_JOB_MAX 256
/* Messages of all ends together that the agent passes on in a second: with 32 KiB each, 64 MB. */
#define MESSAGES_PER_S 2000
#define REFILL_MS      100
/* unsent bytes to the daemon; above this, no message is passed on */
#define LINK_WAITS_MAX (256U * 1024)
#define END_WAITS_MAX  (1024U * 1024)
#define READ_SIZE      65536U

struct remote_job {
    struct remote_job *next;
    char *name;
    int fd;
    size_t n_clients;
};

/* An end of a remote command. */
struct remote_client {
    struct remote_client *next;
    struct remote_job *job; /* NULL: the connection is closed and drop_dead() will free this */
    int fd;
    struct frame_decoder in;
    struct strbuf out;
    size_t out_sent;
    char session[REMOTE_SESSION_MAX + 1]; /* "": not received yet */
    bool is_near;
    int rank; /* the node that gets the messages of this end; -1: none yet */
};

/* --- jobs and ends -------------------------------------------------------------------------- */

static struct remote_job *find_job(const struct remotes *r, const char *name)
{
    struct remote_job *j = r->jobs;
    while (j && strcmp(j->name, name) != 0)
        j = j->next;
    return j;
}

int remotes_open(struct agent *a, const char *job, const struct account *as, struct err *e)
{
    struct remotes *r = &a->remotes;
    if (find_job(r, job))
        return 0;
    int fd = remote_place(a->root, job, as, e);
    if (fd < 0)
        return -1;
    struct remote_job *j = xcalloc(1, sizeof *j);
    *j = (struct remote_job){.next = r->jobs, .name = xstrdup(job), .fd = fd};
    r->jobs = j;
    return 0;
}

/* Closes the connection. drop_dead() frees the memory later, because the caller is walking the
 * list. */
static void end_client(struct remotes *r, struct remote_client *c)
{
    if (!c->job)
        return;
    c->job->n_clients--;
    r->n_clients--;
    c->job = NULL;
    close(c->fd);
}

static void drop_dead(struct remotes *r)
{
    for (struct remote_client **at = &r->clients; *at;) {
        struct remote_client *c = *at;
        if (c->job) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        frame_decoder_free(&c->in);
        strbuf_free(&c->out);
        free(c);
    }
}

static void free_job(struct remotes *r, struct remote_job *j)
{
    for (struct remote_client *c = r->clients; c; c = c->next)
        if (c->job == j)
            end_client(r, c);
    assert(j->n_clients == 0);
    close(j->fd);
    free(j->name);
    free(j);
}

void remotes_close(struct agent *a, const char *job)
{
    struct remotes *r = &a->remotes;
    if (!job) {
        remotes_close_all(a);
        remote_clear(a->root);
        return;
    }
    remote_displace(a->root, job);
    for (struct remote_job **at = &r->jobs; *at; at = &(*at)->next) {
        struct remote_job *j = *at;
        if (strcmp(j->name, job) != 0)
            continue;
        *at = j->next;
        free_job(r, j);
        break;
    }
    if (!r->jobs)
        remote_clear(a->root);
    drop_dead(r);
}

void remotes_close_all(struct agent *a)
{
    struct remotes *r = &a->remotes;
    while (r->jobs) {
        struct remote_job *j = r->jobs;
        r->jobs = j->next;
        free_job(r, j);
    }
    drop_dead(r);
}

static struct remote_client *find_client(const struct remotes *r, const struct remote_job *job,
                                         const char *session, bool is_near)
{
    struct remote_client *c = r->clients;
    while (c && (c->job != job || c->is_near != is_near || strcmp(c->session, session) != 0))
        c = c->next;
    return c;
}

static void accept_client(struct remotes *r, struct remote_job *j)
{
    int fd = accept4(j->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (r->n_clients == CLIENTS_MAX || j->n_clients == CLIENTS_OF_JOB_MAX) {
        close(fd); /* the end will connect again */
        return;
    }
    struct remote_client *c = xcalloc(1, sizeof *c), **end = &r->clients;
    c->job = j;
    c->fd = fd;
    c->rank = -1;
    frame_decoder_init(&c->in);
    while (*end)
        end = &(*end)->next;
    *end = c;
    r->n_clients++;
    j->n_clients++;
}

static void say_gone(struct agent *a, const struct remote_msg *m)
{
    const struct remote_msg gone = {.kind = REMOTE_GONE,
                                    .run = m->run,
                                    .session = m->session,
                                    .to_near = !m->to_near,
                                    .rank = m->rank};
    agent_send(a, remote_pack(&gone));
}

/* The connection ended: asks the other end to check for a new connection. */
static void lose_client(struct agent *a, struct remote_client *c)
{
    if (c->rank >= 0)
        say_gone(a, &(struct remote_msg){.run = c->job->name,
                                         .session = c->session,
                                         .to_near = c->is_near,
                                         .rank = c->rank});
    end_client(&a->remotes, c);
}

/* --- from the daemon ------------------------------------------------------------------------ */

static void flush(struct agent *a, struct remote_client *c)
{
    while (c->out_sent < c->out.len) {
        ssize_t n = send(c->fd, c->out.s + c->out_sent, c->out.len - c->out_sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            lose_client(a, c);
        if (n < 0)
            return;
        c->out_sent += (size_t)n;
    }
    strbuf_reset(&c->out);
    c->out_sent = 0;
}

void remotes_hear(struct agent *a, json_t *msg, const char *bytes, size_t n)
{
    struct remotes *r = &a->remotes;
    struct remote_msg m;
    struct err e;
    if (remote_read(msg, bytes, n, &m, &e) < 0 || !m.run)
        return;
    const struct remote_job *j = find_job(r, m.run);
    struct remote_client *c = j ? find_client(r, j, m.session, m.to_near) : NULL;
    if (!c && m.kind == REMOTE_RESUME)
        say_gone(a, &m);
    if (!c || c->out.len - c->out_sent > END_WAITS_MAX)
        return;
    m.run = NULL;
    json_t *out = remote_pack(&m);
    if (out && frame_encode_with(out, m.bytes, m.n_bytes, &c->out, &e) == 0)
        flush(a, c);
    json_decref(out);
    drop_dead(r);
}

/* --- from the ends -------------------------------------------------------------------------- */

/* The first message identifies the end. If the same end is connected already, it has connected
 * again, and its old connection is closed. False: a later message names another end. */
static bool introduce(struct remotes *r, struct remote_client *c, const struct remote_msg *m)
{
    bool is_near = m->kind == REMOTE_OPEN || !m->to_near;
    if (c->session[0])
        return c->is_near == is_near && strcmp(c->session, m->session) == 0;
    struct remote_client *before = find_client(r, c->job, m->session, is_near);
    if (before)
        end_client(r, before);
    snprintf(c->session, sizeof c->session, "%s", m->session);
    c->is_near = is_near;
    return true;
}

/* Passes a message of an end to the daemon. -1: an end must not send such a message. */
static int pass_on(struct agent *a, struct remote_client *c, json_t *msg)
{
    struct remote_msg m;
    struct err e;
    size_t n;
    const char *bytes = frame_decoder_bytes(&c->in, &n);
    if (remote_read(msg, bytes, n, &m, &e) < 0 || m.kind == REMOTE_LOST || m.kind == REMOTE_GONE ||
        !introduce(&a->remotes, c, &m))
        return -1;
    m.run = c->job->name;
    if (m.kind != REMOTE_OPEN)
        c->rank = m.rank;
    agent_send_with(a, remote_pack(&m), m.bytes, m.n_bytes);
    a->remotes.tokens--;
    return 0;
}

/* The bytes behind the last message that was passed on. */
static size_t unread(const struct frame_decoder *d, const char **at)
{
    size_t from = d->pos + d->spent;
    *at = from > 0 ? d->buf.s + from : d->buf.s; /* NULL: no byte was received yet */
    return d->buf.len - from;
}

static bool is_too_long(const struct frame_decoder *d)
{
    const char *at;
    return unread(d, &at) >= FRAME_HEADER && frame_body_size(at) > REMOTE_FRAME_MAX;
}

/* Whether a message of the end was received, or the beginning of one that is too long. */
static bool has_message(const struct frame_decoder *d)
{
    const char *at;
    size_t n = unread(d, &at);
    return n >= FRAME_HEADER && (is_too_long(d) || n - FRAME_HEADER >= frame_body_size(at));
}

static bool link_is_full(const struct agent *a)
{
    return a->out.len - a->out_sent > LINK_WAITS_MAX;
}

static bool may_pass_on(const struct agent *a)
{
    return a->remotes.tokens > 0 && !link_is_full(a);
}

/* Passes the end's next message to the daemon. False: the connection is closed. */
static bool serve_client(struct agent *a, struct remote_client *c)
{
    json_t *msg = NULL;
    struct err e;
    int rc = is_too_long(&c->in) || frame_decoder_next(&c->in, &msg, &e) <= 0 ? -1 : 0;
    if (rc == 0)
        rc = pass_on(a, c, msg);
    json_decref(msg);
    if (rc < 0)
        lose_client(a, c);
    else if (!has_message(&c->in))
        frame_decoder_feed(&c->in, "", 0); /* wipes the message */
    return rc == 0;
}

/* Moves the ends behind `last` to the front of the list. */
static void begin_behind(struct remotes *r, struct remote_client *last)
{
    struct remote_client *first = r->clients, **end = &last->next;
    r->clients = last->next ? last->next : first;
    if (!last->next)
        return;
    while (*end)
        end = &(*end)->next;
    *end = first;
    last->next = NULL;
}

/* Passes received messages to the daemon, one of each end in turn: no end takes the share of the
 * others. The other messages wait for the next refill(), or until the link has sent more. */
static void serve_clients(struct agent *a)
{
    struct remotes *r = &a->remotes;
    bool more = may_pass_on(a);
    while (more) {
        more = false;
        for (struct remote_client *c = r->clients; c; c = c->next) {
            if (!c->job || !has_message(&c->in) || !serve_client(a, c))
                continue;
            more = true;
            if (!may_pass_on(a)) {
                begin_behind(r, c);
                return;
            }
        }
    }
}

static void read_client(struct agent *a, struct remote_client *c)
{
    char buf[READ_SIZE];
    ssize_t n = recv(c->fd, buf, sizeof buf, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        lose_client(a, c);
        return;
    }
    frame_decoder_feed(&c->in, buf, (size_t)n);
    explicit_bzero(buf, (size_t)n);
}

/* --- the loop ------------------------------------------------------------------------------- */

static void refill(struct remotes *r)
{
    int64_t now = monotonic_ms();
    if (now - r->refilled_ms < REFILL_MS)
        return;
    r->refilled_ms = now;
    r->tokens = MESSAGES_PER_S * REFILL_MS / 1000;
}

size_t remotes_poll_count(const struct agent *a)
{
    size_t n = a->remotes.n_clients;
    for (const struct remote_job *j = a->remotes.jobs; j; j = j->next)
        n++;
    return n;
}

/* An end is read only while none of its messages waits. A descriptor without events to wait for is
 * replaced by -1, because poll() would report its closed connection again and again. */
void remotes_poll_fill(const struct agent *a, struct pollfd *p)
{
    for (const struct remote_job *j = a->remotes.jobs; j; j = j->next)
        *p++ = (struct pollfd){.fd = j->fd, .events = POLLIN};
    for (const struct remote_client *c = a->remotes.clients; c; c = c->next) {
        short in = has_message(&c->in) ? 0 : POLLIN;
        short events = (short)(in | (c->out_sent < c->out.len ? POLLOUT : 0));
        *p++ = (struct pollfd){.fd = events ? c->fd : -1, .events = events};
    }
}

void remotes_poll_act(struct agent *a, const struct pollfd *p, size_t n)
{
    struct remotes *r = &a->remotes;
    const struct pollfd *end = p + n;
    if (n == 0)
        return;
    refill(r);
    for (struct remote_job *j = r->jobs; j; j = j->next, p++)
        if (p->revents)
            accept_client(r, j);
    /* New connections are at the end of the list and have no entry in `p`. */
    for (struct remote_client *c = r->clients; c && p < end; c = c->next, p++) {
        if (c->job && (p->revents & POLLOUT))
            flush(a, c);
        if (c->job && (p->revents & (POLLIN | POLLHUP | POLLERR)) && !has_message(&c->in))
            read_client(a, c);
    }
    serve_clients(a);
    drop_dead(r);
}

int remotes_poll_timeout(const struct agent *a)
{
    const struct remotes *r = &a->remotes;
    int64_t left = r->tokens > 0 ? 0 : r->refilled_ms + REFILL_MS - monotonic_ms();
    if (link_is_full(a))
        return -1; /* the link wakes the loop when it has sent */
    for (const struct remote_client *c = r->clients; c; c = c->next)
        if (has_message(&c->in))
            return left > 0 ? (int)left : 0;
    return -1;
}
