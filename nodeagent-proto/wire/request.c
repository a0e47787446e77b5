/* SPDX-License-Identifier: MIT
 *
 * Packs and reads requests: each kind of member has a function that packs and a function that
 * reads. Both get the member's place in the message and in the struct.
 */
#include "nodeagent-proto/wire/request.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base64.h"
#include "nodeagent-proto/wire/message.h"
#include "requests.inc"

struct request_place {
    const struct request_member *m;
    json_t *msg;
    void *at, *also;
    struct arena *arena; /* reading only */
};

static struct request_place place_of(struct node_request *r, const struct request_member *m)
{
    return (struct request_place){.m = m, .at = (char *)r + m->at, .also = (char *)r + m->also};
}

/* ---- packing; -1: the value cannot be written as JSON ---- */

static int put(const struct request_place *p, json_t *value)
{
    return json_object_set_new(p->msg, p->m->name, value);
}

static int pack_text(const struct request_place *p)
{
    const char *text = *(const char **)p->at;
    return p->m->optional && !text ? 0 : put(p, json_string(text));
}

static int pack_int(const struct request_place *p)
{
    return put(p, json_integer(*(int *)p->at));
}

static int pack_number(const struct request_place *p)
{
    int64_t n = *(int64_t *)p->at;
    return p->m->optional && n == 0 ? 0 : put(p, json_integer(n));
}

static int pack_bool(const struct request_place *p)
{
    bool yes = *(bool *)p->at;
    return p->m->optional && !yes ? 0 : put(p, json_boolean(yes));
}

static int pack_paths(const struct request_place *p)
{
    const char *const *paths = *(const char *const **)p->at;
    json_t *list = json_array();
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < *(size_t *)p->also; i++)
        rc = json_array_append_new(list, json_string(paths[i]));
    return put(p, list) < 0 ? -1 : rc;
}

static int pack_base64(const struct request_place *p)
{
    char *text = base64_encode(*(const void **)p->at, *(size_t *)p->also);
    int rc = put(p, json_string(text));
    free(text);
    return rc;
}

static int put_two(const struct request_place *p, int64_t first, int64_t second)
{
    return put(p, json_integer(first)) < 0
               ? -1
               : json_object_set_new(p->msg, p->m->second, json_integer(second));
}

static int pack_ids(const struct request_place *p)
{
    int uid = *(int *)p->at;
    return uid == 0 ? 0 : put_two(p, uid, *(int *)p->also);
}

static int pack_numbers(const struct request_place *p)
{
    return put_two(p, *(int64_t *)p->at, *(int64_t *)p->also);
}

static int pack_epoch(const struct request_place *p)
{
    const struct node_epoch *epoch = p->at;
    return epoch->term > 0 ? put(p, message_epoch(epoch)) : 0;
}

static int pack_task(const struct request_place *p)
{
    return put(p, message_task_spec(*(const struct task_spec **)p->at));
}

/* ---- reading ---- */

static json_t *get(const struct request_place *p)
{
    return json_object_get(p->msg, p->m->name);
}

static int read_text(const struct request_place *p, struct err *e)
{
    const char *text = json_string_value(get(p));
    *(const char **)p->at = text;
    if (text)
        return 0;
    err_set(e, ERR_PROTOCOL, p->m->name, "the request has no text '%s'", p->m->name);
    return -1;
}

static int read_path(const struct request_place *p, struct err *e)
{
    if (read_text(p, e) < 0)
        return -1;
    const char *path = *(const char **)p->at;
    return *path == '/' ? 0
                        : err_set(e, ERR_INVALID_PATH, p->m->name,
                                  "%s '%s' is not an absolute path of the node", p->m->name, path);
}

static int read_job(const struct request_place *p, struct err *e)
{
    if (read_text(p, e) < 0)
        return -1;
    const char *job = *(const char **)p->at;
    return task_id_valid(job) && *job != '.' ? 0
                                             : err_set(e, ERR_INVALID_PROPERTY, p->m->name,
                                                       "'%.100s' cannot be a job's name", job);
}

