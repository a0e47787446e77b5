/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/ops.h"

#include <assert.h>
#include <string.h>

#include "lib/arena.h"
#include "nodeagent-proto/agent/ops_priv.h"
#include "nodeagent-proto/agent/worker.h"
#include "nodeagent-proto/wire/message.h"

/* Tasks in one reply; with the longest stderr tails, escaped, they fit a frame four times. */
#define TASKS_PER_REPLY 100
#define PING_MAX_S      86400

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
    struct node_epoch said;
    if (message_epoch_read(json_object_get(req, "epoch"), &said, e) < 0 ||
        (!a->looks_at && epoch_hear(&a->epoch, a->root, &said, e) < 0))
        return SERVE_FAILED;
    facts_refresh(&a->facts);
    json_t *facts = message_facts(&a->facts.node);
    if (!facts) {
        err_set(e, ERR_INTERNAL, NULL, "the node's description is not UTF-8");
        return SERVE_FAILED;
    }
    json_object_set_new(reply, "node", facts);
    if (a->epoch.term > 0)
        json_object_set_new(reply, "epoch",
                            message_epoch(&(struct node_epoch){a->epoch.term, a->epoch.id}));
    agent_send(a, json_incref(reply));
    json_int_t ping_s = json_integer_value(json_object_get(req, "ping_s"));
    if (ping_s > 0)
        peer_open(a, ping_s < PING_MAX_S ? (int)ping_s : PING_MAX_S);
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
    json_t *task = json_object_get(req, "task");
    int rc = message_task_spec_read(task, &arena, &spec, e);
    if (rc == 0)
        rc = tasks_run(&a->tasks, &spec, task, id, e);
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
    assert(json_array_size(l->tasks) <= TASKS_PER_REPLY);
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

static enum outcome serve_ping(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    (void)a;
    (void)req;
    (void)reply;
    (void)e;
    return SERVE_DONE;
}

static const struct op {
    const char *name;
    serve_fn serve;
    enum { LOOKS, CHANGES } what; /* CHANGES: refused for an outdated daemon */
    /* What happens while a worker still carries out an earlier request: IN_ORDER waits for it;
     * BY_TASK waits if the start of its task waits. */
    enum { IN_ORDER, ANY_TIME, BY_TASK } when;
} ops[] = {
    {"hello", serve_hello, LOOKS, ANY_TIME},
    {"mount_folder", serve_mount_folder, CHANGES, IN_ORDER},
    {"open_folder", serve_open_folder, CHANGES, IN_ORDER},
    {"unmount", serve_unmount, CHANGES, IN_ORDER},
    {"make_dirs", serve_make_dirs, CHANGES, IN_ORDER},
    {"remove_tree", serve_remove_tree, CHANGES, IN_ORDER},
    {"drop_unlinked", serve_drop_unlinked, CHANGES, ANY_TIME},
    {"append", serve_append, CHANGES, IN_ORDER},
    {"write_file", serve_write_file, CHANGES, IN_ORDER},
    {"write_bytes", serve_write_bytes, CHANGES, IN_ORDER},
    {"unpack", serve_unpack, CHANGES, ANY_TIME},
    {"list_dir", serve_list_dir, LOOKS, ANY_TIME},
    {"read_file", serve_read_file, LOOKS, ANY_TIME},
    {"run", serve_run, CHANGES, IN_ORDER},
    {"signal", serve_signal, CHANGES, BY_TASK},
    {"tasks", serve_tasks, LOOKS, IN_ORDER},
    {"forget", serve_forget, CHANGES, BY_TASK},
    {"ping", serve_ping, LOOKS, ANY_TIME},
    {"health", serve_health, LOOKS, ANY_TIME},
    {"usage", serve_usage, LOOKS, ANY_TIME},
    {"user_add", serve_user_add, CHANGES, ANY_TIME},
    {"user_remove", serve_user_remove, CHANGES, ANY_TIME},
    {"account_take", serve_account_take, CHANGES, IN_ORDER},
    {"account_key", serve_account_key, CHANGES, ANY_TIME},
    {"account_release", serve_account_release, CHANGES, IN_ORDER},
    {"remote_open", serve_remote_open, CHANGES, IN_ORDER},
    {"remote_close", serve_remote_close, CHANGES, IN_ORDER},
    {"clean", serve_clean, LOOKS, IN_ORDER}, /* with `take` it asks for itself */
    {"remove_root", serve_remove_root, CHANGES, IN_ORDER},
    {"reboot", serve_reboot, CHANGES, IN_ORDER},
};

static const struct op *find_op(const char *name)
{
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

static int may_look(const struct agent *a, const char *name, struct err *e)
{
    if (strcmp(name, "hello") == 0 || strcmp(name, "ping") == 0)
        return 0;
    if (strcmp(name, "health") == 0)
        return agent_look(a, e);
    return err_set(e, ERR_NOT_SUPPORTED, "op", "this agent only looks; it does no '%s'", name);
}

static int may(const struct agent *a, const struct op *op, struct err *e)
{
    if (a->looks_at)
        return may_look(a, op->name, e);
    return op->what == CHANGES ? epoch_may_change(&a->epoch, op->name, e) : 0;
}

static enum outcome serve(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *name;
    if (get_text(req, "op", &name, e) < 0)
        return SERVE_FAILED;
    const struct op *op = find_op(name);
    if (op)
        return may(a, op, e) < 0 ? SERVE_FAILED : op->serve(a, req, reply, e);
    err_set(e, ERR_NOT_SUPPORTED, "op", "this agent has no operation '%.100s'", name);
    return SERVE_FAILED;
}

/* ---- in the order they came ---- */

static const char *task_of(json_t *req)
{
    json_t *task = json_object_get(req, "task");
    const char *id = json_string_value(json_is_object(task) ? json_object_get(task, "id") : task);
    return id ? id : "";
}

static bool start_waits(const struct agent *a, const char *task)
{
    size_t i;
    json_t *held;
    json_array_foreach(a->held, i, held) {
        const char *name = json_string_value(json_object_get(held, "op"));
        if (name && strcmp(name, "run") == 0 && strcmp(task_of(held), task) == 0)
            return true;
    }
    return false;
}

static bool must_wait(const struct agent *a, json_t *req)
{
    const char *name = json_string_value(json_object_get(req, "op"));
    const struct op *op = name ? find_op(name) : NULL;
    if ((!workers_in_order(a) && json_array_size(a->held) == 0) || !op || op->when == ANY_TIME)
        return false;
    return op->when == IN_ORDER || start_waits(a, task_of(req));
}

void ops_serve(struct agent *a, json_t *req)
{
    if (must_wait(a, req))
        json_array_append(a->held, req);
    else
        ops_serve_by(a, req, serve);
}

void ops_serve_held(struct agent *a)
{
    while (!workers_in_order(a) && json_array_size(a->held) > 0) {
        json_t *req = json_incref(json_array_get(a->held, 0));
        assert(json_is_object(req));
        json_array_remove(a->held, 0);
        ops_serve_by(a, req, serve);
        json_decref(req);
    }
}
