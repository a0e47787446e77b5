/* SPDX-License-Identifier: MIT
 *
 * The local link with the real agent (BATCHAI_NODE, else build/batchai-node): what a task does, and
 * what it survives. Each test has a node root of its own; waiting is for a condition, with a limit.
 */
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/node.h"

#define LIMIT_MS 20000 /* never reached on a machine that is not stuck */
#define MAX_SEEN 64

struct seen {
    char id[32];
    struct task_status s;
    char why[1024], tail[NODE_TAIL_MAX + 1];
};

struct fixture {
    uv_loop_t loop;
    struct log log;
    struct node_link *link;
    char root[64], agent[PATH_MAX];
    char incarnation[64];
    int ready, down, closed, answers, run_answers;
    struct err why;  /* of the last answer or of down; code ERR_NONE: success */
    struct seen run; /* last answer to node_run() */
    struct seen ended[MAX_SEEN];
    int n_ended;
    size_t n_tasks;
    uv_timer_t limit, tick;
    bool timed_out;
};

/* ---- waiting ---- */

static void on_limit(uv_timer_t *t)
{
    ((struct fixture *)t->data)->timed_out = true;
}

static void on_tick(uv_timer_t *t)
{
    (void)t; /* conditions outside the loop (files, processes) are looked at again */
}

static void start_waiting(struct fixture *f)
{
    f->timed_out = false;
    uv_timer_start(&f->limit, on_limit, LIMIT_MS, 0);
    uv_timer_start(&f->tick, on_tick, 5, 5);
}

static void stop_waiting(struct fixture *f)
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

static void keep(struct seen *to, const struct task_status *s)
{
    to->s = *s;
    snprintf(to->id, sizeof to->id, "%s", s->id);
    snprintf(to->why, sizeof to->why, "%s", s->why ? s->why : "");
    snprintf(to->tail, sizeof to->tail, "%s", s->stderr_tail ? s->stderr_tail : "");
}

static void keep_why(struct fixture *f, const struct err *why)
{
    err_clear(&f->why);
    if (why)
        f->why = *why;
    f->answers++;
}

static void on_ready(void *ctx, const struct node_facts *facts)
{
    struct fixture *f = ctx;
    f->ready++;
    assert_true(facts->cpus > 0 && facts->memory_bytes > 0 && facts->disk_free_bytes > 0);
    assert_string_equal(facts->agent_version, BATCHAID_VERSION);
    assert_true(*facts->hostname && *facts->boot_id && facts->gpus[0] == '[');
    snprintf(f->incarnation, sizeof f->incarnation, "%s", facts->incarnation);
}

static void on_down(void *ctx, const struct err *why)
{
    struct fixture *f = ctx;
    f->down++;
    f->why = *why;
}

static void on_ended(void *ctx, const struct task_status *s)
{
    struct fixture *f = ctx;
    if (f->n_ended < MAX_SEEN)
        keep(&f->ended[f->n_ended], s);
    f->n_ended++;
}

static void on_done(void *ctx, const struct err *why)
{
    keep_why(ctx, why);
}

static void on_run(void *ctx, const struct err *why, const struct task_status *s)
{
    struct fixture *f = ctx;
    keep_why(f, why);
    f->run_answers++;
    if (!why)
        keep(&f->run, s);
}

static void on_tasks(void *ctx, const struct err *why, const struct task_status *list, size_t n)
{
    struct fixture *f = ctx;
    keep_why(f, why);
    f->n_tasks = n;
    for (size_t i = 0; i < n; i++)
        assert_true(list[i].id && *list[i].id);
}

static void on_closed(void *ctx)
{
    ((struct fixture *)ctx)->closed++;
}

/* ---- fixture ---- */

static void open_link(struct fixture *f)
{
    struct node_local_config c = {.loop = &f->loop,
                                  .log = &f->log,
                                  .agent_path = f->agent,
                                  .root = f->root,
                                  .callbacks = {on_ready, on_down, on_ended, f}};
    struct err e;
    f->ready = f->down = f->closed = f->n_ended = 0;
    assert_int_equal(node_open_local(&c, &f->link, &e), 0);
}

