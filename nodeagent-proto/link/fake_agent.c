/* SPDX-License-Identifier: MIT
 *
 * The agent of a fake node: carries out the daemon's requests. Requests about files always succeed
 * and change nothing, unless the node keeps files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/jsontext.h"
#include "lib/version.h"
#include "nodeagent-proto/link/fake_disk.h"
#include "nodeagent-proto/link/fake_priv.h"
#include "nodeagent-proto/wire/message.h"
#include "nodeagent-proto/wire/request.h"
#include "nodeagent-proto/wire/sample.h"

#define DISK_BYTES (INT64_C(1) << 40)

/* --- requests
 * --------------------------------------------------------------------------------------- */

struct fake_request {
    json_t *msg;
    struct node_request r;
};

static json_t *yes(struct fake_request *q)
{
    return json_pack("{s:O, s:b}", "id", json_object_get(q->msg, "id"), "ok", 1);
}

static json_t *no(struct fake_request *q, enum err_code code, const char *why)
{
    struct err e;
    err_set(&e, code, NULL, "%s", why);
    return json_pack("{s:O, s:b, s:o}", "id", json_object_get(q->msg, "id"), "ok", 0, "error",
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
    char *text = jsontext(list);
    json_decref(list);
    return text;
}

static void do_hello(struct conn *c, struct fake_request *q)
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
    struct node_epoch epoch = q->r.hello.epoch;
    c->outdated = epoch.term < n->term;
    if (!c->outdated) {
        n->term = epoch.term;
        snprintf(n->epoch_id, sizeof n->epoch_id, "%s", epoch.id ? epoch.id : "");
    }
    epoch = (struct node_epoch){n->term, n->epoch_id};
    fake_reply(c, plus(plus(yes(q), "node", says), "epoch", message_epoch(&epoch)), 0, true);
    for (struct fake_node_task *t = n->tasks; t; t = t->next)
        if (t->status.state != TASK_RUNNING)
            fake_task_tell(t);
}

/* Other answers may overtake this answer, but the task's end must not come before it. */
static void do_run(struct conn *c, struct fake_request *q)
{
    struct fake_node_task *t = fake_task_find(c->node, q->r.run.task->id);
    bool is_new = t == NULL;
    if (is_new)
        t = fake_task_start(c->node, q->r.run.task);
    t->reply_us = fake_reply(c, plus(yes(q), "task", message_task_status(&t->status)), 0, false);
    if (is_new && t->status.state != TASK_RUNNING)
        fake_task_tell(t);
}

static void do_signal(struct conn *c, struct fake_request *q)
{
    struct fake_node_task *t = fake_task_find(c->node, q->r.signal.task);
    if (t)
        fake_task_kill(t, q->r.signal.signal);
    fake_reply(c, yes(q), 0, true);
}

static void do_tasks(struct conn *c, struct fake_request *q)
{
    if (c->node->secretive)
        return;
    json_t *list = json_array();
    for (const struct fake_node_task *t = c->node->tasks; t; t = t->next)
        json_array_append_new(list, message_task_status(&t->status));
    fake_reply(c, plus(yes(q), "tasks", list), 0, true);
}

static void do_forget(struct conn *c, struct fake_request *q)
{
    struct fake_node_task *t = fake_task_find(c->node, q->r.forget.task);
    if (t && t->status.state == TASK_RUNNING) {
        fake_reply(c, no(q, ERR_CONFLICT, "the task is running"), 0, true);
        return;
    }
    if (t)
        fake_task_forget(t);
    fake_reply(c, yes(q), 0, true);
}

static void do_health(struct conn *c, struct fake_request *q)
{
    const char *error = c->node->full ? FAKE_FULL : "";
    const struct node_health h = {.disk_free_bytes = c->node->full ? 0 : DISK_BYTES,
                                  .disk_total_bytes = DISK_BYTES,
                                  .disk_error = error,
                                  .gpus = c->node->gpus,
                                  .gpu_errors = "",
                                  .time_us = loop_wall_us(c->node->f->c.loop)};
    fake_reply(c, plus(yes(q), "health", message_health(&h)), 0, true);
}

/* A machine with one processor that is busy half of the time, and that reads from disk and sends to
 * the network at a constant rate. */
