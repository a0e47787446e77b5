/* SPDX-License-Identifier: MIT
 *
 * Reads a request, has it carried out (in the agent, a worker or a helper) and answers it.
 */
#include "lib/arena.h"
#include "nodeagent-proto/agent/ops_priv.h"
#include "nodeagent-proto/wire/message.h"

static int read_request(struct ops_asked *q, struct arena *a, struct err *e)
{
    const char *name = json_string_value(json_object_get(q->msg, "op"));
    if (!name)
        return err_set(e, ERR_PROTOCOL, "op", "the request has no text 'op'");
    if (request_find(name, &q->r.op))
        return request_read(q->msg, a, &q->r, e);
    return err_set(e, ERR_NOT_SUPPORTED, "op", "this agent has no operation '%.100s'", name);
}

void ops_refuse(struct agent *a, json_int_t id, const struct err *e)
{
    agent_send(a, message_refusal(id, e));
}

void ops_serve_by(struct agent *a, json_t *msg, serve_fn fn)
{
    struct err e;
    struct arena arena;
    err_clear(&e);
    arena_init(&arena);
    json_int_t id = json_integer_value(json_object_get(msg, "id"));
    struct ops_asked q = {.msg = msg, .reply = message_reply(id, NULL)};
    enum outcome got = SERVE_FAILED;
    if (read_request(&q, &arena, &e) == 0)
        got = fn(a, &q, &e);
    if (got == SERVE_DONE)
        agent_send(a, json_incref(q.reply));
    else if (got == SERVE_FAILED)
        ops_refuse(a, id, &e);
    json_decref(q.reply);
    arena_free(&arena);
}