static void open_ready(struct fixture *f)
{
    open_link(f);
    WAIT(f, f->ready || f->down);
    assert_int_equal(f->ready, 1);
}

static void close_link(struct fixture *f)
{
    if (!f->link)
        return;
    node_close(f->link, on_closed, f);
    f->link = NULL;
    WAIT(f, f->closed == 1);
}

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    const char *agent = getenv("BATCHAI_NODE");
    assert_non_null(realpath(agent ? agent : "build/batchai-node", f->agent));
    strcpy(f->root, "/tmp/batchai-node-test-XXXXXX");
    assert_non_null(mkdtemp(f->root));
    f->log = (struct log){.fd = STDERR_FILENO, .level = LOG_LVL_ERROR};
    assert_int_equal(uv_loop_init(&f->loop), 0);
    uv_timer_init(&f->loop, &f->limit);
    uv_timer_init(&f->loop, &f->tick);
    f->limit.data = f;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    close_link(f);
    uv_close((uv_handle_t *)&f->limit, NULL);
    uv_close((uv_handle_t *)&f->tick, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0); /* nothing was left open */
    struct err e;
    assert_int_equal(fs_remove_tree(f->root, &e), 0);
    free(f);
    return 0;
}

/* ---- tools ---- */

static char *in_root(struct fixture *f, const char *relative)
{
    return fs_join(f->root, relative);
}

static char *slurp(struct fixture *f, const char *relative)
{
    char *path = in_root(f, relative), *text = NULL;
    struct err e;
    if (fs_read(path, 1 << 20, &text, NULL, &e) < 0)
        text = xstrdup("");
    free(path);
    return text;
}

static bool file_has(struct fixture *f, const char *relative, const char *words)
{
    char *text = slurp(f, relative);
    bool has = strstr(text, words) != NULL;
    free(text);
    return has;
}

static void start_with(struct fixture *f, const char *id, const char *command, const struct kv *env,
                       size_t n_env)
{
    char *cwd = in_root(f, "work/here"), *out = in_root(f, "out/stdout.txt"),
         *errors = in_root(f, "out/stderr.txt"), *log = in_root(f, "out/execution.log");
    struct task_spec s = {.id = id,
                          .command_line = command,
                          .cwd = cwd,
                          .env = env,
                          .n_env = n_env,
                          .stdout_path = out,
                          .stderr_path = errors,
                          .log_path = log,
                          .step = "job"};
    f->run_answers = 0;
    node_run(f->link, &s, on_run, f);
    free(cwd);
    free(out);
    free(errors);
    free(log);
}

static void start(struct fixture *f, const char *id, const char *command)
{
    start_with(f, id, command, NULL, 0);
    WAIT(f, f->run_answers == 1);
    assert_string_equal(f->why.msg, "");
}

/* One request, answered. */
#define ASK(f, call)                                                                               \
    do {                                                                                           \
        int before = (f)->answers;                                                                 \
        call;                                                                                      \
        WAIT(f, (f)->answers == before + 1);                                                       \
    } while (0)

static long number_in(struct fixture *f, const char *record, const char *name)
{
    char *text = slurp(f, record), key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    char *at = strstr(text, key);
    long n = at ? atol(at + strlen(key)) : 0;
    free(text);
    return n;
}

static bool gone(long pid)
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

static long read_pid(struct fixture *f, const char *relative)
{
    char *text = slurp(f, relative);
    long pid = strchr(text, '\n') ? atol(text) : 0;
    free(text);
    return pid;
}

/* The agent that serves this root: the holder of its lock, as the kernel tells. */
static pid_t agent_pid(struct fixture *f)
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

static void kill_agent(struct fixture *f)
{
    pid_t pid = agent_pid(f);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    WAIT(f, f->down == 1);
    assert_int_equal(f->why.code, ERR_NODE_LOST);
    assert_non_null(strstr(f->why.msg, "signal 9"));
    close_link(f);
}

/* ---- tests ---- */

