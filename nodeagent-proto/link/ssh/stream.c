/* SPDX-License-Identifier: MIT
 *
 * Sends and receives frames over the agent's channel, and logs the agent's stderr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "nodeagent-proto/link/ssh/ssh_priv.h"

/* ---- out ---- */

void ssh_write(struct ssh *l, const char *bytes, size_t n)
{
    if (l->phase >= SSH_ENDING)
        return;
    struct ssh_chunk *c = xcalloc(1, sizeof *c + n);
    c->n = n;
    memcpy(c->bytes, bytes, n);
    l->queued += n;
    *l->queue_end = c;
    l->queue_end = &c->next;
}

static void drop_chunk(struct ssh *l)
{
    struct ssh_chunk *c = l->queue;
    l->queue = c->next;
    if (!l->queue)
        l->queue_end = &l->queue;
    l->queued -= c->n;
    explicit_bzero(c->bytes, c->n);
    free(c);
}

void ssh_queue_free(struct ssh *l)
{
    while (l->queue)
        drop_chunk(l);
}

/* Passes the queue to libssh2. NEXT: libssh2 has accepted all of it. */
static enum ssh_step send_queue(struct ssh *l)
{
    while (l->queue) {
        struct ssh_chunk *c = l->queue;
        if (ssh_unsent(l) > SSH_ROOM)
            return SSH_WAIT;
        ssize_t n = libssh2_channel_write(l->channel, c->bytes + c->at, c->n - c->at);
        if (n == LIBSSH2_ERROR_EAGAIN || n == 0)
            return SSH_WAIT; /* the agent's window is full */
        if (n == LIBSSH2_ERROR_CHANNEL_CLOSED)
            return SSH_WAIT; /* reading from the channel will report the reason */
        if (n < 0)
            return ssh_fail_lib(l, (int)n, "sending");
        c->at += (size_t)n;
        if (c->at == c->n)
            drop_chunk(l);
    }
    return SSH_NEXT;
}

/* ---- in ---- */

static void end_line(struct ssh *l)
{
    if (l->line.len == 0)
        return;
    memcpy(l->last_line, l->line.s, l->line.len + 1);
    LOG_WARN(l->link.log, "node.agent_wrote", LF_STR("node", l->name),
             LF_STR("line", l->last_line));
    strbuf_reset(&l->line);
}

void ssh_take_errors(struct ssh *l, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n' && bytes[i] != '\0' && bytes[i] != '\r')
            strbuf_putc(&l->line, bytes[i]);
        if (bytes[i] == '\n' || l->line.len == SSH_LINE_MAX)
            end_line(l);
    }
}

static void take_frames(struct ssh *l, const char *bytes, size_t n)
{
    link_received(&l->link, bytes, n);
}

/* Passes the received bytes of a stream to `take`. Less than 0: the channel is broken. Unneeded
 * output is read as well, because the streams share one window. */
static ssize_t read_stream(struct ssh *l, int stream,
                           void (*take)(struct ssh *l, const char *bytes, size_t n))
{
    char buf[16384];
    ssize_t n;
    while ((n = libssh2_channel_read_ex(l->channel, stream, buf, sizeof buf)) > 0)
        take(l, buf, (size_t)n);
    explicit_bzero(buf, sizeof buf);
    return n == LIBSSH2_ERROR_EAGAIN ? 0 : n;
}

static enum ssh_step read_all(struct ssh *l)
{
    ssize_t rc = read_stream(l, SSH_EXTENDED_DATA_STDERR, ssh_take_errors);
    if (rc == 0)
        rc = read_stream(l, 0, take_frames);
    return rc < 0 ? ssh_fail_lib(l, (int)rc, "reading") : SSH_NEXT;
}

enum ssh_step ssh_agent_ended(struct ssh *l)
{
    char *signal = NULL;
    end_line(l);
    const char *sep = l->last_line[0] ? ": " : "";
    libssh2_channel_get_exit_signal(l->channel, &signal, NULL, NULL, NULL, NULL, NULL);
    if (signal)
        (void)ssh_fail(l, ERR_NODE_LOST, NULL, "the node agent was killed by signal %s%s%s", signal,
                       sep, l->last_line);
    else
        (void)ssh_fail(l, ERR_NODE_LOST, NULL, "the node agent ended with exit code %d%s%s",
                       libssh2_channel_get_exit_status(l->channel), sep, l->last_line);
    libssh2_free(l->session, signal);
    return SSH_FAILED;
}

enum ssh_step ssh_step_running(struct ssh *l)
{
    if (read_all(l) == SSH_FAILED)
        return SSH_FAILED;
    if (l->phase != SSH_RUNNING) /* closed by a callback */
        return SSH_WAIT;
    if (l->link.state == LINK_READY && !l->agent_ended)
        uv_timer_stop(&l->deadline); /* hello was answered */
    if (!libssh2_channel_eof(l->channel))
        return send_queue(l) == SSH_FAILED ? SSH_FAILED : SSH_WAIT;
    if (!l->agent_ended)
        ssh_progress(l);
    l->agent_ended = true;
    int rc = libssh2_channel_close(l->channel);
    return rc == LIBSSH2_ERROR_EAGAIN ? SSH_WAIT : ssh_agent_ended(l);
}

static void take_nothing(struct ssh *l, const char *bytes, size_t n)
{
    (void)l;
    (void)bytes;
    (void)n;
}

/* Sends the remaining requests, then ends the agent's input. This ends the agent. */
enum ssh_step ssh_step_ending(struct ssh *l)
{
    if (read_stream(l, SSH_EXTENDED_DATA_STDERR, ssh_take_errors) < 0 ||
        read_stream(l, 0, take_nothing) < 0)
        return SSH_FAILED;
    enum ssh_step s = send_queue(l);
    if (s != SSH_NEXT)
        return s;
    if (!l->cmd.in_ended) {
        int rc = libssh2_channel_send_eof(l->channel);
        if (rc < 0)
            return rc == LIBSSH2_ERROR_EAGAIN ? SSH_WAIT : SSH_FAILED;
        l->cmd.in_ended = true;
    }
    return libssh2_channel_eof(l->channel) ? SSH_NEXT : SSH_WAIT;
}