static void do_usage(struct conn *c, struct fake_request *q)
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
    fake_reply(c, plus(yes(q), "usage", message_usage(&u)), 0, true);
}

/* A sample of the machine of do_usage(); its GPUs work while a task runs. */
static void do_sample(struct conn *c, struct fake_request *q)
{
    enum { HALF = 500, GPU_BYTES = 1 << 30 };
    struct gpu_sample gpus[SAMPLE_GPUS];
    struct node_sample s;
    sample_clear(&s);
    s.cpu_permille = HALF;
    s.memory_used = DISK_BYTES / 4;
    s.memory_total = DISK_BYTES;
    s.disk_free = c->node->full ? 0 : DISK_BYTES;
    s.disk_total = DISK_BYTES;
    s.n_gpus = c->node->gpus < SAMPLE_GPUS ? c->node->gpus : SAMPLE_GPUS;
    s.gpus = gpus;
    for (int i = 0; i < s.n_gpus; i++) {
        gpu_sample_clear(&gpus[i]);
        gpus[i].index = i;
        gpus[i].busy_permille = c->node->tasks ? HALF : 0;
        gpus[i].memory_total = GPU_BYTES;
        gpus[i].memory_used = c->node->tasks ? GPU_BYTES / 2 : 0;
    }
    fake_reply(c, plus(yes(q), "sample", message_sample(&s)), 0, true);
}

static void do_list(struct conn *c, struct fake_request *q)
{
    fake_reply(c, no(q, ERR_FILE_NOT_FOUND, "a fake node keeps no files"), 0, true);
}

static void do_reboot(struct conn *c, struct fake_request *q)
{
    struct fake_node *n = c->node;
    fake_reply(c, yes(q), 0, true);
    if (n->f->c.watch.rebooting)
        n->f->c.watch.rebooting(n->f->c.watch.ctx, n);
    fake_restart(n);
}

static void do_nothing(struct conn *c, struct fake_request *q)
{
    fake_reply(c, yes(q), 0, true);
}

/* Fake nodes do not know a request that is missing here. */
static const struct op {
    void (*run)(struct conn *c, struct fake_request *q);
    bool on_disk;
    bool clears; /* the request removes old files */
} ops[N_REQUESTS] = {
    [REQUEST_hello] = {.run = do_hello},
    [REQUEST_ping] = {.run = do_nothing},
    [REQUEST_health] = {.run = do_health},
    [REQUEST_usage] = {.run = do_usage},
    [REQUEST_sample] = {.run = do_sample},
    [REQUEST_tasks] = {.run = do_tasks},
    [REQUEST_list_dir] = {.run = do_list, .on_disk = true},
    [REQUEST_read_file] = {.run = do_list, .on_disk = true},
    [REQUEST_run] = {.run = do_run, .on_disk = true},
    [REQUEST_signal] = {.run = do_signal},
    [REQUEST_forget] = {.run = do_forget, .on_disk = true},
    [REQUEST_reboot] = {.run = do_reboot},
    [REQUEST_append] = {.run = do_nothing, .on_disk = true},
    [REQUEST_make_dirs] = {.run = do_nothing, .on_disk = true},
    [REQUEST_mount_folder] = {.run = do_nothing, .on_disk = true},
    [REQUEST_unmount] = {.run = do_nothing, .on_disk = true, .clears = true},
    [REQUEST_user_add] = {.run = do_nothing},
    [REQUEST_user_remove] = {.run = do_nothing},
    [REQUEST_account_key] = {.run = do_nothing},
    [REQUEST_account_release] = {.run = do_nothing},
    [REQUEST_remote_open] = {.run = do_nothing, .on_disk = true},
    [REQUEST_remote_close] = {.run = do_nothing, .on_disk = true},
    [REQUEST_write_file] = {.run = do_nothing, .on_disk = true},
    [REQUEST_remove_tree] = {.run = do_nothing, .on_disk = true, .clears = true},
    [REQUEST_drop_unlinked] = {.run = do_nothing, .on_disk = true},
    [REQUEST_write_bytes] = {.run = do_nothing, .on_disk = true},
    [REQUEST_unpack] = {.run = do_nothing, .on_disk = true},
    [REQUEST_open_folder] = {.run = do_nothing, .on_disk = true},
};