static void test_run_and_exit_code(void **state)
{
    struct fixture *f = *state;
    struct kv env[] = {{.name = "GREETING", .value = "hello there"}};
    open_ready(f);
    start_with(f, "one", "echo $GREETING; pwd; echo oops >&2; exit 3", env, 1);
    WAIT(f, f->n_ended == 1);
    assert_int_equal(f->run_answers, 1);
    assert_int_equal(f->run.s.state, TASK_RUNNING);
    const struct seen *t = &f->ended[0];
    assert_string_equal(t->id, "one");
    assert_int_equal(t->s.state, TASK_EXITED);
    assert_int_equal(t->s.exit_code, 3);
    assert_int_equal(t->s.signal, 0);
    assert_true(t->s.started_us > 0 && t->s.ended_us >= t->s.started_us);
    assert_string_equal(t->tail, "oops\n");
    assert_true(file_has(f, "out/stdout.txt", "hello there\n"));
    assert_true(file_has(f, "out/stdout.txt", "/work/here\n"));
    assert_true(file_has(f, "out/execution.log", "Z job: started on "));
    assert_true(file_has(f, "out/execution.log", ": echo $GREETING; pwd"));
    assert_true(file_has(f, "out/execution.log", "Z job: exited with code 3\n"));
}

static void test_same_id_starts_once(void **state)
{
    struct fixture *f = *state;
    open_ready(f);
    start_with(f, "once", "echo ran; while [ ! -e go ]; do sleep 0.01; done; exit 5", NULL, 0);
    start_with(f, "once", "echo ran", NULL, 0); /* while the first is being started */
    WAIT(f, f->run_answers == 2 || f->n_ended);
    assert_int_equal(f->run.s.state, TASK_RUNNING);
    start(f, "once", "echo ran");
    assert_int_equal(f->run.s.state, TASK_RUNNING);
    char *go = in_root(f, "work/here/go");
    ASK(f, node_append(f->link, go, "now", on_done, f));
    free(go);
    WAIT(f, f->n_ended == 1);
    start(f, "once", "echo ran");
    assert_int_equal(f->run.s.state, TASK_EXITED);
    assert_int_equal(f->run.s.exit_code, 5);
    assert_int_equal(f->n_ended, 1);
    char *out = slurp(f, "out/stdout.txt");
    assert_string_equal(out, "ran\n");
    free(out);
}

static void test_signals(void **state)
{
    struct fixture *f = *state;
    open_ready(f);
    /* A shell that stays, so that the signal has to reach the whole group. */
    start(f, "term", "trap 'echo got it; exit 7' TERM; echo up; sleep 1000 & wait");
    WAIT(f, file_has(f, "out/stdout.txt", "up\n"));
    ASK(f, node_signal(f->link, "term", SIGTERM, on_done, f));
    WAIT(f, f->n_ended == 1);
    assert_int_equal(f->ended[0].s.exit_code, 7);
    assert_true(file_has(f, "out/stdout.txt", "got it\n"));

    start(f, "kill", "trap '' TERM; echo deaf; while true; do sleep 0.01; done");
    WAIT(f, file_has(f, "out/stdout.txt", "deaf\n"));
    ASK(f, node_signal(f->link, "kill", SIGTERM, on_done, f));
    ASK(f, node_signal(f->link, "kill", SIGKILL, on_done, f));
    WAIT(f, f->n_ended == 2);
    assert_int_equal(f->ended[1].s.signal, SIGKILL);
    assert_int_equal(f->ended[1].s.exit_code, -1);
    assert_true(file_has(f, "out/execution.log", "killed by signal 9 (Killed)"));

    ASK(f, node_signal(f->link, "kill", SIGTERM, on_done, f)); /* is over: success */
    assert_string_equal(f->why.msg, "");
    ASK(f, node_signal(f->link, "never-was", SIGTERM, on_done, f));
    assert_string_equal(f->why.msg, "");
}

static void test_signal_while_starting(void **state)
{
    struct fixture *f = *state;
    open_ready(f);
    int before = f->answers;
    start_with(f, "early", "sleep 1000", NULL, 0);
    node_signal(f->link, "early", SIGKILL, on_done, f);
    WAIT(f, f->answers == before + 2 && f->n_ended == 1);
    assert_int_equal(f->ended[0].s.signal, SIGKILL);
}

