/* SPDX-License-Identifier: MIT
 *
 * Serves the requests of agents to the daemon. Each request gets exactly one reply; a slow request
 * is answered later, by its id. Messages of remote commands are not requests: they are passed to
 * the link's user, and have a separate limit.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "nodeagent-proto/link/link_priv.h"
#include "nodeagent-proto/wire/message.h"

/* The limit of requests in WINDOW_US (10 s). A healthy agent sends a few. An agent that sends
 * requests without end would occupy the loop and, if it does not read the answers, all memory. */
#define REQUESTS_MAX 1000
#define WINDOW_US    10000000
/* The limit of messages of remote commands in WINDOW_US: an agent sends at most 20,000, and makes
 * the processes wait beyond that. */
#define REMOTE_MAX 40000
/* The most bytes that may wait for a node that reads slowly; further messages are dropped, and the
 * ends send them again. */
#define REMOTE_WAITING_MAX (8U * 1024 * 1024)

static bool is_too_much(struct node_link *link, int *count, int most, const char *what)
{
    struct err e;
    int64_t now = loop_mono_us(link->loop);
    if (now - link->asked_since_us >= WINDOW_US) {
        link->asked_since_us = now;
        link->n_asked = link->n_remote = 0;
    }
    if (++*count <= most)
        return false;
    err_set(&e, ERR_PROTOCOL, NULL, "the agent %s more than %d times within %d s", what, most,
            WINDOW_US / 1000000);
    link_fail(link, &e);
    return true;
}

static void reply(struct node_link *link, json_t *msg)
{
    struct err e;
    if (link_send(link, msg, &e) < 0)
        link_fail(link, &e); /* otherwise the agent would wait for ever */
}

static void serve_ping(struct node_link *link, json_int_t id)
{
    reply(link, message_reply(id, NULL));
}

static void serve_epoch(struct node_link *link, json_int_t id)
{
    const struct node_epoch epoch = {link->term, link->epoch_id};
    reply(link, message_reply(id, json_pack("{s:o}", "epoch", message_epoch(&epoch))));
}

static const struct {
    const char *name;
    void (*serve)(struct node_link *link, json_int_t id);
} ops[] = {
    {"ping", serve_ping},
    {"epoch", serve_epoch},
};

void link_serve(struct node_link *link, json_t *req)
{
    struct err e;
    const char *name = json_string_value(json_object_get(req, "op"));
    json_int_t id = json_integer_value(json_object_get(req, "id"));
    if (is_too_much(link, &link->n_asked, REQUESTS_MAX, "asked"))
        return;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(ops[i].name, name) == 0) {
            ops[i].serve(link, id);
            return;
        }
    err_set(&e, ERR_NOT_SUPPORTED, "op", "this daemon has no operation '%.100s'", name);
    reply(link, message_refusal(id, &e));
}

/* ---- remote commands ---- */

/* A malformed message is dropped without breaking the link, because the job may have caused it. */
void link_remote(struct node_link *link, const json_t *msg)
{
    struct remote_msg m;
    struct err e;
    size_t n;
    const char *bytes = frame_decoder_bytes(&link->in, &n);
    if (is_too_much(link, &link->n_remote, REMOTE_MAX, "passed on messages") || !link->user.remote)
        return;
    if (remote_read(msg, bytes, n, &m, &e) == 0 && m.run)
        link->user.remote(link->user.ctx, &m);
}

void node_remote_send(struct node_link *link, const struct remote_msg *m)
{
    struct strbuf frame = STRBUF_INIT;
    struct err e;
    const struct link_transport *t = link->transport;
    if (!node_link_is_ready(link) || (t->waiting && t->waiting(link) > REMOTE_WAITING_MAX))
        return;
    json_t *msg = remote_pack(m);
    if (msg && frame_encode_with(msg, m->bytes, m->n_bytes, &frame, &e) == 0)
        t->write(link, frame.s, frame.len);
    json_decref(msg);
    if (frame.s)
        explicit_bzero(frame.s, frame.len);
    strbuf_free(&frame);
}
