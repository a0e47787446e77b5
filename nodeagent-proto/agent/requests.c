/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "nodeagent-proto/agent/ops_priv.h"
#include "nodeagent-proto/wire/message.h"

/* ---- a request's members ---- */

int get_text(json_t *req, const char *name, const char **out, struct err *e)
{
    *out = json_string_value(json_object_get(req, name));
    if (*out)
        return 0;
    err_set(e, ERR_PROTOCOL, name, "the request has no text '%s'", name);
    return -1;
}

int get_path(json_t *req, const char *name, const char **out, struct err *e)
{
    if (get_text(req, name, out, e) < 0)
        return -1;
    if (**out == '/')
        return 0;
    return err_set(e, ERR_INVALID_PATH, name, "%s '%s' is not an absolute path of the node", name,
                   *out);
}

int get_int64(json_t *req, const char *name, int64_t *out, struct err *e)
{
    json_t *v = json_object_get(req, name);
    *out = json_integer_value(v);
    return json_is_integer(v)
               ? 0
               : err_set(e, ERR_PROTOCOL, name, "the request has no number '%s'", name);
}

int get_int(json_t *req, const char *name, int *out, struct err *e)
{
    int64_t v;
    *out = 0;
    if (get_int64(req, name, &v, e) < 0)
        return -1;
    if (v < INT_MIN || v > INT_MAX)
        return err_set(e, ERR_PROTOCOL, name, "the number %lld is too large for '%s'", (long long)v,
                       name);
    *out = (int)v;
    return 0;
}

enum outcome outcome(int rc)
{
    return rc < 0 ? SERVE_FAILED : SERVE_DONE;
}

/* ---- its answer ---- */

void ops_refuse(struct agent *a, json_int_t id, const struct err *e)
{
    agent_send(a, message_refusal(id, e));
}

void ops_serve_by(struct agent *a, json_t *req, serve_fn fn)
{
    struct err e;
    err_clear(&e);
    json_int_t id = json_integer_value(json_object_get(req, "id"));
    json_t *reply = message_reply(id, NULL);
    enum outcome got = fn(a, req, reply, &e);
    if (got == SERVE_DONE)
        agent_send(a, json_incref(reply));
    else if (got == SERVE_FAILED)
        ops_refuse(a, id, &e);
    json_decref(reply);
}