static void test_agent_killed(void **state)
{
    struct fixture *f = *state;
    char first[64];
    open_ready(f);
    strcpy(first, f->incarnation);
    start(f, "survivor", "echo up; while [ ! -e ../go ]; do sleep 0.01; done; echo done; exit 9");
    start(f, "meanwhile", "while [ ! -e ../go2 ]; do sleep 0.01; done; exit 4");
    kill_agent(f);
    char *go2 = in_root(f, "work/go2"), *go = in_root(f, "work/go");
    struct err e;
    assert_int_equal(fs_write_atomic(go2, "", 0, 0644, &e), 0);
    WAIT(f, file_has(f, "tasks/meanwhile.exit", "\"exit_code\":4")); /* with nobody there */

    open_ready(f);
    assert_string_equal(f->incarnation, first);
    WAIT(f, f->n_ended == 1);
    assert_string_equal(f->ended[0].id, "meanwhile");
    assert_int_equal(f->ended[0].s.exit_code, 4);
    start(f, "survivor", "echo must not run");
    assert_int_equal(f->run.s.state, TASK_RUNNING);
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 2);
    assert_int_equal(fs_write_atomic(go, "", 0, 0644, &e), 0);
    WAIT(f, f->n_ended == 2);
    assert_string_equal(f->ended[1].id, "survivor");
    assert_int_equal(f->ended[1].s.exit_code, 9);
    char *out = slurp(f, "out/stdout.txt");
    assert_string_equal(out, "up\ndone\n");
    free(out);
    free(go);
    free(go2);
}

static void test_supervisor_killed(void **state)
{
    struct fixture *f = *state;
    open_ready(f);
    start(f, "lost",
          "echo trouble >&2; (setsid env -i sh -c 'echo $$ > ../stray; exec sleep 1000' &); "
          "echo $$ > ../main; sleep 1000");
    WAIT(f, read_pid(f, "work/stray") > 1 && read_pid(f, "work/main") > 1);
    pid_t supervisor = (pid_t)number_in(f, "tasks/lost.start", "supervisor");
    assert_true(supervisor > 1);
    assert_int_equal(kill(supervisor, SIGKILL), 0);
    WAIT(f, f->n_ended == 1);
    assert_int_equal(f->ended[0].s.state, TASK_LOST);
    assert_non_null(strstr(f->ended[0].why, "supervisor"));
    assert_string_equal(f->ended[0].tail, "trouble\n");
    WAIT(f, gone(read_pid(f, "work/stray")) && gone(read_pid(f, "work/main")));
}

static void test_supervisor_and_agent_killed(void **state)
{
    struct fixture *f = *state;
    open_ready(f);
    start(f, "lost", "(setsid sh -c 'echo $$ > ../stray; exec sleep 1000' &); sleep 1000");
    WAIT(f, read_pid(f, "work/stray") > 1);
    pid_t supervisor = (pid_t)number_in(f, "tasks/lost.start", "supervisor");
    kill_agent(f);
    assert_int_equal(kill(supervisor, SIGKILL), 0);
    WAIT(f, gone(supervisor));
    open_ready(f);
    WAIT(f, f->n_ended == 1);
    assert_int_equal(f->ended[0].s.state, TASK_LOST);
    WAIT(f, gone(read_pid(f, "work/stray")));
}

static void write_claim(struct fixture *f, const char *relative, const char *boot, const char *mark)
{
    struct err e;
    struct strbuf text = STRBUF_INIT;
    char *dir = in_root(f, "tasks"), *claim = in_root(f, relative);
    strbuf_printf(&text, "%s%s", boot, mark);
    assert_int_equal(fs_mkdirs(dir, 0700, &e), 0);
    assert_int_equal(fs_write_atomic(claim, text.s, text.len, 0600, &e), 0);
    strbuf_free(&text);
    free(dir);
    free(claim);
}