static int get_number(const struct request_place *p, const char *name, int64_t *out, struct err *e)
{
    const json_t *v = json_object_get(p->msg, name);
    *out = json_integer_value(v);
    return json_is_integer(v)
               ? 0
               : err_set(e, ERR_PROTOCOL, name, "the request has no number '%s'", name);
}

static int read_number(const struct request_place *p, struct err *e)
{
    return get_number(p, p->m->name, p->at, e);
}

static int read_int(const struct request_place *p, struct err *e)
{
    int64_t n;
    if (get_number(p, p->m->name, &n, e) < 0)
        return -1;
    if (n < INT_MIN || n > INT_MAX)
        return err_set(e, ERR_PROTOCOL, p->m->name, "the number %lld is too large for '%s'",
                       (long long)n, p->m->name);
    *(int *)p->at = (int)n;
    return 0;
}

static int read_mode(const struct request_place *p, struct err *e)
{
    if (read_int(p, e) < 0)
        return -1;
    int mode = *(int *)p->at;
    return mode >= 0 && mode <= REQUEST_MODE_MAX
               ? 0
               : err_set(e, ERR_INVALID_PROPERTY, p->m->name,
                         "mode 0%o is out of range; it must be from 0 to 0%o", (unsigned)mode,
                         REQUEST_MODE_MAX);
}

static int refuse_bytes(struct err *e)
{
    return err_set(e, ERR_INVALID_PROPERTY, "bytes",
                   "the bytes are not base64, or their offset is negative");
}

static int read_start(const struct request_place *p, struct err *e)
{
    if (read_number(p, e) < 0)
        return -1;
    return *(int64_t *)p->at < 0 ? refuse_bytes(e) : 0;
}

static int read_base64(const struct request_place *p, struct err *e)
{
    const char *text;
    char *bytes;
    if (read_text(p, e) < 0)
        return -1;
    text = *(const char **)p->at;
    if (base64_decode(text, strlen(text), &bytes, p->also) < 0)
        return refuse_bytes(e);
    *(const void **)p->at = arena_strndup(p->arena, bytes, *(size_t *)p->also);
    free(bytes);
    return 0;
}

static int read_bool(const struct request_place *p, struct err *e)
{
    (void)e;
    *(bool *)p->at = json_is_true(get(p));
    return 0;
}

static int read_paths(const struct request_place *p, struct err *e)
{
    const json_t *list = get(p);
    size_t n = json_array_size(list);
    const char **paths = arena_alloc(p->arena, (n + 1) * sizeof *paths);
    if (!json_is_array(list))
        return err_set(e, ERR_PROTOCOL, p->m->name, "the request has no list '%s'", p->m->name);
    for (size_t i = 0; i < n; i++) {
        paths[i] = json_string_value(json_array_get(list, i));
        if (!paths[i] || *paths[i] != '/')
            return err_set(e, ERR_INVALID_PATH, p->m->name,
                           "%s[%zu] '%s' is not an absolute path of the node", p->m->name, i,
                           paths[i] ? paths[i] : "");
    }
    *(const char *const **)p->at = paths;
    *(size_t *)p->also = n;
    return 0;
}

static int get_two(const struct request_place *p, int64_t *first, int64_t *second, struct err *e)
{
    return get_number(p, p->m->name, first, e) < 0 ? -1 : get_number(p, p->m->second, second, e);
}

static int read_ids(const struct request_place *p, struct err *e)
{
    int64_t uid, gid;
    if (get_two(p, &uid, &gid, e) < 0)
        return -1;
    if (uid < 1 || uid > REQUEST_ID_MAX || gid < 1 || gid > REQUEST_ID_MAX)
        return err_set(e, ERR_INVALID_PROPERTY, p->m->name,
                       "uid %lld and gid %lld are not valid; each must be from 1 to %d",
                       (long long)uid, (long long)gid, REQUEST_ID_MAX);
    *(int *)p->at = (int)uid;
    *(int *)p->also = (int)gid;
    return 0;
}

static int read_range(const struct request_place *p, struct err *e)
{
    int64_t *first = p->at, *count = p->also;
    if (get_two(p, first, count, e) < 0)
        return -1;
    return *first >= 0 && *first <= UINT32_MAX && *count >= 0 && *count <= UINT32_MAX
               ? 0
               : err_set(e, ERR_INVALID_PROPERTY, p->m->name,
                         "%lld numbers from %lld on are not a valid range of account numbers",
                         (long long)*count, (long long)*first);
}

