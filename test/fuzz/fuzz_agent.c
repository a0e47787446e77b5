/* SPDX-License-Identifier: MIT
 *
 * What a daemon says to the agent: requests of every kind through the agent's own table, and
 * answers to what it asked. In the place of all that acts on the machine (files, tasks, accounts,
 * mounts, workers) stands this file, which looks at what it is given: an absolute path, a whole
 * name, a number within its bounds. First line: a digit a choice (how the agent is, and which acts
 * fail); then a line a frame's JSON; an empty line: what waits is done. One reply each.
 */
#include <sanitizer/lsan_interface.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/share.h"
#include "nodeagent-proto/agent/clean.h"
#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/agent/leases.h"
#include "nodeagent-proto/agent/mounting.h"
#include "nodeagent-proto/agent/mounts.h"
#include "nodeagent-proto/agent/ops.h"
#include "nodeagent-proto/agent/program.h"
#include "nodeagent-proto/agent/upload.h"
#include "nodeagent-proto/agent/users.h"
#include "nodeagent-proto/agent/worker.h"
#include "nodeagent-proto/wire/listing.h"
#include "nodeagent-proto/wire/message.h"
#include "test/fuzz/fuzz.h"

#define TASKS_MANY   101 /* more than one reply holds */
#define ENTRIES_MANY 2001
#define WAITING_MAX  64

static struct fuzzed_machine {
    struct agent a;
    int acts, fail_every; /* 0: none fails */
    bool far, many, has_reboot;
    long asked, answered;
    struct fuzzed_waiting {
        json_t *req;
        serve_fn fn;
        bool in_order;
    } waiting[WAITING_MAX];
    int n_waiting;
    json_int_t started[WAITING_MAX]; /* run requests without their answer */
    int n_started, assumed;
} m;

static int act(struct err *e)
{
    if (m.fail_every == 0 || ++m.acts % m.fail_every)
        return 0;
    return err_set(e, ERR_IO, NULL, "the machine would not");
}

static int act_at(const char *path, struct err *e)
{
    CLAIM(path && *path == '/');
    return act(e);
}

/* --- the link --- */

void agent_send(struct agent *a, json_t *msg)
{
    agent_send_with(a, msg, NULL, 0);
}

/* A reply says whether all is well, and why not; all but the last of several parts say "more". */
void agent_send_with(struct agent *a, json_t *msg, const void *bytes, size_t n)
{
    struct strbuf out = STRBUF_INIT;
    struct err e;
    CLAIM(a == &m.a && json_is_object(msg));
    CLAIM(frame_encode_with(msg, bytes, n, &out, &e) == 0);
    strbuf_free(&out);
    if (message_kind(msg) == MESSAGE_REPLY) {
        bool ok = json_is_true(json_object_get(msg, "ok"));
        CLAIM(json_is_integer(json_object_get(msg, "id")));
        if (!ok) {
            message_err_read(json_object_get(msg, "error"), &e);
            CLAIM(e.msg[0]);
        }
        tell("reply", ok ? 0 : -1, ok ? "" : e.msg);
        m.answered += !json_is_true(json_object_get(msg, "more"));
    }
    json_decref(msg);
}

int agent_look(const struct agent *a, struct err *e)
{
    CLAIM(a->looks_at);
    return act(e);
}

void agent_empty_trash(struct agent *a)
{
    CLAIM(a == &m.a);
}

/* --- workers: a request waits here until the next empty line --- */

#define WORKER(name, in_order)                                                                     \
    enum outcome name(struct agent *a, json_t *req, serve_fn fn, int limit_s)                      \
    {                                                                                              \
        CLAIM(a == &m.a && limit_s > 0 && m.n_waiting < WAITING_MAX);                              \
        m.waiting[m.n_waiting++] = (struct fuzzed_waiting){json_incref(req), fn, in_order};        \
        return SERVE_ANSWERED;                                                                     \
    }
WORKER(worker_start, false)
WORKER(worker_start_of_users, false)
WORKER(worker_start_in_order, true)
#undef WORKER

bool workers_in_order(const struct agent *a)
{
    CLAIM(a == &m.a);
    for (int i = 0; i < m.n_waiting; i++)
        if (m.waiting[i].in_order)
            return true;
    return false;
}

/* A worker ends with what it does, so it frees nothing: no leaks of ours are looked for in it. */
static void finish_waiting(void)
{
    for (int i = 0; i < m.n_waiting; i++) {
        struct fuzzed_waiting *w = &m.waiting[i];
        __lsan_disable();
        ops_serve_by(&m.a, w->req, w->fn);
        __lsan_enable();
        json_decref(w->req);
    }
    m.n_waiting = 0;
}