/* The agent was killed before, or while, a supervisor forked the command. */
static void test_claim_without_start(void **state)
{
    struct fixture *f = *state;
    char *boot;
    struct err e;
    assert_int_equal(fs_read("/proc/sys/kernel/random/boot_id", 64, &boot, NULL, &e), 0);
    write_claim(f, "tasks/marked.claim", boot, "starting\n");
    write_claim(f, "tasks/empty.claim", "", "");
    write_claim(f, "tasks/unused.claim", boot, "");
    open_ready(f);
    WAIT(f, f->n_ended == 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(f->ended[i].s.state, TASK_LOST);
        assert_non_null(strstr(f->ended[i].why, "no record that its command ran"));
    }
    start(f, "marked", "echo must not run");
    assert_int_equal(f->run.s.state, TASK_LOST);
    start(f, "unused", "exit 6");
    assert_int_equal(f->run.s.state, TASK_RUNNING);
    WAIT(f, f->n_ended == 3);
    assert_int_equal(f->ended[2].s.exit_code, 6);
    free(boot);
}

static void test_reboot(void **state)
{
    struct fixture *f = *state;
    write_claim(f, "tasks/old.claim", "11111111-2222-3333-4444-555555555555\n", "");
    open_ready(f);
    WAIT(f, f->n_ended == 1);
    assert_int_equal(f->ended[0].s.state, TASK_LOST);
    assert_non_null(strstr(f->ended[0].why, "restarted"));
}

static void test_daemonized_processes_die(void **state)
{
    struct fixture *f = *state;
    open_ready(f);
    start(
        f, "daemons",
        "(setsid env -i sh -c '(echo $$ > ../a; exec sleep 1000) & wait' &) ; sh -c 'sleep 1000 & "
        "echo $! > ../b'; until [ -s ../a ]; do sleep 0.01; done; exit 0");
    WAIT(f, f->n_ended == 1);
    assert_int_equal(f->ended[0].s.exit_code, 0);
    assert_true(read_pid(f, "work/a") > 1 && read_pid(f, "work/b") > 1);
    assert_true(gone(read_pid(f, "work/a")));
    assert_true(gone(read_pid(f, "work/b")));
    assert_true(file_has(f, "out/execution.log", "it left behind were killed"));
}

static void test_failures_to_start(void **state)
{
    struct fixture *f = *state;
    open_ready(f);
    char *file = in_root(f, "file"), *below = in_root(f, "file/below"), *ok = in_root(f, "ok");
    ASK(f, node_append(f->link, file, "x", on_done, f));
    struct task_spec s = {.id = "bad-cwd",
                          .command_line = "true",
                          .cwd = below,
                          .stdout_path = ok,
                          .stderr_path = ok,
                          .log_path = ok,
                          .step = "job"};
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_non_null(strstr(f->run.why, below));
    WAIT(f, f->n_ended == 1); /* the end is told as of any other task */
    assert_true(file_has(f, "ok", "job: could not be started on "));
    s.id = "bad-output";
    s.cwd = f->root;
    s.stdout_path = f->root;
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_non_null(strstr(f->run.why, f->root));
    s.stdout_path = ok;

    char *huge = xcalloc(1, 300001); /* one argument may have 128 KiB */
    memset(huge, 'x', 300000);
    s.id = "too-long";
    s.command_line = huge;
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_non_null(strstr(f->run.why, "300000 characters"));
    s.id = "bad/id";
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    free(huge);
    free(file);
    free(below);
    free(ok);
}

static bool tree_has(const char *dir, const char *words)
{
    DIR *d = opendir(dir);
    struct dirent *de;
    bool has = false;
    while (d && !has && (de = readdir(d))) {
        char *path = fs_join(dir, de->d_name), *text = NULL;
        struct err e;
        if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
            ;
        else if (de->d_type == DT_DIR)
            has = tree_has(path, words);
        else if (fs_read(path, 1 << 20, &text, NULL, &e) == 0)
            has = strstr(text, words) != NULL;
        free(text);
        free(path);
    }
    if (d)
        closedir(d);
    return has;
}

static bool any_command_line_has(const char *words)
{
    DIR *d = opendir("/proc");
    struct dirent *de;
    bool has = false;
    while ((de = readdir(d))) {
        char path[64], *text;
        size_t len;
        snprintf(path, sizeof path, "/proc/%.20s/cmdline", de->d_name);
        if (de->d_name[0] < '1' || de->d_name[0] > '9' ||
            fs_read(path, 1 << 20, &text, &len, NULL) < 0)
            continue;
        has = has || memmem(text, len, words, strlen(words));
        free(text);
    }
    closedir(d);
    return has;
}

