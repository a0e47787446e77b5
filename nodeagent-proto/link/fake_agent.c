/* SPDX-License-Identifier: MIT
 *
 * The agent of a fake node: its requests. Those about files always succeed and change nothing,
 * unless the node keeps files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent-proto/link/fake_disk.h"
#include "nodeagent-proto/link/fake_priv.h"
#include "nodeagent-proto/wire/message.h"

#define DISK_BYTES (INT64_C(1) << 40)

/* --- requests
 * --------------------------------------------------------------------------------------- */

static const char *text(json_t *req, const char *name)
{
    const char *s = json_string_value(json_object_get(req, name));
    return s ? s : "";
}

static json_t *yes(json_t *req)
{
    return json_pack("{s:O, s:b}", "id", json_object_get(req, "id"), "ok", 1);
}

static json_t *no(json_t *req, enum err_code code, const char *why)
{
    struct err e;
    err_set(&e, code, NULL, "%s", why);
    return json_pack("{s:O, s:b, s:o}", "id", json_object_get(req, "id"), "ok", 0, "error",
                     message_err(&e));
}

static json_t *plus(json_t *reply, const char *name, json_t *value)
{
    json_object_set_new(reply, name, value);
    return reply;
}

static char *gpus_text(const struct fake_node *n)
{
    json_t *list = json_array();
    for (int i = 0; i < n->gpus; i++)
        json_array_append_new(list, json_pack("{s:s}", "model", "fake"));
    char *text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    return text;
}

static void do_hello(struct conn *c, json_t *req)
{
    struct fake_node *n = c->node;
    char *gpus = gpus_text(n);
    const struct node_facts facts = {.agent_version = BATCHAID_VERSION,
                                     .hostname = n->name,
                                     .os = "fake",
                                     .arch = "x86_64",
                                     .incarnation = n->incarnation,
                                     .boot_id = n->boot_id,
                                     .cpus = 4,
                                     .memory_bytes = DISK_BYTES / 64,
                                     .disk_free_bytes = DISK_BYTES,
                                     .gpus = gpus,
                                     .user = "fake",
                                     .is_root = n->is_root,
                                     .runtimes = n->f->c.runtimes ? n->f->c.runtimes : "",
                                     .mpi = "",
                                     .time_us = loop_wall_us(n->f->c.loop)};
    json_t *says = message_facts(&facts);
    free(gpus);
    c->greeted = true;
    struct node_epoch epoch = {0};
    struct err e;
    if (message_epoch_read(json_object_get(req, "epoch"), &epoch, &e) < 0) {
        json_decref(says);
        fake_reply(c, no(req, e.code, e.msg), 0, true);
        return;
    }
    c->outdated = epoch.term < n->term;
    if (!c->outdated) {
        n->term = epoch.term;
        snprintf(n->epoch_id, sizeof n->epoch_id, "%s", epoch.id ? epoch.id : "");
    }
    epoch = (struct node_epoch){n->term, n->epoch_id};
    fake_reply(c, plus(plus(yes(req), "node", says), "epoch", message_epoch(&epoch)), 0, true);
    for (struct task *t = n->tasks; t; t = t->next)
        if (t->status.state != TASK_RUNNING)
            fake_task_tell(t);
}

/* Other answers may overtake this one, but the task's end must not come before it. */
static void do_run(struct conn *c, json_t *req)
{
    struct arena a;
    struct err e;
    struct task_spec spec;
    arena_init(&a);
    if (message_task_spec_read(json_object_get(req, "task"), &a, &spec, &e) < 0) {
        fake_reply(c, no(req, e.code, e.msg), 0, true);
    } else {
        struct task *t = fake_task_find(c->node, spec.id);
        bool is_new = t == NULL;
        if (is_new)
            t = fake_task_start(c->node, &spec);
        t->reply_us =
            fake_reply(c, plus(yes(req), "task", message_task_status(&t->status)), 0, false);
        if (is_new && t->status.state != TASK_RUNNING)
            fake_task_tell(t);
    }
    arena_free(&a);
}

static void do_signal(struct conn *c, json_t *req)
{
    struct task *t = fake_task_find(c->node, text(req, "task"));
    if (t)
        fake_task_kill(t, (int)json_integer_value(json_object_get(req, "signal")));
    fake_reply(c, yes(req), 0, true);
}