int prctl(int option, ...)
{
    CLAIM(option == PR_SET_DUMPABLE);
    return 0;
}

/* --- tasks --- */

int tasks_run(struct agent_tasks *t, const struct task_spec *spec, json_t *message,
              json_int_t request, struct err *e)
{
    CLAIM(t == &m.a.tasks && task_id_valid(spec->id) && spec->command_line && message);
    CLAIM(spec->stdout_path && *spec->stdout_path == '/' && *spec->stderr_path == '/');
    if (m.n_started == WAITING_MAX)
        return err_set(e, ERR_UNAVAILABLE, NULL, "too many at once");
    if (act_at(spec->cwd, e) < 0)
        return -1;
    m.started[m.n_started++] = request;
    return 0;
}

static void tell_started(void)
{
    for (int i = 0; i < m.n_started; i++)
        agent_send(&m.a, message_reply(m.started[i], json_pack("{s:{}}", "task")));
    m.n_started = 0;
}

int tasks_signal(struct agent_tasks *t, const char *id, int signo, struct err *e)
{
    CLAIM(t == &m.a.tasks && id);
    (void)signo; /* the kernel's to judge */
    return act(e);
}

int tasks_forget(struct agent_tasks *t, const char *id, struct err *e)
{
    CLAIM(t == &m.a.tasks && id);
    return act(e);
}

void tasks_each(struct agent_tasks *t, void (*fn)(void *ctx, json_t *status), void *ctx)
{
    CLAIM(t == &m.a.tasks);
    json_t *status = message_task_status(
        &(struct task_status){.id = "g-1-2-0", .state = TASK_EXITED, .stderr_tail = "oops\n"});
    CLAIM(status);
    for (int i = 0; i < (m.many ? TASKS_MANY : 1); i++)
        fn(ctx, status);
    json_decref(status);
}

void tasks_announce(struct agent_tasks *t)
{
    t->announcing = true;
}

bool tasks_are_running(const struct agent_tasks *t)
{
    CLAIM(t == &m.a.tasks);
    return m.fail_every > 1;
}

void tasks_abandon(struct agent_tasks *t)
{
    CLAIM(t == &m.a.tasks);
}

bool tasks_run_as(void *tasks, uid_t uid)
{
    (void)tasks;
    return uid == 0;
}

/* --- accounts --- */

int lease_or_account(const char *root, const char *name, struct account *out, struct err *e)
{
    CLAIM(root == m.a.root && name);
    if (act(e) < 0)
        return -1;
    *out = (struct account){.name = xstrdup(name), .uid = 70000, .gid = 70000};
    return 0;
}

void account_free(struct account *a)
{
    free(a->name);
    *a = (struct account){0};
}

mode_t account_umask(const struct account *a)
{
    CLAIM(!a || a->name);
    return 022;
}

int account_assume(const struct account *a, struct err *e)
{
    CLAIM(a && a->name && m.assumed == 0);
    m.assumed = act(e) == 0;
    return m.assumed ? 0 : -1;
}

void account_resume(void)
{
    CLAIM(m.assumed == 1);
    m.assumed = 0;
}

int account_become(const struct account *a, struct err *e)
{
    CLAIM(a && a->name);
    return act(e);
}

int lease_take(const struct lease_ask *ask, struct err *e)
{
    CLAIM(ask->holder.root == m.a.root && ask->holder.incarnation && ask->name);
    return act_at(ask->dir, e);
}

int lease_release(const struct uid_holder *h, const char *name, struct err *e)
{
    CLAIM(h->root == m.a.root && name);
    return act(e);
}

int lease_names(const char *root, json_t *names, struct err *e)
{
    CLAIM(root == m.a.root && json_is_array(names));
    json_array_append_new(names, json_string("j1"));
    json_array_append_new(names, json_string("j2"));
    return act(e);
}

bool lease_is_taken(const char *root, const char *name)
{
    CLAIM(root == m.a.root && name);
    return *name == 'j';
}

bool lease_has_record(const char *root, const char *name)
{
    return lease_is_taken(root, name);
}

void lease_nobody(const char *root, struct account *out)
{
    CLAIM(root == m.a.root);
    *out = (struct account){.name = xstrdup("nobody"), .uid = 65534, .gid = 65534};
}

int users_add(const char *root, const struct request_user_add *u, struct err *e)
{
    CLAIM(root == m.a.root && u->name && m.a.facts.node.is_root);
    return act(e);
}

