/* SPDX-License-Identifier: MIT
 *
 * A table row for each kind of message lists its members; both ends pack and read by the rows. A
 * message with a member out of its range is refused as a whole. Pure: any thread; texts and bytes
 * that are read belong to the caller's JSON and buffer.
 */
#include "nodeagent-proto/wire/remote.h"

#include <assert.h>
#include <string.h>

#include "nodeagent-proto/wire/message.h"

#define N_MAX (INT64_C(1) << 53)

/* The members of each kind of message, in addition to the session, its direction and the rank. */
static const struct message_shape {
    const char *name;
    bool has_n, has_bytes, has_exit;
    const char *text; /* the name of its text */
} shapes[] = {
    [REMOTE_OPEN] = {.name = "open", .text = "host"},
    [REMOTE_LOST] = {.name = "lost", .text = "why"},
    [REMOTE_RESUME] = {.name = "resume", .has_n = true},
    [REMOTE_ACK] = {.name = "ack", .has_n = true},
    [REMOTE_DATA] = {.name = "data", .has_n = true, .has_bytes = true},
    [REMOTE_EXIT] = {.name = "exit", .has_n = true, .has_exit = true},
    [REMOTE_GONE] = {.name = "gone"},
};
#define N_KINDS (sizeof shapes / sizeof shapes[0])
static_assert(N_KINDS == REMOTE_GONE + 1, "a row a kind");

bool remote_session_valid(const char *session)
{
    size_t n = strspn(session, "abcdefghijklmnopqrstuvwxyz0123456789");
    return n > 0 && n <= REMOTE_SESSION_MAX && session[n] == '\0';
}

json_t *remote_pack(const struct remote_msg *m)
{
    const struct message_shape *s = &shapes[m->kind];
    json_t *j = json_pack("{s:s, s:s, s:s, s:b, s:i, s:s*}", "event", REMOTE_EVENT, "kind", s->name,
                          "session", m->session, "to_near", (int)m->to_near, "rank", m->rank, "job",
                          m->run);
    int rc = j ? 0 : -1;
    if (rc == 0 && s->has_n)
        rc = json_object_set_new(j, "n", json_integer(m->n));
    if (rc == 0 && m->answer)
        rc = json_object_set_new(j, "answer", json_true());
    if (rc == 0 && s->has_bytes)
        rc = json_object_set_new(j, "channel", json_integer(m->channel));
    if (rc == 0 && s->has_exit)
        rc = json_object_update_new(
            j, json_pack("{s:i, s:i}", "exit_code", m->exit_code, "signal", m->signal));
    if (rc == 0 && s->text)
        rc = json_object_set_new(j, s->text, json_string(m->host ? m->host : m->why));
    if (rc == 0)
        return j;
    json_decref(j);
    return NULL;
}

static int find_kind(const char *name, enum remote_kind *out)
{
    for (size_t i = 0; name && i < N_KINDS; i++)
        if (strcmp(shapes[i].name, name) == 0) {
            *out = (enum remote_kind)i;
            return 0;
        }
    return -1;
}

/* A number from 0 to `max`. */
static int read_number(const json_t *j, const char *name, int64_t max, int64_t *out)
{
    const json_t *v = json_object_get(j, name);
    *out = json_integer_value(v);
    return json_is_integer(v) && *out >= 0 && *out <= max ? 0 : -1;
}

static int read_text(const json_t *j, const char *name, const char **out)
{
    *out = json_string_value(json_object_get(j, name));
    return *out && strlen(*out) <= REMOTE_TEXT_MAX ? 0 : -1;
}

static int read_shape(const json_t *j, const struct message_shape *s, struct remote_msg *out)
{
    int64_t channel, code = 0, signal = 0;
    if (s->has_n && read_number(j, "n", N_MAX, &out->n) < 0)
        return -1;
    if (s->has_bytes) {
        if (read_number(j, "channel", REMOTE_CONTROL, &channel) < 0)
            return -1;
        out->channel = (enum remote_channel)channel;
    }
    if (s->has_exit &&
        (read_number(j, "exit_code", 255, &code) < 0 || read_number(j, "signal", 127, &signal) < 0))
        return -1;
    out->exit_code = (int)code;
    out->signal = (int)signal;
    if (!s->text)
        return 0;
    return read_text(j, s->text, out->kind == REMOTE_OPEN ? &out->host : &out->why);
}

int remote_read(const json_t *j, const char *bytes, size_t n, struct remote_msg *out, struct err *e)
{
    int64_t rank;
    *out = (struct remote_msg){.bytes = bytes ? bytes : "", .n_bytes = n};
    const json_t *job = json_object_get(j, "job");
    out->run = json_string_value(job);
    out->session = json_string_value(json_object_get(j, "session"));
    out->to_near = json_is_true(json_object_get(j, "to_near"));
    out->answer = json_is_true(json_object_get(j, "answer"));
    if (find_kind(json_string_value(json_object_get(j, "kind")), &out->kind) < 0)
        return err_set(e, ERR_PROTOCOL, "kind",
                       "a message of a remote command has an unknown kind");
    const struct message_shape *s = &shapes[out->kind];
    bool good = out->session && remote_session_valid(out->session) &&
                (!out->run || task_id_valid(out->run)) &&
                read_number(j, "rank", REMOTE_DAEMON, &rank) == 0 && n <= REMOTE_BYTES_MAX &&
                (n == 0 || s->has_bytes) && read_shape(j, s, out) == 0;
    if (!good)
        return err_set(e, ERR_PROTOCOL, "kind", "a message '%s' of a remote command cannot be read",
                       s->name);
    out->rank = (int)rank;
    return 0;
}