/* Carries out a request on a node that keeps files. False: the request is not about files. */
static bool serve_files(struct conn *c, struct fake_request *q)
{
    struct fake_answer more;
    struct err e;
    int rc = fake_disk_serve(c->node->name, &q->r, loop_wall_us(c->node->f->c.loop), &more, &e);
    json_t *reply = rc < 0 ? no(q, e.code, e.msg) : yes(q);
    if (rc != 0 && more.says)
        json_object_update(reply, more.says);
    if (rc != 0)
        fake_reply_with(c, json_incref(reply), more.bytes, more.n);
    json_decref(reply);
    json_decref(more.says);
    free(more.bytes);
    return rc != 0;
}

/* Why the node refuses the request; NULL: the node does not refuse it. A node that cannot be
 * prepared, or has a full disk, refuses to create files, but not to remove old files. */
static const char *refusal(struct fake_node *n, enum request_op which)
{
    const struct op *op = &ops[which];
    bool makes = op->on_disk && !op->clears;
    if (which == REQUEST_hello)
        return NULL;
    if (n->full && makes && !request_form(which)->looks && which != REQUEST_forget)
        return FAKE_FULL;
    if ((n->bad_disk && op->on_disk) || (n->refuses && makes) ||
        (n->refusals > 0 && (int)(fake_random(n->f) % 1000) < n->refusals))
        return n->refuses ? n->refuses : "an I/O error of the fake disk";
    return NULL;
}

static void serve(struct conn *c, struct fake_request *q)
{
    const struct op *op = &ops[q->r.op];
    const char *why = refusal(c->node, q->r.op);
    if (why)
        fake_reply(c, no(q, ERR_IO, why), 0, true);
    else if (c->outdated && !request_form(q->r.op)->looks)
        fake_reply(c, no(q, ERR_CONFLICT, "a newer daemon has this node"), 0, true);
    else if (!op->on_disk || !c->node->f->c.keeps_files || !serve_files(c, q))
        op->run(c, q);
}

static void request(struct conn *c, json_t *msg)
{
    struct fake_request q = {.msg = msg};
    struct arena a;
    struct err e;
    const char *name = json_string_value(json_object_get(msg, "op"));
    if (json_object_get(msg, "event"))
        return; /* a message to a process of a run: fake nodes have no such processes */
    arena_init(&a);
    if (!name || !request_find(name, &q.r.op) || !ops[q.r.op].run)
        fake_reply(c, no(&q, ERR_NOT_SUPPORTED, "a fake node does not know this request"), 0, true);
    else if (request_read(msg, &a, &q.r, &e) < 0)
        fake_reply(c, no(&q, e.code, e.msg), 0, true);
    else
        serve(c, &q);
    arena_free(&a);
}

/* --- for tests -------------------------------------------------------------------------------- */

void fake_set_bad_disk(struct fake_node *n, bool bad)
{
    n->troubles += bad && !n->bad_disk;
    n->bad_disk = bad;
}

void fake_set_full(struct fake_node *n, bool full)
{
    n->troubles += full && !n->full;
    n->full = full;
}

void fake_set_secretive(struct fake_node *n, bool secretive)
{
    n->secretive = secretive;
}

void fake_set_gpus(struct fake_node *n, int gpus)
{
    n->gpus = gpus;
}

void fake_set_refusals(struct fake_node *n, int permille)
{
    n->refusals = permille;
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
    for (struct fake_node_task *t = n->tasks; t; t = t->next)
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
    for (struct fake_node_task *t = n->tasks; t; t = t->next)
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
    const struct fake_node_task *t = fake_task_find(n, task_id);
    return t && t->status.state == TASK_RUNNING;
}

void fake_each_running(const struct fake_nodes *f,
                       void (*each)(void *ctx, struct fake_node *n, const char *id,
                                    const char *command),
                       void *ctx)
{
    for (size_t i = 0; i < f->n; i++)
        for (const struct fake_node_task *t = f->nodes[i]->tasks; t; t = t->next)
            if (t->status.state == TASK_RUNNING)
                each(ctx, f->nodes[i], t->id, t->command);
}