int users_remove(const char *root, const char *name, struct err *e)
{
    CLAIM(root == m.a.root && name && m.a.facts.node.is_root);
    return act(e);
}

int users_remove_all(const char *root, struct err *e)
{
    CLAIM(root == m.a.root && m.a.facts.node.is_root);
    return act(e);
}

/* --- files: whatever is changed is absolute, whatever is removed below the root, and not the
 * agent's --- */

static bool is_below(const char *path)
{
    size_t n = strlen(m.a.root);
    return strncmp(path, m.a.root, n) == 0 && path[n] == '/';
}

int file_check_below(const char *root, const char *path, struct err *e)
{
    CLAIM(root == m.a.root);
    return is_below(path) ? 0 : err_set(e, ERR_INVALID_PATH, NULL, "%s is not below it", path);
}

static void not_the_agents(const char *path)
{
    CLAIM(!is_below(path) || strncmp(path + strlen(m.a.root), "/agent.lock", 11) != 0 ||
          (path[strlen(m.a.root) + 11] && path[strlen(m.a.root) + 11] != '/'));
}

int file_discard(const char *root, const char *path, const char *trash, struct mounts_kept *mounts,
                 struct err *e)
{
    CLAIM(root == m.a.root && trash == m.a.trash_dir && mounts == &m.a.mounts);
    not_the_agents(path);
    return act_at(path, e) < 0 ? -1 : 1;
}

int file_link(const char *root, const struct file_folder *source, const char *target, bool shared,
              struct err *e)
{
    CLAIM(root == m.a.root && (!shared || m.a.facts.node.is_root));
    not_the_agents(target);
    return act_at(source->path, e) < 0 ? -1 : act_at(target, e);
}

int file_unlink(const char *root, const char *target, struct err *e)
{
    CLAIM(root == m.a.root && is_below(target));
    not_the_agents(target);
    return act_at(target, e);
}

int file_make_dirs(const char *root, const struct account *as, const char *path, struct err *e)
{
    CLAIM(root == m.a.root && (!as || as->name));
    return act_at(path, e);
}

int file_make_parents_as(const char *root, const struct account *as, const char *path,
                         struct err *e)
{
    CLAIM(root == m.a.root && as->name);
    return act_at(path, e);
}

int file_make_parents(const char *path, struct err *e)
{
    return act_at(path, e);
}

int file_append(const char *path, const char *text, struct err *e)
{
    CLAIM(text);
    return act_at(path, e);
}

int file_replace(const char *path, const void *data, size_t len, mode_t mode, struct err *e)
{
    CLAIM(mode <= 07777 && strlen(data) == len);
    return act_at(path, e);
}

#include "test/fuzz/agent_parts.h"

int file_open_to_all(const struct file_folder *f, struct err *e)
{
    CLAIM(m.a.facts.node.is_root);
    return act_at(f->path, e);
}

bool share_is_open(const char *dir)
{
    CLAIM(dir);
    return m.far;
}

bool mounts_may_hang(struct mounts_kept *k, const char *root, const char *path)
{
    CLAIM(k == &m.a.mounts && root == m.a.root && *path == '/');
    return m.far;
}

bool mounts_concern(const char *root, const char *path)
{
    CLAIM(root == m.a.root && is_below(path));
    return m.far;
}

int mounts_detach_within(const char *root, const char *top, struct err *e)
{
    CLAIM(root == m.a.root && is_below(top));
    return act(e);
}

int disk_list(const char *base, const char *path, struct disk_listing *out, struct err *e)
{
    CLAIM(path);
    if (act_at(base, e) < 0)
        return -1;
    *out = (struct disk_listing){.n = m.many ? ENTRIES_MANY : 2, .cut = m.many, .left_out = m.far};
    out->entries = xcalloc(out->n, sizeof *out->entries);
    for (size_t i = 0; i < out->n; i++)
        out->entries[i] = (struct node_dir_entry){.name = "a", .size = (int64_t)i};
    return 0;
}

void disk_list_free(struct disk_listing *l)
{
    free(l->entries);
}

int disk_read_file(const char *base, const char *path, int64_t offset, size_t max,
                   struct disk_part *out, struct err *e)
{
    CLAIM(path && offset >= 0 && max <= 1024 * 1024);
    *out = (struct disk_part){.size = offset + 3, .n = max < 3 ? max : 3};
    if (act_at(base, e) < 0)
        return -1;
    out->bytes = xcalloc(3, 1);
    return 0;
}

/* --- remote commands --- */