static void test_secrets_stay_out_of_sight(void **state)
{
    struct fixture *f = *state;
    const char *secret = "sw0rdfish-7e1c";
    struct kv env[] = {{.name = "PASSWORD", .value = secret, .is_secret = true}};
    open_ready(f);
    start_with(f, "secret", "echo ${#PASSWORD}; while [ ! -e ../go ]; do sleep 0.01; done", env, 1);
    WAIT(f, f->run_answers == 1 && file_has(f, "out/stdout.txt", "14\n"));
    assert_false(any_command_line_has(secret));
    assert_false(tree_has(f->root, secret));
    char *go = in_root(f, "work/go");
    ASK(f, node_append(f->link, go, "", on_done, f));
    free(go);
    WAIT(f, f->n_ended == 1);
    assert_false(tree_has(f->root, secret));
}

static void test_clean_environment(void **state)
{
    struct fixture *f = *state;
    setenv("BATCHAID_TEST_LEAK", "1", 1);
    open_ready(f);
    start(f, "env", "env; ls -l /proc/$$/fd | wc -l");
    WAIT(f, f->n_ended == 1);
    assert_false(file_has(f, "out/stdout.txt", "LEAK"));
    assert_true(file_has(f, "out/stdout.txt", "PATH="));
    /* total, 0, 1, 2 and what bash itself holds for the pipe of this very command: no more */
    assert_true(file_has(f, "out/stdout.txt", "\n4\n") || file_has(f, "out/stdout.txt", "\n5\n"));
    unsetenv("BATCHAID_TEST_LEAK");
}

static void test_stderr_tail(void **state)
{
    struct fixture *f = *state;
    open_ready(f);
    start(f, "long", "for i in $(seq 1000); do echo \"line $i of many\" >&2; done");
    WAIT(f, f->n_ended == 1);
    const char *tail = f->ended[0].tail;
    assert_true(strlen(tail) <= NODE_TAIL_MAX && strlen(tail) > NODE_TAIL_MAX - 40);
    assert_memory_equal(tail, "line ", 5);
    assert_non_null(strstr(tail, "line 1000 of many\n"));
    /* The next task appends to the same file: its tail starts with what it wrote itself. */
    start(f, "binary", "printf 'a\\377b\\000c\\303\\244\\n' >&2");
    WAIT(f, f->n_ended == 2);
    assert_string_equal(f->ended[1].tail, "a\xef\xbf\xbd"
                                          "b\xef\xbf\xbd"
                                          "c\xc3\xa4\n");
    start(f, "silent", "true");
    WAIT(f, f->n_ended == 3);
    assert_string_equal(f->ended[2].tail, "");
}

static void test_forget(void **state)
{
    struct fixture *f = *state;
    open_ready(f);
    start(f, "gone", "while [ ! -e ../go ]; do sleep 0.01; done");
    ASK(f, node_forget(f->link, "gone", on_done, f));
    assert_int_equal(f->why.code, ERR_CONFLICT);
    char *go = in_root(f, "work/go");
    ASK(f, node_append(f->link, go, "", on_done, f));
    WAIT(f, f->n_ended == 1);
    ASK(f, node_forget(f->link, "gone", on_done, f));
    assert_string_equal(f->why.msg, "");
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 0);
    close_link(f);
    open_ready(f);
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 0);
    assert_int_equal(f->n_ended, 0);
    free(go);
}

