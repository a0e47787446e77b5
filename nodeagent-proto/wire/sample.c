/* SPDX-License-Identifier: MIT
 *
 * A sample as JSON, both ways. Unknown values are absent; values from a machine are checked.
 */
#include "nodeagent-proto/wire/sample.h"

#include <string.h>

/* --- packing --- */

static void put(json_t *to, const char *name, int64_t value)
{
    if (value != SAMPLE_UNKNOWN)
        json_object_set_new(to, name, json_integer(value));
}

static json_t *pack_processes(const struct gpu_sample *g)
{
    json_t *list = json_array();
    for (int i = 0; i < g->listed; i++) {
        json_t *one = json_pack("{s:I}", "pid", (json_int_t)g->processes[i].pid);
        put(one, "memory", g->processes[i].memory);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *pack_gpu(const struct gpu_sample *g)
{
    json_t *to = json_pack("{s:i, s:s}", "index", g->index, "uuid", g->uuid);
#define PUT(member, name, most) put(to, #member, g->member);
    SAMPLE_GPU_VALUES(PUT)
    if (to && g->listed > 0)
        json_object_set_new(to, "listed", pack_processes(g));
    return to;
}

json_t *message_sample(const struct node_sample *s)
{
    const struct node_sample *g = s; /* the macro PUT uses this name */
    json_t *to = json_object(), *gpus = json_array();
    SAMPLE_NODE_VALUES(PUT)
#undef PUT
    bool ok = !*s->why || json_object_set_new(to, "why", json_string(s->why)) == 0;
    for (int i = 0; i < s->n_gpus; i++)
        ok &= json_array_append_new(gpus, pack_gpu(&s->gpus[i])) == 0;
    json_object_set_new(to, "gpus", gpus);
    if (ok)
        return to;
    json_decref(to);
    return NULL;
}

/* --- reading --- */

static int wrong(const char *name, struct err *e)
{
    return err_set(e, ERR_PROTOCOL, name, "the sample of a node has no valid '%s'", name);
}

/* Reads a number; the value of a missing member stays unknown. */
static int take(const json_t *from, const char *name, int64_t *out, struct err *e)
{
    const json_t *value = json_object_get(from, name);
    if (!value)
        return 0;
    if (!json_is_integer(value))
        return wrong(name, e);
    *out = json_integer_value(value);
    return 0;
}

static int take_text(const json_t *from, const char *name, char *out, size_t size, struct err *e)
{
    const char *text = json_string_value(json_object_get(from, name));
    if (!text || strlen(text) >= size)
        return wrong(name, e);
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

static int take_processes(const json_t *list, struct gpu_sample *out, struct err *e)
{
    size_t i;
    json_t *one;
    if (list && (!json_is_array(list) || json_array_size(list) > SAMPLE_PROCESSES))
        return wrong("listed", e);
    json_array_foreach(list, i, one) {
        struct gpu_process *p = &out->processes[i];
        *p = (struct gpu_process){SAMPLE_UNKNOWN, SAMPLE_UNKNOWN};
        if (take(one, "pid", &p->pid, e) < 0 || take(one, "memory", &p->memory, e) < 0)
            return -1;
    }
    out->listed = (int)json_array_size(list);
    return 0;
}

static int take_gpu(const json_t *from, struct gpu_sample *out, struct err *e)
{
    int64_t index = SAMPLE_UNKNOWN;
    gpu_sample_clear(out);
    if (take(from, "index", &index, e) < 0 ||
        take_text(from, "uuid", out->uuid, sizeof out->uuid, e) < 0)
        return -1;
    if (index < 0 || index >= SAMPLE_GPUS)
        return wrong("index", e);
    out->index = (int)index;
#define TAKE(member, name, most)                                                                   \
    if (take(from, #member, &out->member, e) < 0)                                                  \
        return -1;
    SAMPLE_GPU_VALUES(TAKE)
    return take_processes(json_object_get(from, "listed"), out, e);
}

static int take_gpus(const json_t *list, struct sample_read *to, struct err *e)
{
    size_t i;
    json_t *one;
    if (!json_is_array(list) || json_array_size(list) > SAMPLE_GPUS)
        return wrong("gpus", e);
    json_array_foreach(list, i, one)
        if (take_gpu(one, &to->gpus[i], e) < 0)
            return -1;
    to->s.n_gpus = (int)json_array_size(list);
    return 0;
}

int message_sample_read(const json_t *from, struct sample_read *to, struct err *e)
{
    struct node_sample *out = &to->s;
    sample_clear(out);
    out->gpus = to->gpus;
    SAMPLE_NODE_VALUES(TAKE)
#undef TAKE
    if (json_object_get(from, "why") && take_text(from, "why", out->why, sizeof out->why, e) < 0)
        return -1;
    if (take_gpus(json_object_get(from, "gpus"), to, e) < 0)
        return -1;
    sample_believe(out);
    return 0;
}
