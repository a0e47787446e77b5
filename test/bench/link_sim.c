/* SPDX-License-Identifier: MIT
 *
 * For the bench alone: links to machines that do not exist. A daemon that is linked with
 * -Wl,--wrap=node_open_ssh has this in the place of the SSH transport: the same frames, through the
 * same link, go to sim_agents.c over a Unix socket ($BATCHAID_SIM_AGENTS), one connection a
 * machine.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/loop_uv.h"
#include "nodeagent-proto/link/link_priv.h"

#define READ_CHUNK (64U << 10)

struct link_sim {
    struct node_link link; /* first: the link is the allocation */
    char *name;
    uv_pipe_t pipe;
    uv_connect_t connect;
};

int __wrap_node_open_ssh(const struct node_ssh_config *c, struct node_link **out, struct err *e);

static void fail(struct link_sim *s, int status)
{
    struct err why;
    err_set(&why, ERR_NODE_LOST, NULL, "%s: %s", s->name, uv_strerror(status));
    link_fail(&s->link, &why);
}

struct sim_write {
    uv_write_t req;
    char bytes[];
};

static void on_written(uv_write_t *req, int status)
{
    (void)status; /* a broken socket ends in on_bytes() too */
    free(req);
}

static void sim_write(struct node_link *link, const char *bytes, size_t n)
{
    struct link_sim *s = (struct link_sim *)(void *)link;
    uv_stream_t *stream = (uv_stream_t *)&s->pipe;
    uv_buf_t now = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)n);
    if (uv_is_writable(stream) && uv_try_write(stream, &now, 1) == (int)n)
        return;
    struct sim_write *w = xcalloc(1, sizeof *w + n);
    memcpy(w->bytes, bytes, n);
    uv_buf_t later = uv_buf_init(w->bytes, (unsigned)n);
    if (uv_write(&w->req, stream, &later, 1, on_written) < 0)
        free(w);
}

static void on_closed(uv_handle_t *handle)
{
    link_released(handle->data);
}

static void sim_close(struct node_link *link)
{
    uv_close((uv_handle_t *)&((struct link_sim *)(void *)link)->pipe, on_closed);
}

static void sim_free(struct node_link *link)
{
    free(((struct link_sim *)(void *)link)->name);
    free(link);
}

static const struct link_transport sim_transport = {sim_write, sim_close, sim_free, NULL};

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)handle;
    (void)suggested;
    *buf = uv_buf_init(xrealloc(NULL, READ_CHUNK), READ_CHUNK); /* as link_ssh.c does */
}

static void on_bytes(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct link_sim *s = stream->data;
    if (n > 0)
        link_received(&s->link, buf->base, (size_t)n);
    else if (n < 0)
        fail(s, (int)n);
    free(buf->base);
}

static void on_connected(uv_connect_t *req, int status)
{
    struct link_sim *s = req->data;
    if (link_is_closing(&s->link))
        return;
    if (status < 0)
        fail(s, status);
    else
        (void)uv_read_start((uv_stream_t *)&s->pipe, on_alloc, on_bytes);
}

int __wrap_node_open_ssh(const struct node_ssh_config *c, struct node_link **out, struct err *e)
{
    const char *path = getenv("BATCHAID_SIM_AGENTS");
    if (!path)
        return err_set(e, ERR_CONFIG, NULL, "BATCHAID_SIM_AGENTS is not set");
    struct link_sim *s = xcalloc(1, sizeof *s);
    s->name = xstrdup(c->host);
    uv_pipe_init(loop_uv_of(c->loop), &s->pipe, 0);
    s->pipe.data = s->connect.data = s;
    uv_pipe_connect(&s->connect, &s->pipe, path, on_connected);
    link_start(&s->link, &(struct link_start){.loop = c->loop,
                                              .transport = &sim_transport,
                                              .user = &c->callbacks,
                                              .log = c->log,
                                              .name = s->name,
                                              .epoch = &c->epoch});
    *out = &s->link;
    return 0;
}
