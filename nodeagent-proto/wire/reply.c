/* SPDX-License-Identifier: MIT
 *
 * The structs of replies and events as JSON and back, by rows that are generated from requests.txt:
 * a kind of member is one case in put() and one in take(). If a member is missing, of another kind
 * or out of range, the message is refused and the struct must not be used. Pure: no state, any
 * thread; texts that are read belong to the JSON.
 */
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "lib/jsontext.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/wire/message.h"

enum part_kind { PART_TEXT, PART_INT, PART_NUMBER, PART_COUNT, PART_BOOL, PART_STATE };

struct part_member {
    const char *name;
    enum part_kind kind;
    bool optional; /* missing: NULL, false or 0 */
    size_t at;     /* in the struct */
};

struct reply_part {
    const char *about; /* the name of the struct in errors */
    const struct part_member *members;
    size_t n_members, size;
};

#include "replies.inc"

static const char *const kind_names[] = {
    [PART_TEXT] = "text",   [PART_INT] = "number",       [PART_NUMBER] = "number",
    [PART_COUNT] = "count", [PART_BOOL] = "truth value", [PART_STATE] = "state",
};

static const char *const state_names[] = {
    [TASK_UNKNOWN] = "unknown", [TASK_RUNNING] = "running",
    [TASK_EXITED] = "exited",   [TASK_FAILED_TO_START] = "failed_to_start",
    [TASK_LOST] = "lost",
};
#define N_STATES (sizeof state_names / sizeof state_names[0])
static_assert(N_STATES == TASK_LOST + 1, "a name a state");

/* ---- packing ---- */

/* A new reference; NULL: the member is left out. */
static json_t *put(const struct part_member *m, const void *at)
{
    switch (m->kind) {
    case PART_TEXT:
        return jsontext_optional(*(const char *const *)at);
    case PART_INT:
        return json_integer(*(const int *)at);
    case PART_NUMBER:
    case PART_COUNT:
        return m->optional && *(const int64_t *)at == 0 ? NULL : json_integer(*(const int64_t *)at);
    case PART_BOOL:
        return m->optional && !*(const bool *)at ? NULL : json_boolean(*(const bool *)at);
    case PART_STATE:
        assert(*(const enum task_state *)at < N_STATES);
        return json_string(state_names[*(const enum task_state *)at]);
    }
    return NULL;
}

static json_t *pack(const struct reply_part *p, const void *from)
{
    json_t *j = json_object();
    for (size_t i = 0; i < p->n_members; i++) {
        const struct part_member *m = &p->members[i];
        json_t *value = put(m, (const char *)from + m->at);
        assert(value || m->optional);
        if (value)
            json_object_set_new(j, m->name, value);
    }
    return j;
}

/* ---- reading ---- */

static bool take_number(const json_t *v, int64_t least, int64_t most, int64_t *out)
{
    *out = json_integer_value(v);
    return json_is_integer(v) && *out >= least && *out <= most;
}

static bool take_state(const json_t *v, enum task_state *out)
{
    const char *name = json_string_value(v);
    for (size_t i = 0; name && i < N_STATES; i++)
        if (strcmp(name, state_names[i]) == 0) {
            *out = (enum task_state)i;
            return true;
        }
    return false;
}

static bool take(const struct part_member *m, const json_t *v, void *at)
{
    int64_t n;
    if (m->optional && (!v || json_is_null(v)))
        return true; /* the member is 0 already */
    switch (m->kind) {
    case PART_TEXT:
        *(const char **)at = json_string_value(v);
        return json_is_string(v);
    case PART_INT:
        if (!take_number(v, INT_MIN, INT_MAX, &n))
            return false;
        *(int *)at = (int)n;
        return true;
    case PART_NUMBER:
        return take_number(v, INT64_MIN, INT64_MAX, at);
    case PART_COUNT:
        return take_number(v, 0, INT64_MAX, at);
    case PART_BOOL:
        *(bool *)at = json_is_true(v);
        return json_is_boolean(v);
    case PART_STATE:
        return take_state(v, at);
    }
    return false;
}