static void do_tasks(struct conn *c, json_t *req)
{
    json_t *list = json_array();
    for (const struct task *t = c->node->tasks; t; t = t->next)
        json_array_append_new(list, message_task_status(&t->status));
    fake_reply(c, plus(yes(req), "tasks", list), 0, true);
}

static void do_forget(struct conn *c, json_t *req)
{
    struct task *t = fake_task_find(c->node, text(req, "task"));
    if (t && t->status.state == TASK_RUNNING) {
        fake_reply(c, no(req, ERR_CONFLICT, "the task is running"), 0, true);
        return;
    }
    if (t)
        fake_task_forget(t);
    fake_reply(c, yes(req), 0, true);
}

static void do_health(struct conn *c, json_t *req)
{
    const struct node_health h = {.disk_free_bytes = DISK_BYTES,
                                  .disk_total_bytes = DISK_BYTES,
                                  .gpus = c->node->gpus,
                                  .gpu_errors = "",
                                  .time_us = loop_wall_us(c->node->f->c.loop)};
    fake_reply(c, plus(yes(req), "health", message_health(&h)), 0, true);
}

/* A machine with one processor that is busy half of the time, and reads and sends as it does. */
static void do_usage(struct conn *c, json_t *req)
{
    enum { TICK_US = 10000, BYTES = 1000 };
    int64_t ticks = loop_mono_us(c->node->f->c.loop) / TICK_US;
    const struct node_usage u = {.time_us = loop_wall_us(c->node->f->c.loop),
                                 .cpu_ticks = ticks,
                                 .cpu_busy_ticks = ticks / 2,
                                 .disk_read_bytes = ticks * BYTES,
                                 .disk_read_ops = ticks,
                                 .network_out_bytes = ticks * BYTES,
                                 .memory_bytes = DISK_BYTES / 4,
                                 .disk_bytes = DISK_BYTES / 2};
    fake_reply(c, plus(yes(req), "usage", message_usage(&u)), 0, true);
}

static void do_list(struct conn *c, json_t *req)
{
    fake_reply(c, no(req, ERR_FILE_NOT_FOUND, "a fake node keeps no files"), 0, true);
}

static void do_reboot(struct conn *c, json_t *req)
{
    struct fake_node *n = c->node;
    fake_reply(c, yes(req), 0, true);
    if (n->f->c.watch.rebooting)
        n->f->c.watch.rebooting(n->f->c.watch.ctx, n);
    fake_restart(n);
}

static void do_nothing(struct conn *c, json_t *req)
{
    fake_reply(c, yes(req), 0, true);
}

static const struct op {
    const char *name;
    void (*run)(struct conn *c, json_t *req);
    bool harmless; /* changes nothing, so it is also done for a daemon that is not the newest */
    bool on_disk;
    bool clears; /* takes away what was there */
} ops[] = {
    {"hello", do_hello, .harmless = true},
    {"ping", do_nothing, .harmless = true},
    {"health", do_health, .harmless = true},
    {"usage", do_usage, .harmless = true},
    {"tasks", do_tasks, .harmless = true},
    {"list_dir", do_list, .harmless = true, .on_disk = true},
    {"read_file", do_list, .harmless = true, .on_disk = true},
    {"run", do_run, .on_disk = true},
    {"signal", do_signal, .harmless = false},
    {"forget", do_forget, .on_disk = true},
    {"reboot", do_reboot, .harmless = false},
    {"append", do_nothing, .on_disk = true},
    {"make_dirs", do_nothing, .on_disk = true},
    {"mount_folder", do_nothing, .on_disk = true},
    {"unmount", do_nothing, .on_disk = true, .clears = true},
    {"user_add", do_nothing, .harmless = false},
    {"user_remove", do_nothing, .harmless = false},
    {"account_key", do_nothing, .harmless = false},
    {"account_release", do_nothing, .harmless = false},
    {"remote_open", do_nothing, .on_disk = true},
    {"remote_close", do_nothing, .on_disk = true},
    {"write_file", do_nothing, .on_disk = true},
    {"remove_tree", do_nothing, .on_disk = true, .clears = true},
    {"drop_unlinked", do_nothing, .on_disk = true},
    {"write_bytes", do_nothing, .on_disk = true},
    {"unpack", do_nothing, .on_disk = true},
    {"open_folder", do_nothing, .on_disk = true},
};

