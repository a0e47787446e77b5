/* SPDX-License-Identifier: MIT
 *
 * For tests of a local link with the real agent (BATCHAI_NODE, else build/batchai-node). Each test
 * has a node root of its own; waiting is for a condition, with a limit.
 */
#ifndef TEST_NODE_FIXTURE_H
#define TEST_NODE_FIXTURE_H

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/loop_uv.h"
#include "lib/version.h"
#include "nodeagent-proto/link/node.h"
#include "test/unit/support/patience.h"
#include "test/unit/support/says.h"
#include "test/unit/support/skip.h"

#define LIMIT_MS 20000 /* never reached on a machine that is not stuck */
#define MAX_SEEN 64

struct link_seen {
    char id[32];
    struct task_status s;
    char why[1024], tail[NODE_TAIL_MAX + 1];
};

struct fixture {
    uv_loop_t loop;
    struct loop *tools; /* over it */
    struct files *files;
    struct log log;
    struct node_link *link;
    char root[64], agent[PATH_MAX];
    struct arena texts; /* of paths and files; they go with the fixture */
    const char *cmd;    /* for the next local link; NULL: it gets no batchai-cmd */
    char incarnation[64];
    char *facts; /* of the last hello, as text */
    int ready, down, closed, answers, run_answers;
    struct err why;       /* of the last answer or of down; code ERR_NONE: success */
    struct link_seen run; /* last answer to node_run() */
    struct link_seen ended[MAX_SEEN];
    int n_ended;
    size_t n_tasks;
    uv_timer_t limit, tick;
    bool timed_out;
};

/* ---- waiting ---- */

static inline void on_limit(uv_timer_t *t)
{
    ((struct fixture *)t->data)->timed_out = true;
}

static inline void on_tick(uv_timer_t *t)
{
    (void)t; /* conditions outside the loop (files, processes) are looked at again */
}

static inline void start_waiting(struct fixture *f)
{
    f->timed_out = false;
    uv_timer_start(&f->limit, on_limit, patient_ms(LIMIT_MS), 0);
    uv_timer_start(&f->tick, on_tick, 5, 5);
}

static inline void stop_waiting(struct fixture *f)
{
    uv_timer_stop(&f->limit);
    uv_timer_stop(&f->tick);
}

/* Runs the loop until `condition`. */
#define WAIT(f, condition)                                                                         \
    do {                                                                                           \
        start_waiting(f);                                                                          \
        while (!(condition) && !(f)->timed_out)                                                    \
            uv_run(&(f)->loop, UV_RUN_ONCE);                                                       \
        stop_waiting(f);                                                                           \
        assert_true(condition);                                                                    \
    } while (0)

/* ---- callbacks ---- */

static inline void keep(struct link_seen *to, const struct task_status *s)
{
    to->s = *s;
    snprintf(to->id, sizeof to->id, "%s", s->id);
    snprintf(to->why, sizeof to->why, "%s", s->why ? s->why : "");
    snprintf(to->tail, sizeof to->tail, "%s", s->stderr_tail ? s->stderr_tail : "");
}

static inline void keep_why(struct fixture *f, const struct err *why)
{
    err_clear(&f->why);
    if (why)
        f->why = *why;
    f->answers++;
}

static inline void on_ready(void *ctx, const struct node_facts *facts)
{
    struct fixture *f = ctx;
    f->ready++;
    assert_true(facts->cpus > 0 && facts->memory_bytes > 0 && facts->disk_free_bytes >= 0);
    assert_string_equal(facts->agent_version, BATCHAID_VERSION);
    assert_true(*facts->hostname && *facts->boot_id && facts->gpus[0] == '[');
    free(f->facts);
    f->facts = node_facts_text(facts);
    snprintf(f->incarnation, sizeof f->incarnation, "%s", facts->incarnation);
}

static inline void on_down(void *ctx, const struct err *why)
{
    struct fixture *f = ctx;
    f->down++;
    f->why = *why;
}

static inline void on_ended(void *ctx, const struct task_status *s)
{
    struct fixture *f = ctx;
    if (f->n_ended < MAX_SEEN)
        keep(&f->ended[f->n_ended], s);
    f->n_ended++;
}

static inline void on_done(void *ctx, const struct err *why)
{
    keep_why(ctx, why);
}

static inline void on_run(void *ctx, const struct err *why, const struct task_status *s)
{
    struct fixture *f = ctx;
    keep_why(f, why);
    f->run_answers++;
    if (!why)
        keep(&f->run, s);
}

static inline void on_tasks(void *ctx, const struct err *why, const struct task_status *list,
                            size_t n)
{
    struct fixture *f = ctx;
    keep_why(f, why);
    f->n_tasks = n;
    for (size_t i = 0; i < n; i++)
        assert_true(list[i].id && *list[i].id);
}

static inline void on_closed(void *ctx)
{
    ((struct fixture *)ctx)->closed++;
}