int remotes_open(struct agent *a, const char *job, const struct account *as, struct err *e)
{
    CLAIM(a == &m.a && task_id_valid(job) && *job != '.' && (!as || as->name));
    return act(e);
}

void remotes_close(struct agent *a, const char *job)
{
    CLAIM(a == &m.a && (!job || (task_id_valid(job) && *job != '.')));
}

/* --- the machine --- */

void facts_refresh(struct facts *f)
{
    f->node.time_us++;
}

void health_look(struct agent_health *h, const char *root, bool tries, struct node_health *out)
{
    (void)tries;
    CLAIM(h == &m.a.health && root == m.a.root);
    *out = (struct node_health){.disk_error = "", .gpu_errors = ""};
}

bool clean_is_own(const char *name, size_t n)
{
    return n == 10 && memcmp(name, "agent.lock", 10) == 0;
}

int clean_list(const char *root, json_t *found, struct err *e)
{
    CLAIM(root == m.a.root && json_is_array(found));
    json_array_append_new(found, json_string("account j1"));
    return act(e);
}

int clean_take(const struct uid_holder *h, bool is_root, struct err *e)
{
    CLAIM(h->root == m.a.root && is_root == m.a.facts.node.is_root);
    return act(e);
}

int clean_remove_root(const char *root, struct err *e)
{
    CLAIM(root == m.a.root);
    return act(e);
}

char *program_find(const char *name)
{
    CLAIM(strcmp(name, "reboot") == 0);
    return m.has_reboot ? xstrdup("/sbin/reboot") : NULL;
}

/* --- one input --- */

static void on_answer(struct agent *a, void *ctx, json_t *reply, const struct err *why)
{
    CLAIM(a == &m.a && (reply != NULL) == (why == NULL));
    CLAIM(++*(int *)ctx == 1);
}

static void begin(const char *how)
{
    static char root[] = "/node", tasks[] = "/node/tasks", trash[] = "/node/trash";
    memset(&m, 0, sizeof m);
    m.a.root = root;
    m.a.tasks_dir = tasks;
    m.a.trash_dir = trash;
    m.a.held = json_array();
    m.a.looks_at = how[0] == '2' ? root : NULL;
    m.a.facts.node = (struct node_facts){.agent_version = "1",
                                         .hostname = "h",
                                         .os = "linux",
                                         .arch = "a",
                                         .incarnation = m.a.facts.incarnation,
                                         .boot_id = "b",
                                         .gpus = "[]",
                                         .user = "u",
                                         .is_root = how[0] == '1',
                                         .runtimes = "",
                                         .mpi = ""};
    if (!how[0])
        return;
    m.far = how[1] == '1';
    m.fail_every = how[1] && how[2] >= '0' && how[2] <= '9' ? how[2] - '0' : 0;
    m.has_reboot = m.far;
    m.many = how[1] && how[2] && how[3] == '1';
}

/* As the agent's loop has it: an answer is whose question it was, all else is a request. */
static bool hear(json_t *msg)
{
    struct err e;
    if (message_kind(msg) == MESSAGE_EVENT)
        return true; /* fuzz_remotes.c */
    if (message_kind(msg) == MESSAGE_REPLY && json_object_get(msg, "ok")) {
        int rc = peer_hear(&m.a, msg, &e);
        CLAIM(rc == 0 || e.msg[0]);
        return rc == 0;
    }
    m.asked++;
    ops_serve(&m.a, msg);
    return !m.a.root_removed;
}

static void turn(void)
{
    finish_waiting();
    tell_started();
    ops_serve_held(&m.a);
}

static void end(void)
{
    while (m.n_waiting || m.n_started || json_array_size(m.a.held))
        turn();
    CLAIM(m.answered == m.asked);
    CLAIM(m.assumed == 0);
    peer_close(&m.a);
    json_decref(m.a.held);
    account_free(&m.a.as);
    free(m.a.reboot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    int answers[2] = {0};
    char *line = next_line(&in);
    begin(line);
    free(line);
    for (int i = 0; i < 2; i++)
        peer_ask(&m.a, i ? "epoch" : "ping", json_object(), on_answer, &answers[i]);
    for (bool goes_on = true; goes_on && in.p < in.end && m.asked < WAITING_MAX;) {
        line = next_line(&in);
        json_t *msg = *line ? json_loads(line, JSON_REJECT_DUPLICATES, NULL) : NULL;
        if (!*line)
            turn();
        else if (json_is_object(msg))
            goes_on = hear(msg);
        json_decref(msg);
        free(line);
    }
    end();
    return 0;
}
