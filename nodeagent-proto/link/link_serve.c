/* SPDX-License-Identifier: MIT
 *
 * Serves the requests of agents to the daemon. Each gets exactly one reply; a slow one is answered
 * later, by its id.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "nodeagent-proto/link/link_priv.h"
#include "nodeagent-proto/wire/message.h"

/* The limit of requests in a minute. A healthy agent asks a few. One that asks without end would
 * occupy the loop and, if it does not read the answers, all memory. */
#define REQUESTS_MAX 1000
#define WINDOW_US    10000000

static bool asks_too_much(struct node_link *link)
{
    struct err e;
    int64_t now = loop_mono_us(link->loop);
    if (now - link->asked_since_us >= WINDOW_US) {
        link->asked_since_us = now;
        link->n_asked = 0;
    }
    if (++link->n_asked <= REQUESTS_MAX)
        return false;
    err_set(&e, ERR_PROTOCOL, NULL, "the agent asked more than %d times within %d s", REQUESTS_MAX,
            WINDOW_US / 1000000);
    link_fail(link, &e);
    return true;
}

static void reply(struct node_link *link, json_t *msg)
{
    struct err e;
    if (link_send(link, msg, &e) < 0)
        link_fail(link, &e); /* the agent would wait for ever */
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
    if (asks_too_much(link))
        return;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(ops[i].name, name) == 0) {
            ops[i].serve(link, id);
            return;
        }
    err_set(&e, ERR_NOT_SUPPORTED, "op", "this daemon has no operation '%.100s'", name);
    reply(link, message_refusal(id, &e));
}