/* ---- fixture ---- */

static inline void open_link(struct fixture *f)
{
    struct node_local_config c = {.loop = f->tools,
                                  .log = &f->log,
                                  .files = f->files,
                                  .agent_path = f->agent,
                                  .cmd_path = f->cmd,
                                  .root = f->root,
                                  .callbacks = {on_ready, on_down, on_ended, NULL, f}};
    struct err e;
    f->ready = f->down = f->closed = f->n_ended = 0;
    assert_int_equal(node_open_local(&c, &f->link, &e), 0);
}

static inline void open_ready(struct fixture *f)
{
    open_link(f);
    WAIT(f, f->ready || f->down);
    assert_int_equal(f->ready, 1);
}

static inline void close_link(struct fixture *f)
{
    if (!f->link)
        return;
    node_close(f->link, on_closed, f);
    f->link = NULL;
    WAIT(f, f->closed == 1);
}

static inline char *joined(struct fixture *f, const char *folder, const char *name)
{
    return arena_printf(&f->texts, "%s/%s", folder, name);
}

/* Where batchai-cmd is: beside the agent. */
static inline char *built_cmd(struct fixture *f)
{
    return arena_printf(&f->texts, "%.*s/batchai-cmd", (int)(strrchr(f->agent, '/') - f->agent),
                        f->agent);
}

static inline void fixture_begin(struct fixture *f)
{
    const char *agent = getenv("BATCHAI_NODE");
    assert_non_null(realpath(agent ? agent : "build/batchai-node", f->agent));
    snprintf(f->root, sizeof f->root, "/tmp/batchai-node-test-XXXXXX");
    assert_non_null(mkdtemp(f->root));
    f->log = (struct log){.fd = STDERR_FILENO, .level = LOG_LVL_ERROR};
    arena_init(&f->texts);
    (void)signal(SIGPIPE, SIG_IGN); /* as node.h asks */
    assert_int_equal(uv_loop_init(&f->loop), 0);
    f->tools = loop_uv_create(&f->loop, NULL, NULL);
    f->files = files_create(f->tools, &f->log);
    uv_timer_init(&f->loop, &f->limit);
    uv_timer_init(&f->loop, &f->tick);
    f->limit.data = f;
}

static inline int setup(void **state)
{
    *state = xcalloc(1, sizeof(struct fixture));
    fixture_begin(*state);
    return 0;
}

static inline void on_files_stopped(void *ctx, size_t left_behind)
{
    assert_int_equal(left_behind, 0);
    ((struct fixture *)ctx)->files = NULL;
}

static inline void fixture_end(struct fixture *f)
{
    close_link(f);
    files_stop(f->files, on_files_stopped, f);
    WAIT(f, !f->files);
    loop_uv_destroy(f->tools);
    uv_close((uv_handle_t *)&f->limit, NULL);
    uv_close((uv_handle_t *)&f->tick, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0); /* nothing was left open */
    struct err e;
    assert_int_equal(fs_remove_tree(f->root, &e), 0);
    free(f->facts);
    arena_free(&f->texts);
}

static inline int teardown(void **state)
{
    fixture_end(*state);
    free(*state);
    return 0;
}

/* ---- tools ---- */

static inline char *in_root(struct fixture *f, const char *relative)
{
    return joined(f, f->root, relative);
}

/* "": the file cannot be read. */
static inline char *slurp(struct fixture *f, const char *relative)
{
    char *path = in_root(f, relative), *data = NULL;
    if (fs_read(path, 1 << 20, &data, NULL, NULL) < 0)
        return arena_strdup(&f->texts, "");
    char *text = arena_strdup(&f->texts, data);
    free(data);
    return text;
}

static inline bool file_has(struct fixture *f, const char *relative, const char *words)
{
    return strstr(slurp(f, relative), words) != NULL;
}

static inline struct task_spec usual_spec(struct fixture *f, const char *id, const char *command)
{
    return (struct task_spec){.id = id,
                              .command_line = command,
                              .cwd = in_root(f, "work/here"),
                              .stdout_path = in_root(f, "out/stdout.txt"),
                              .stderr_path = in_root(f, "out/stderr.txt"),
                              .log_path = in_root(f, "out/execution.log"),
                              .step = "job"};
}

static inline void start_with(struct fixture *f, const char *id, const char *command,
                              const struct kv *env, size_t n_env)
{
    struct task_spec s = usual_spec(f, id, command);
    s.env = env;
    s.n_env = n_env;
    f->run_answers = 0;
    node_run(f->link, &s, on_run, f);
}

static inline void start(struct fixture *f, const char *id, const char *command)
{
    start_with(f, id, command, NULL, 0);
    WAIT(f, f->run_answers == 1);
    assert_string_equal(f->why.msg, "");
}

/* Waits until `n` ends were told. */
static inline const struct link_seen *nth_end(struct fixture *f, int n)
{
    WAIT(f, f->n_ended == n);
    return &f->ended[n - 1];
}

