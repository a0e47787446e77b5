/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/ops.h"

#include <string.h>

#include "lib/arena.h"
#include "nodeagent-proto/agent/ops_priv.h"
#include "nodeagent-proto/message.h"

/* Tasks in one reply; with the longest stderr tails, escaped, they fit a frame four times. */
#define TASKS_PER_REPLY 100

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
    json_t *v = json_object_get(req, name);
    *out = (int)json_integer_value(v);
    return json_is_integer(v)
               ? 0
               : err_set(e, ERR_PROTOCOL, name, "the request has no number '%s'", name);
}

enum outcome outcome(int rc)
{
    return rc < 0 ? SERVE_FAILED : SERVE_DONE;
}

static enum outcome serve_hello(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    int version;
    if (get_int(req, "version", &version, e) < 0)
        return SERVE_FAILED;
    if (version != PROTOCOL_VERSION) {
        err_set(e, ERR_NOT_SUPPORTED, "version",
                "the agent speaks version %d of the node protocol, not %d", PROTOCOL_VERSION,
                version);
        return SERVE_FAILED;
    }
    facts_refresh(&a->facts);
    json_t *facts = message_facts(&a->facts.node);
    if (!facts) {
        err_set(e, ERR_INTERNAL, NULL, "the node's description is not UTF-8");
        return SERVE_FAILED;
    }
    json_object_set_new(reply, "node", facts);
    agent_send(a, json_incref(reply));
    tasks_announce(&a->tasks);
    return SERVE_ANSWERED;
}

static enum outcome serve_run(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct arena arena;
    struct task_spec spec;
    (void)reply;
    arena_init(&arena);
    json_int_t id = json_integer_value(json_object_get(req, "id"));
    int rc = message_task_spec_read(json_object_get(req, "task"), &arena, &spec, e);
    if (rc == 0)
        rc = tasks_run(&a->tasks, &spec, id, e);
    arena_free(&arena);
    return rc < 0 ? SERVE_FAILED : SERVE_ANSWERED;
}

static enum outcome serve_signal(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *task;
    int signo;
    (void)reply;
    if (get_text(req, "task", &task, e) < 0 || get_int(req, "signal", &signo, e) < 0)
        return SERVE_FAILED;
    return outcome(tasks_signal(&a->tasks, task, signo, e));
}

struct listing {
    struct agent *a;
    json_t *reply, *tasks;
};

static void list_one(void *ctx, json_t *status)
{
    struct listing *l = ctx;
    if (json_array_size(l->tasks) == TASKS_PER_REPLY) {
        json_t *part = json_deep_copy(l->reply);
        json_object_set(part, "tasks", l->tasks);
        json_object_set_new(part, "more", json_true());
        agent_send(l->a, part);
        json_array_clear(l->tasks);
    }
    json_array_append(l->tasks, status);
}

static enum outcome serve_tasks(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct listing l = {a, reply, json_array()};
    (void)req;
    (void)e;
    tasks_each(&a->tasks, list_one, &l);
    json_object_set_new(reply, "tasks", l.tasks);
    return SERVE_DONE;
}

static enum outcome serve_forget(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *task;
    (void)reply;
    if (get_text(req, "task", &task, e) < 0)
        return SERVE_FAILED;
    return outcome(tasks_forget(&a->tasks, task, e));
}

static const struct op {
    const char *name;
    serve_fn serve;
} ops[] = {
    {"hello", serve_hello},
    {"mount_folder", serve_mount_folder},
    {"unmount", serve_unmount},
    {"make_dirs", serve_make_dirs},
    {"remove_tree", serve_remove_tree},
    {"append", serve_append},
    {"write_file", serve_write_file},
    {"list_dir", serve_list_dir},
    {"read_file", serve_read_file},
    {"run", serve_run},
    {"signal", serve_signal},
    {"tasks", serve_tasks},
    {"forget", serve_forget},
    {"health", serve_health},
    {"user_add", serve_user_add},
    {"user_remove", serve_user_remove},
    {"reboot", serve_reboot},
};

static int may_look(const struct agent *a, const char *name, struct err *e)
{
    if (strcmp(name, "hello") == 0)
        return 0;
    if (strcmp(name, "health") == 0)
        return agent_look(a, e);
    return err_set(e, ERR_NOT_SUPPORTED, "op", "this agent only looks; it does no '%s'", name);
}

static enum outcome serve(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *name;
    if (get_text(req, "op", &name, e) < 0)
        return SERVE_FAILED;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(ops[i].name, name) == 0)
            return a->looks_at && may_look(a, name, e) < 0 ? SERVE_FAILED
                                                           : ops[i].serve(a, req, reply, e);
    err_set(e, ERR_NOT_SUPPORTED, "op", "this agent has no operation '%s'", name);
    return SERVE_FAILED;
}

void ops_refuse(struct agent *a, json_int_t id, const struct err *e)
{
    agent_send(a, json_pack("{s:I, s:b, s:o}", "id", id, "ok", 0, "error", message_err(e)));
}

void ops_serve_by(struct agent *a, json_t *req, serve_fn fn)
{
    struct err e;
    err_clear(&e);
    json_int_t id = json_integer_value(json_object_get(req, "id"));
    json_t *reply = json_pack("{s:I, s:b}", "id", id, "ok", 1);
    enum outcome got = fn(a, req, reply, &e);
    if (got == SERVE_DONE)
        agent_send(a, json_incref(reply));
    else if (got == SERVE_FAILED)
        ops_refuse(a, id, &e);
    json_decref(reply);
}

void ops_serve(struct agent *a, json_t *req)
{
    ops_serve_by(a, req, serve);
}