static int read_part(const struct request_place *p, struct err *e)
{
    int64_t *offset = p->at, *max = p->also;
    if (get_two(p, offset, max, e) < 0)
        return -1;
    return *offset >= 0 && *max >= 0 && *max <= REQUEST_READ_MAX
               ? 0
               : err_set(e, ERR_INVALID_PROPERTY, p->m->name,
                         "%lld bytes from offset %lld cannot be read: at most %d bytes from offset "
                         "0 or above",
                         (long long)*max, (long long)*offset, REQUEST_READ_MAX);
}

static int read_version(const struct request_place *p, struct err *e)
{
    if (read_int(p, e) < 0)
        return -1;
    int version = *(int *)p->at;
    return version == PROTOCOL_VERSION
               ? 0
               : err_set(e, ERR_NOT_SUPPORTED, p->m->name,
                         "the agent speaks version %d of the node protocol, not %d",
                         PROTOCOL_VERSION, version);
}

static int read_epoch(const struct request_place *p, struct err *e)
{
    return message_epoch_read(get(p), p->at, e);
}

static int read_task(const struct request_place *p, struct err *e)
{
    struct task_spec *spec = arena_alloc(p->arena, sizeof *spec);
    *(const struct task_spec **)p->at = spec;
    return message_task_spec_read(get(p), p->arena, spec, e);
}

/* ---- the kinds, and their JSON types ---- */

static const struct {
    int (*pack)(const struct request_place *p);
    int (*read)(const struct request_place *p, struct err *e);
} kinds[N_MEMBER_KINDS] = {
    [MEMBER_TEXT] = {pack_text, read_text},       [MEMBER_PATH] = {pack_text, read_path},
    [MEMBER_JOB] = {pack_text, read_job},         [MEMBER_INT] = {pack_int, read_int},
    [MEMBER_NUMBER] = {pack_number, read_number}, [MEMBER_MODE] = {pack_int, read_mode},
    [MEMBER_START] = {pack_number, read_start},   [MEMBER_BOOL] = {pack_bool, read_bool},
    [MEMBER_PATHS] = {pack_paths, read_paths},    [MEMBER_BASE64] = {pack_base64, read_base64},
    [MEMBER_IDS] = {pack_ids, read_ids},          [MEMBER_RANGE] = {pack_numbers, read_range},
    [MEMBER_PART] = {pack_numbers, read_part},    [MEMBER_VERSION] = {pack_int, read_version},
    [MEMBER_EPOCH] = {pack_epoch, read_epoch},    [MEMBER_TASK] = {pack_task, read_task},
};

const struct request_form *request_form(enum request_op op)
{
    return &forms[op];
}

bool request_find(const char *name, enum request_op *out)
{
    for (size_t i = 0; i < N_REQUESTS; i++)
        if (strcmp(forms[i].name, name) == 0) {
            *out = (enum request_op)i;
            return true;
        }
    return false;
}

json_t *request_pack(const struct node_request *r)
{
    struct node_request copy = *r;
    const struct request_form *f = &forms[r->op];
    json_t *msg = json_object();
    for (size_t i = 0; i < f->n_members; i++) {
        struct request_place p = place_of(&copy, &f->members[i]);
        p.msg = msg;
        if (kinds[p.m->kind].pack(&p) < 0) {
            json_decref(msg);
            return NULL;
        }
    }
    return msg;
}

static bool is_there(const struct request_place *p)
{
    return get(p) || (p->m->second && json_object_get(p->msg, p->m->second));
}

int request_read(json_t *msg, struct arena *a, struct node_request *out, struct err *e)
{
    const struct request_form *f = &forms[out->op];
    *out = (struct node_request){.op = out->op};
    for (size_t i = 0; i < f->n_members; i++) {
        struct request_place p = place_of(out, &f->members[i]);
        p.msg = msg;
        p.arena = a;
        if ((is_there(&p) || !p.m->optional) && kinds[p.m->kind].read(&p, e) < 0)
            return -1;
    }
    return 0;
}