static void test_files_and_mounts(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    char now[PATH_MAX] = "";
    open_ready(f);
    char *share = in_root(f, "shares/a"), *other = in_root(f, "shares/b"),
         *target = in_root(f, "mnt/x"), *full = in_root(f, "full/dir"), *deep = in_root(f, "d/e/f"),
         *file = in_root(f, "full/dir/hosts");
    ASK(f, node_mount_folder(f->link, share, target, on_done, f));
    ASK(f, node_mount_folder(f->link, share, target, on_done, f)); /* done already */
    assert_string_equal(f->why.msg, "");
    assert_true(readlink(target, now, sizeof now - 1) > 0);
    assert_string_equal(now, share);
    assert_int_equal(stat(target, &st), 0);
    ASK(f, node_mount_folder(f->link, other, target, on_done, f));
    memset(now, 0, sizeof now);
    assert_true(readlink(target, now, sizeof now - 1) > 0);
    assert_string_equal(now, other);

    ASK(f, node_write_file(f->link, file, "127.0.0.1\n", 0640, on_done, f));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_true(file_has(f, "full/dir/hosts", "127.0.0.1\n"));
    ASK(f, node_mount_folder(f->link, share, full, on_done, f));
    assert_int_equal(f->why.code, ERR_CONFLICT);
    assert_non_null(strstr(f->why.msg, full));
    ASK(f, node_mount_folder(f->link, share, "/tmp/elsewhere", on_done, f));
    assert_int_equal(f->why.code, ERR_INVALID_PATH);

    const char *dirs[] = {deep, share};
    ASK(f, node_make_dirs(f->link, dirs, 2, on_done, f));
    assert_int_equal(stat(deep, &st), 0);
    ASK(f, node_unmount(f->link, target, on_done, f));
    ASK(f, node_unmount(f->link, target, on_done, f));
    assert_string_equal(f->why.msg, "");
    assert_int_equal(lstat(target, &st), -1);
    char *all[] = {share, other, target, full, deep, file};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static bool is_empty(struct fixture *f, const char *relative)
{
    char *path = in_root(f, relative);
    DIR *d = opendir(path);
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    free(path);
    return n == 2;
}

static void test_remove_tree(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    open_ready(f);
    char outside[] = "/tmp/batchai-node-outside-XXXXXX";
    assert_non_null(mkdtemp(outside));
    char *precious = fs_join(outside, "precious"), *link = in_root(f, "job/link"),
         *through = in_root(f, "job/link/precious"), *job = in_root(f, "job"),
         *up = in_root(f, "../x"), *tasks = in_root(f, "tasks"),
         *ro = in_root(f, "job/ro/sub/file");
    ASK(f, node_append(f->link, precious, "x", on_done, f));
    ASK(f, node_mount_folder(f->link, outside, link, on_done, f));
    ASK(f, node_append(f->link, ro, "x", on_done, f));
    const char *refused[] = {outside, precious, through, up, tasks, "/", f->root, "relative"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ASK(f, node_remove_tree(f->link, refused[i], on_done, f));
        assert_int_equal(f->why.code, ERR_INVALID_PATH);
        assert_int_equal(stat(precious, &st), 0);
    }
    *strrchr(ro, '/') = '\0';
    assert_int_equal(chmod(ro, 0500), 0);
    ASK(f, node_remove_tree(f->link, job, on_done, f));
    assert_string_equal(f->why.msg, "");
    assert_int_equal(lstat(job, &st), -1);
    WAIT(f, is_empty(f, "trash"));
    assert_int_equal(stat(precious, &st), 0); /* the link went, not what it pointed at */
    ASK(f, node_remove_tree(f->link, job, on_done, f));
    assert_string_equal(f->why.msg, "");
    struct err e;
    assert_int_equal(fs_remove_tree(outside, &e), 0);
    char *all[] = {precious, link, through, job, up, tasks, ro};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static void test_many_tasks(void **state)
{
    struct fixture *f = *state;
    char ids[60][8];
    open_ready(f);
    for (int i = 0; i < 60; i++) {
        snprintf(ids[i], sizeof ids[i], "m%d", i);
        start_with(f, ids[i], "echo x", NULL, 0); /* pipelined */
    }
    WAIT(f, f->n_ended == 60);
    char *out = slurp(f, "out/stdout.txt");
    assert_int_equal(strlen(out), 120);
    free(out);
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 60);
}

static void test_long_task_list(void **state)
{
    struct fixture *f = *state;
    struct err e;
    char *dir = in_root(f, "tasks");
    assert_int_equal(fs_mkdirs(dir, 0700, &e), 0);
    for (int i = 0; i < 450; i++) {
        struct strbuf claim = STRBUF_INIT;
        strbuf_printf(&claim, "%s/c%d.claim", dir, i);
        FILE *file = fopen(claim.s, "w");
        assert_non_null(file);
        fclose(file);
        strbuf_free(&claim);
    }
    free(dir);
    open_ready(f);
    WAIT(f, f->n_ended == 450);
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 450);
}