/* One request, answered. */
#define ASK(f, call)                                                                               \
    do {                                                                                           \
        int before = (f)->answers;                                                                 \
        call;                                                                                      \
        WAIT(f, (f)->answers == before + 1);                                                       \
    } while (0)

/* Asks for an operation by its name and members; DONE() expects that the operation succeeds. */
#define ASKED(f, ...) ASK(f, node_ask((f)->link, REQUEST(__VA_ARGS__), on_done, f))
#define DONE(f, ...)                                                                               \
    do {                                                                                           \
        ASKED(f, __VA_ARGS__);                                                                     \
        assert_string_equal((f)->why.msg, "");                                                     \
    } while (0)

/* The last answer is an error with this code, whose message has these words. */
static inline void assert_why(const struct fixture *f, int code, const char *words)
{
    if (f->why.code != code || !strstr(f->why.msg, words))
        fail_msg("%s \"%s\" instead of %s \"%s\"", err_code_name(f->why.code), f->why.msg,
                 err_code_name(code), words);
}

static inline long number_in(struct fixture *f, const char *record, const char *name)
{
    char *text = slurp(f, record), key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    char *at = strstr(text, key);
    long n = at ? atol(at + strlen(key)) : 0;
    return n;
}

static inline bool gone(long pid)
{
    char path[64], *text;
    struct err e;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (fs_read(path, 4096, &text, NULL, &e) < 0)
        return true;
    const char *state = strrchr(text, ')');
    bool dead = state && state[1] == ' ' && (state[2] == 'Z' || state[2] == 'X');
    free(text);
    return dead;
}

static inline long read_pid(struct fixture *f, const char *relative)
{
    char *text = slurp(f, relative);
    long pid = strchr(text, '\n') ? atol(text) : 0;
    return pid;
}

/* The agent that serves this root: the holder of its lock, as the kernel tells. */
static inline pid_t agent_pid(struct fixture *f)
{
    DIR *d = opendir("/proc");
    struct dirent *de;
    pid_t found = 0;
    while (!found && (de = readdir(d))) {
        char path[64], *text;
        size_t len;
        snprintf(path, sizeof path, "/proc/%.20s/cmdline", de->d_name);
        if (de->d_name[0] < '1' || de->d_name[0] > '9' ||
            fs_read(path, 8192, &text, &len, NULL) < 0)
            continue;
        for (size_t i = 0; i < len; i++)
            if (text[i] == '\0')
                text[i] = ' ';
        char comm[64], *name = NULL;
        snprintf(comm, sizeof comm, "/proc/%.20s/comm", de->d_name);
        if (strstr(text, f->root) && fs_read(comm, 64, &name, NULL, NULL) == 0 &&
            strcmp(name, "batchai-node\n") == 0)
            found = atoi(de->d_name);
        free(name);
        free(text);
    }
    closedir(d);
    return found;
}

/* A child of `parent` with that name (/proc/PID/comm); 0: none now. */
static inline pid_t find_child(pid_t parent, const char *name)
{
    DIR *d = opendir("/proc");
    struct dirent *de;
    pid_t found = 0;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "(%s) ? %d ", name, (int)parent);
    while (!found && (de = readdir(d))) {
        char path[64], *stat = NULL, *state;
        snprintf(path, sizeof path, "/proc/%.20s/stat", de->d_name);
        if (de->d_name[0] >= '1' && de->d_name[0] <= '9' &&
            fs_read(path, 4096, &stat, NULL, NULL) == 0 && (state = strstr(stat, ") ")) &&
            state[2] != 'Z') {
            state[2] = '?'; /* whatever it is */
            found = strstr(stat, wanted) ? atoi(stat) : 0;
        }
        free(stat);
    }
    closedir(d);
    return found;
}

static inline void kill_agent(struct fixture *f)
{
    pid_t pid = agent_pid(f);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    WAIT(f, f->down == 1);
    assert_why(f, ERR_NODE_LOST, "signal 9");
    close_link(f);
}

static inline struct fixture *made_ready(struct fixture *f)
{
    open_ready(f);
    return f;
}

#define NEED_ROOT()                                                                                \
    do {                                                                                           \
        if (geteuid() != 0)                                                                        \
            skip_because("needs root");                                                            \
    } while (0)

static inline struct fixture *as_root(struct fixture *f)
{
    NEED_ROOT();
    return f;
}

/* ROOT_TEST needs root; READY_TEST begins with a link whose agent has said hello. */
#define LINK_TEST(name)  TEST_IN(name, struct fixture *f, *state, setup, teardown)
#define ROOT_TEST(name)  TEST_IN(name, struct fixture *f, as_root(*state), setup, teardown)
#define READY_TEST(name) TEST_IN(name, struct fixture *f, made_ready(*state), setup, teardown)

#endif
