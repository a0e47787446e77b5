/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/ops.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/message.h"

/* Tasks in one reply; with the longest stderr tails, escaped, they fit a frame four times. */
#define TASKS_PER_REPLY 100

enum outcome { SERVE_FAILED = -1, SERVE_DONE = 0, SERVE_ANSWERED = 1 /* or will be */ };

struct op {
    const char *name;
    /* Adds what it has to say to `reply`. */
    enum outcome (*serve)(struct agent *a, json_t *req, json_t *reply, struct err *e);
};

static int get_text(json_t *req, const char *name, const char **out, struct err *e)
{
    *out = json_string_value(json_object_get(req, name));
    if (*out)
        return 0;
    err_set(e, ERR_PROTOCOL, name, "the request has no text '%s'", name);
    return -1;
}

static int get_path(json_t *req, const char *name, const char **out, struct err *e)
{
    if (get_text(req, name, out, e) < 0)
        return -1;
    if (**out == '/')
        return 0;
    return err_set(e, ERR_INVALID_PATH, name, "%s '%s' is not an absolute path of the node", name,
                   *out);
}

static int get_int(json_t *req, const char *name, int *out, struct err *e)
{
    json_t *v = json_object_get(req, name);
    *out = (int)json_integer_value(v);
    return json_is_integer(v)
               ? 0
               : err_set(e, ERR_PROTOCOL, name, "the request has no number '%s'", name);
}

static enum outcome outcome(int rc)
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

static enum outcome serve_mount_folder(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *source, *target;
    (void)reply;
    if (get_path(req, "source", &source, e) < 0 || get_path(req, "target", &target, e) < 0)
        return SERVE_FAILED;
    return outcome(file_link(a->root, source, target, e));
}

static enum outcome serve_unmount(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *target;
    (void)reply;
    if (get_path(req, "target", &target, e) < 0)
        return SERVE_FAILED;
    return outcome(file_unlink(a->root, target, e));
}

static enum outcome serve_make_dirs(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    size_t i;
    json_t *v, *paths = json_object_get(req, "paths");
    (void)a;
    (void)reply;
    if (!json_is_array(paths)) {
        err_set(e, ERR_PROTOCOL, "paths", "the request has no list 'paths'");
        return SERVE_FAILED;
    }
    json_array_foreach(paths, i, v) {
        const char *path = json_string_value(v);
        if (!path || *path != '/') {
            err_set(e, ERR_INVALID_PATH, "paths",
                    "paths[%zu] '%s' is not an absolute path of the node", i, path ? path : "");
            return SERVE_FAILED;
        }
        if (fs_mkdirs(path, 0777, e) < 0)
            return SERVE_FAILED;
    }
    return SERVE_DONE;
}

/* The agent's own files, which no request may take away. */
static bool is_own(const struct agent *a, const char *path)
{
    static const char *const own[] = {"tasks", "trash", "agent.lock", "incarnation"};
    size_t n = strlen(a->root);
    if (strncmp(path, a->root, n) != 0 || path[n] != '/')
        return false;
    size_t len = strcspn(path + n + 1, "/");
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strlen(own[i]) == len && strncmp(own[i], path + n + 1, len) == 0)
            return true;
    return false;
}

static enum outcome serve_remove_tree(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *path;
    (void)reply;
    if (get_path(req, "path", &path, e) < 0)
        return SERVE_FAILED;
    if (is_own(a, path)) {
        err_set(e, ERR_INVALID_PATH, "path", "%s belongs to the node agent and stays", path);
        return SERVE_FAILED;
    }
    int rc = file_discard(a->root, path, a->trash_dir, e);
    if (rc > 0)
        agent_empty_trash(a);
    return outcome(rc);
}

static enum outcome serve_append(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *path, *text;
    (void)a;
    (void)reply;
    if (get_path(req, "path", &path, e) < 0 || get_text(req, "text", &text, e) < 0 ||
        file_make_parents(path, e) < 0)
        return SERVE_FAILED;
    return outcome(file_append(path, text, e));
}

static enum outcome serve_write_file(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *path, *text;
    int mode;
    (void)a;
    (void)reply;
    if (get_path(req, "path", &path, e) < 0 || get_text(req, "text", &text, e) < 0 ||
        get_int(req, "mode", &mode, e) < 0)
        return SERVE_FAILED;
    if (mode < 0 || mode > 07777) {
        err_set(e, ERR_INVALID_PROPERTY, "mode", "mode 0%o is not one of 0 to 07777", mode);
        return SERVE_FAILED;
    }
    if (file_make_parents(path, e) < 0)
        return SERVE_FAILED;
    return outcome(file_replace(path, text, strlen(text), (mode_t)mode, e));
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

static const struct op ops[] = {
    {"hello", serve_hello},
    {"mount_folder", serve_mount_folder},
    {"unmount", serve_unmount},
    {"make_dirs", serve_make_dirs},
    {"remove_tree", serve_remove_tree},
    {"append", serve_append},
    {"write_file", serve_write_file},
    {"run", serve_run},
    {"signal", serve_signal},
    {"tasks", serve_tasks},
    {"forget", serve_forget},
};

static enum outcome serve(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *name;
    if (get_text(req, "op", &name, e) < 0)
        return SERVE_FAILED;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(ops[i].name, name) == 0)
            return ops[i].serve(a, req, reply, e);
    err_set(e, ERR_NOT_SUPPORTED, "op", "this agent has no operation '%s'", name);
    return SERVE_FAILED;
}

void ops_serve(struct agent *a, json_t *req)
{
    struct err e;
    err_clear(&e);
    json_int_t id = json_integer_value(json_object_get(req, "id"));
    json_t *reply = json_pack("{s:I, s:b}", "id", id, "ok", 1);
    enum outcome got = serve(a, req, reply, &e);
    if (got == SERVE_DONE)
        agent_send(a, json_incref(reply));
    else if (got == SERVE_FAILED)
        agent_send(a, json_pack("{s:I, s:b, s:o}", "id", id, "ok", 0, "error", message_err(&e)));
    json_decref(reply);
}