static void test_missing_agent(void **state)
{
    struct fixture *f = *state;
    struct node_local_config c = {.loop = &f->loop,
                                  .log = &f->log,
                                  .agent_path = "/nowhere/batchai-node",
                                  .root = f->root,
                                  .callbacks = {on_ready, on_down, on_ended, f}};
    struct err e;
    assert_int_equal(node_open_local(&c, &f->link, &e), -1);
    assert_non_null(strstr(e.msg, "/nowhere/batchai-node"));
    c.agent_path = f->root; /* passes for executable, but cannot be executed */
    assert_int_equal(node_open_local(&c, &f->link, &e), -1);
    assert_non_null(strstr(e.msg, f->root));
    f->link = NULL;
}

static void test_agent_that_cannot_start(void **state)
{
    struct fixture *f = *state;
    struct err e;
    char *file = in_root(f, "file");
    assert_int_equal(fs_write_atomic(file, "", 0, 0644, &e), 0);
    char root[sizeof f->root];
    strcpy(root, f->root);
    snprintf(f->root, sizeof f->root, "%s", file);
    open_link(f);
    strcpy(f->root, root);
    f->log.level = LOG_LVL_ERROR + 1;
    ASK(f, node_signal(f->link, "x", SIGTERM, on_done, f));
    assert_int_equal(f->why.code, ERR_NODE_LOST);
    WAIT(f, f->down == 1);
    assert_non_null(strstr(f->why.msg, "exit code 1"));
    assert_non_null(strstr(f->why.msg, "not a directory"));
    ASK(f, node_signal(f->link, "x", SIGTERM, on_done, f)); /* after down: an error, once */
    assert_int_equal(f->why.code, ERR_NODE_LOST);
    assert_int_equal(f->down, 1);
    free(file);
}

static void test_close_answers_what_is_pending(void **state)
{
    struct fixture *f = *state;
    open_link(f);
    int before = f->answers;
    start_with(f, "pending", "true", NULL, 0);
    node_tasks(f->link, on_tasks, f);
    assert_int_equal(f->answers, before);
    node_close(f->link, on_closed, f);
    f->link = NULL;
    assert_int_equal(f->answers, before + 2);
    assert_int_equal(f->why.code, ERR_UNAVAILABLE);
    WAIT(f, f->closed == 1);
    assert_int_equal(f->ready, 0);
    assert_int_equal(f->down, 0);
    /* The request was on its way; the task is carried out all the same. */
    WAIT(f, file_has(f, "tasks/pending.exit", "exited"));
}

static void test_refused_requests(void **state)
{
    struct fixture *f = *state;
    open_ready(f);
    ASK(f, node_append(f->link, "/tmp/\xff", "x", on_done, f));
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    char *huge = xcalloc(1, 5 << 20);
    memset(huge, 'x', (5 << 20) - 1);
    ASK(f, node_append(f->link, f->root, huge, on_done, f));
    assert_int_equal(f->why.code, ERR_BODY_TOO_LARGE);
    free(huge);
    start(f, "after", "true"); /* the link is as good as before */
    WAIT(f, f->n_ended == 1);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_run_and_exit_code),
        TEST(test_same_id_starts_once),
        TEST(test_signals),
        TEST(test_signal_while_starting),
        TEST(test_agent_killed),
        TEST(test_supervisor_killed),
        TEST(test_supervisor_and_agent_killed),
        TEST(test_claim_without_start),
        TEST(test_reboot),
        TEST(test_daemonized_processes_die),
        TEST(test_failures_to_start),
        TEST(test_secrets_stay_out_of_sight),
        TEST(test_clean_environment),
        TEST(test_stderr_tail),
        TEST(test_forget),
        TEST(test_files_and_mounts),
        TEST(test_remove_tree),
        TEST(test_many_tasks),
        TEST(test_long_task_list),
        TEST(test_missing_agent),
        TEST(test_agent_that_cannot_start),
        TEST(test_close_answers_what_is_pending),
        TEST(test_refused_requests),
    };
    (void)signal(SIGPIPE, SIG_IGN); /* as node.h asks */
    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