static int take_all(const struct reply_part *p, const json_t *j, void *to, struct err *e)
{
    memset(to, 0, p->size);
    for (size_t i = 0; i < p->n_members; i++) {
        const struct part_member *m = &p->members[i];
        if (!take(m, json_object_get(j, m->name), (char *)to + m->at))
            return err_set(e, ERR_PROTOCOL, m->name, "%s has no valid %s '%s'", p->about,
                           kind_names[m->kind], m->name);
    }
    return 0;
}

/* ---- the structs ---- */

json_t *message_task_status(const struct task_status *s)
{
    return pack(&status_part, s);
}

int message_task_status_read(json_t *j, struct task_status *out, struct err *e)
{
    return take_all(&status_part, j, out, e);
}

json_t *message_health(const struct node_health *h)
{
    return pack(&health_part, h);
}

int message_health_read(json_t *j, struct node_health *out, struct err *e)
{
    int rc = take_all(&health_part, j, out, e);
    if (!out->disk_error)
        out->disk_error = ""; /* an old agent does not send it */
    return rc;
}

json_t *message_usage(const struct node_usage *u)
{
    return pack(&usage_part, u);
}

int message_usage_read(json_t *j, struct node_usage *out, struct err *e)
{
    return take_all(&usage_part, j, out, e);
}

json_t *message_dir_entry(const struct node_dir_entry *en)
{
    return pack(&entry_part, en);
}

int message_dir_entry_read(json_t *j, struct node_dir_entry *out, struct err *e)
{
    return take_all(&entry_part, j, out, e);
}

json_t *message_epoch(const struct node_epoch *ep)
{
    const struct node_epoch said = {.term = ep->term, .id = ep->id ? ep->id : ""};
    return pack(&epoch_part, &said);
}

int message_epoch_read(json_t *j, struct node_epoch *out, struct err *e)
{
    *out = (struct node_epoch){.id = ""};
    return j ? take_all(&epoch_part, j, out, e) : 0;
}

/* Facts have two further members: the protocol's version and a list of GPUs. */

json_t *message_facts(const struct node_facts *f)
{
    json_t *gpus = json_loads(f->gpus, 0, NULL), *j = pack(&facts_part, f);
    json_object_set_new(j, "version", json_integer(PROTOCOL_VERSION));
    json_object_set_new(j, "gpus", gpus ? gpus : json_array());
    return j;
}

static int check_version(json_t *j, struct err *e)
{
    const json_t *version = json_object_get(j, "version");
    if (json_is_integer(version) && json_integer_value(version) == PROTOCOL_VERSION)
        return 0;
    return err_set(e, ERR_PROTOCOL, "version",
                   "the agent speaks version %lld of the node protocol; version %d is needed",
                   (long long)json_integer_value(version), PROTOCOL_VERSION);
}

int message_facts_read(json_t *j, struct arena *a, struct node_facts *out, struct err *e)
{
    const json_t *gpus = json_object_get(j, "gpus");
    memset(out, 0, sizeof *out);
    if (check_version(j, e) < 0 || take_all(&facts_part, j, out, e) < 0)
        return -1;
    if (!json_is_array(gpus))
        return err_set(e, ERR_PROTOCOL, "gpus", "the agent's hello has no list of GPUs");
    out->n_gpus = (int)json_array_size(gpus);
    struct strbuf text = STRBUF_INIT;
    jsontext_add(&text, gpus);
    out->gpus = arena_strdup(a, text.s);
    strbuf_free(&text);
    return 0;
}

void message_facts_keep(struct node_facts *f, struct arena *a)
{
    for (size_t i = 0; i < facts_part.n_members; i++) {
        const struct part_member *m = &facts_part.members[i];
        const char **text = (const char **)(void *)((char *)f + m->at);
        if (m->kind == PART_TEXT)
            *text = arena_strdup(a, *text);
    }
}