/* On a node that keeps files. False: the request is not about files. */
static bool serve_files(struct conn *c, const char *name, json_t *req)
{
    struct fake_answer more;
    struct err e;
    int rc = fake_disk_serve(c->node->name, name, req, loop_wall_us(c->node->f->c.loop), &more, &e);
    json_t *reply = rc < 0 ? no(req, e.code, e.msg) : yes(req);
    if (rc != 0 && more.says)
        json_object_update(reply, more.says);
    if (rc != 0)
        fake_reply_with(c, json_incref(reply), more.bytes, more.n);
    json_decref(reply);
    json_decref(more.says);
    free(more.bytes);
    return rc != 0;
}

/* What cannot be prepared fails in what is made there, not in removing what was there before. */
static bool fails_to_prepare(const struct fake_node *n, const struct op *op)
{
    return n->refuses && op->on_disk && !op->clears;
}

static bool refuses(struct fake_node *n, const struct op *op)
{
    if (op->run == do_hello)
        return false;
    return (n->bad_disk && op->on_disk) || fails_to_prepare(n, op) ||
           (n->refusals > 0 && (int)(fake_random(n->f) % 1000) < n->refusals);
}

static void request(struct conn *c, json_t *req)
{
    const char *name = text(req, "op");
    const struct op *op = ops, *end = ops + sizeof ops / sizeof ops[0];
    while (op < end && strcmp(op->name, name) != 0)
        op++;
    if (op == end)
        fake_reply(c, no(req, ERR_NOT_SUPPORTED, "a fake node does not know this request"), 0,
                   true);
    else if (refuses(c->node, op))
        fake_reply(
            c,
            no(req, ERR_IO, c->node->refuses ? c->node->refuses : "an I/O error of the fake disk"),
            0, true);
    else if (c->outdated && !op->harmless)
        fake_reply(c, no(req, ERR_CONFLICT, "a newer daemon has this node"), 0, true);
    else if (!op->on_disk || !c->node->f->c.keeps_files || !serve_files(c, name, req))
        op->run(c, req);
}

/* --- the node itself
 * --------------------------------------------------------------------------------- */

static void new_id(struct fake_node *n, char out[FAKE_ID_SIZE])
{
    snprintf(out, FAKE_ID_SIZE, "%016llx", (unsigned long long)fake_random(n->f));
}

static void init(struct fake_node *n)
{
    new_id(n, n->incarnation);
    new_id(n, n->boot_id);
}

static void forget_all(struct fake_node *n)
{
    while (n->tasks)
        fake_task_forget(n->tasks);
}

static void restart(struct fake_node *n)
{
    new_id(n, n->boot_id);
    for (struct task *t = n->tasks; t; t = t->next)
        if (t->status.state == TASK_RUNNING) {
            t->status.exit_code = -1;
            t->status.why = "the node was restarted";
            fake_task_end(t, TASK_LOST);
        }
}

static void wipe(struct fake_node *n)
{
    new_id(n, n->incarnation);
    n->term = 0;
    for (struct task *t = n->tasks; t; t = t->next)
        if (t->status.state == TASK_RUNNING)
            fake_task_end(t, TASK_LOST);
    forget_all(n);
}

static const struct fake_agent agent = {init, request, restart, wipe};

struct fake_nodes *fake_nodes_create(const struct fake_config *c)
{
    return fake_nodes_new(c, &agent);
}

bool fake_runs(const struct fake_node *n, const char *task_id)
{
    const struct task *t = fake_task_find(n, task_id);
    return t && t->status.state == TASK_RUNNING;
}

void fake_each_running(const struct fake_nodes *f,
                       void (*each)(void *ctx, struct fake_node *n, const char *id,
                                    const char *command),
                       void *ctx)
{
    for (size_t i = 0; i < f->n; i++)
        for (const struct task *t = f->nodes[i]->tasks; t; t = t->next)
            if (t->status.state == TASK_RUNNING)
                each(ctx, f->nodes[i], t->id, t->command);
}
