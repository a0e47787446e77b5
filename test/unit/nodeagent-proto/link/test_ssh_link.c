/* SPDX-License-Identifier: MIT
 *
 * The SSH link against a real sshd: tasks over it, and what happens when it breaks.
 */
#include <malloc.h>

#include "test/unit/nodeagent-proto/link/sshd.h"

static const struct node_program *agent_of(const struct ssh_fixture *s)
{
    return &s->agents->images[0].programs[NODE_PROGRAM_AGENT];
}

/* The last file in the agent directory; how many files there are, temporary ones too. */
static int agent_files(struct ssh_fixture *s, struct stat *st)
{
    DIR *d = opendir(s->agent_dir);
    struct dirent *de;
    int n = 0;
    while (d && (de = readdir(d))) {
        if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
            continue;
        assert_int_equal(fstatat(dirfd(d), de->d_name, st, 0), 0);
        n++;
    }
    if (d)
        closedir(d);
    return n;
}

READY_SSH_TEST(test_tasks)
{
    struct fixture *f = &s->f;
    start(f, "plain", "echo out; echo err >&2; exit 3");
    assert_int_equal(nth_end(f, 1)->s.state, TASK_EXITED);
    assert_int_equal(f->ended[0].s.exit_code, 3);
    assert_string_equal(f->ended[0].tail, "err\n");
    assert_true(file_has(f, "out/stdout.txt", "out\n"));
    start(f, "killed", "echo $$ > ../pid; sleep 1000");
    WAIT(f, read_pid(f, "work/pid") > 1);
    ASKED(f, signal, .task = "killed", .signal = SIGTERM);
    assert_int_equal(nth_end(f, 2)->s.signal, SIGTERM);
}

READY_SSH_TEST(test_uploaded_once)
{
    struct stat first, second;
    assert_int_equal(agent_files(s, &first), 1);
    assert_int_equal(first.st_mode & 0777, 0755);
    assert_int_equal((size_t)first.st_size, agent_of(s)->n);
    close_link(&s->f);
    ssh_ready(s);
    assert_int_equal(agent_files(s, &second), 1);
    assert_true(first.st_ino == second.st_ino && first.st_mtim.tv_nsec == second.st_mtim.tv_nsec);
}

READY_SSH_TEST(test_damaged_agent_is_replaced)
{
    struct strbuf path = STRBUF_INIT;
    struct stat st;
    struct err e;
    close_link(&s->f);
    strbuf_printf(&path, "%s/%s", s->agent_dir, agent_of(s)->name);
    char *bytes = xcalloc(1, agent_of(s)->n); /* of the right size, but not it */
    assert_int_equal(fs_write_atomic(path.s, bytes, agent_of(s)->n, 0755, &e), 0);
    free(bytes);
    strbuf_free(&path);
    ssh_ready(s);
    assert_int_equal(agent_files(s, &st), 1);
}

/* Runs a command line of Windows; whether its task could be started. */
static bool runs_windows(struct fixture *f, const char *id, const char *line)
{
    const char *const argv[] = {TASK_CMD, line};
    char *out = in_root(f, "windows.txt");
    struct task_spec t = {.id = id,
                          .command_line = line,
                          .argv = argv,
                          .n_argv = 2,
                          .cwd = f->root,
                          .stdout_path = out,
                          .stderr_path = out,
                          .step = "task"};
    int ended = f->n_ended;
    ASK(f, node_run(f->link, &t, on_run, f));
    WAIT(f, f->n_ended == ended + 1);
    return f->ended[ended].s.state == TASK_EXITED;
}

SSH_TEST(test_batchai_cmd_is_brought_once)
{
    struct stat st;
    char *cmd = built_cmd(&s->f);
    load_programs(s, machine(), s->f.agent, cmd);
    for (int i = 0; i < 2; i++) {
        ssh_ready(s);
        assert_int_equal(agent_files(s, &st), 2);
        assert_true(runs_windows(&s->f, i == 0 ? "first" : "second", "cmd /c echo %OS%& exit 3"));
        assert_int_equal(s->f.ended[s->f.n_ended - 1].s.exit_code, 3);
        assert_true(file_has(&s->f, "windows.txt", "Windows_NT\n"));
        close_link(&s->f);
    }
}

/* The node serves all other tasks. */
SSH_TEST(test_tasks_say_why_batchai_cmd_was_not_brought)
{
    struct fixture *f = &s->f;
    char *cmd = built_cmd(f);
    load_programs(s, machine(), f->agent, "/nowhere/batchai-cmd");
    ssh_ready(s);
    assert_false(runs_windows(f, "no-file", "cmd /c echo a"));
    assert_says(f->run.why, "this node has no batchai-cmd", "/nowhere/batchai-cmd");
    start(f, "other", "exit 4");
    assert_int_equal(nth_end(f, 2)->s.exit_code, 4);
    close_link(f);
    load_programs(s, machine(), f->agent, cmd);
    char *name = s->agents->images[0].programs[NODE_PROGRAM_CMD].name;
    char *last = &name[strlen(name) - 1]; /* of the SHA-256, as if bytes had changed on their way */
    *last = *last == '0' ? '1' : '0';
    ssh_ready(s);
    assert_false(runs_windows(f, "not-whole", "cmd /c echo a"));
    assert_says(f->run.why, "the SHA-256 differs");
    close_link(f);
    load_agent(s, machine(), f->agent);
    ssh_ready(s);
    assert_false(runs_windows(f, "not-asked", "cmd /c echo a"));
    assert_says(f->run.why, "batch.windows_commands");
}

/* What opening a link adds to the main heap. Sanitizers have a heap of their own: always 0. */
static size_t heap_of_a_link(struct ssh_fixture *s)
{
    size_t before = mallinfo2().uordblks;
    ssh_ready(s);
    size_t after = mallinfo2().uordblks;
    close_link(&s->f);
    return after > before ? after - before : 0;
}

/* Thousands of links are open at once. */
SSH_TEST(test_an_upload_leaves_nothing_in_memory)
{
    struct err e;
    (void)heap_of_a_link(s); /* what the first one brings in stays */
    for (int i = 0; i < 5; i++) {
        size_t idle = heap_of_a_link(s);
        assert_int_equal(fs_remove_tree(s->agent_dir, &e), 0);
        size_t uploaded = heap_of_a_link(s);
        if (uploaded > idle + 16384)
            fail_msg("a link holds %zu bytes, and %zu after an upload", idle, uploaded);
    }
}

READY_SSH_TEST(test_link_down_mid_task)
{
    struct fixture *f = &s->f;
    struct err e;
    start(f, "survivor", "echo up; while [ ! -e ../go ]; do sleep 0.01; done; echo done; exit 9");
    assert_true(signal_connections(s->sshd, SIGKILL) > 0);
    WAIT(f, f->down == 1);
    assert_why(f, ERR_NODE_LOST, "closed the connection");
    close_link(f);
    ssh_ready(s);
    start(f, "survivor", "echo must not run");
    assert_int_equal(f->run.s.state, TASK_RUNNING);
    assert_int_equal(fs_write_atomic(in_root(f, "work/go"), "", 0, 0644, &e), 0);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 9);
    assert_string_equal(slurp(f, "out/stdout.txt"), "up\ndone\n");
}

READY_SSH_TEST(test_task_that_ended_without_a_link)
{
    struct fixture *f = &s->f;
    start(f, "alone", "while [ ! -e ../go ]; do sleep 0.01; done; exit 5");
    close_link(f);
    put_file(in_root(f, "work/go"), "");
    WAIT(f, file_has(f, "tasks/alone.exit", "\"exit_code\":5"));
    ssh_ready(s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 5);
    ASKED(f, forget, .task = "alone");
    assert_int_equal(f->why.code, ERR_NONE);
}

READY_SSH_TEST(test_agent_killed)
{
    struct fixture *f = &s->f;
    /* The uploaded agent has the name of its hash, cut to 15 characters. */
    start(f, "x", "echo $PPID > ../supervisor; sleep 1000");
    WAIT(f, read_pid(f, "work/supervisor") > 1);
    char path[64], *text;
    int agent = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", read_pid(f, "work/supervisor"));
    assert_int_equal(fs_read(path, 4096, &text, NULL, NULL), 0);
    assert_int_equal(sscanf(strrchr(text, ')'), ") %*c %d", &agent), 1);
    free(text);
    assert_true(agent > 1);
    assert_int_equal(kill(agent, SIGKILL), 0);
    WAIT(f, f->down == 1);
    if (!strstr(f->why.msg, "killed by signal KILL"))
        fail_msg("%s", f->why.msg);
    close_link(f);
    ssh_ready(s);
    ASKED(f, signal, .task = "x", .signal = SIGKILL);
    WAIT(f, f->n_ended == 1);
}

/* The machine is there, but says nothing any more. */
SSH_TEST(test_dead_peer)
{
    struct fixture *f = &s->f;
    s->config.keepalive_s = 1;
    s->config.dead_ms = 4500;
    ssh_ready(s);
    uint64_t begun = uv_now(&f->loop);
    /* Idle for longer than dead_ms: what is alive answers, so it stays up. */
    WAIT(f, f->down || uv_now(&f->loop) - begun > 5500);
    assert_int_equal(f->down, 0);
    assert_true(signal_connections(s->sshd, SIGSTOP) > 0);
    WAIT(f, f->down == 1);
    signal_connections(s->sshd, SIGKILL);
    assert_says(f->why.msg, "the machine has sent nothing for");
}

static void send_large_frames(struct fixture *f)
{
    struct err e;
    size_t n = 3900 * 1000;
    char *text = xcalloc(1, n + 1), *paths[6];
    int before = f->answers;
    for (int i = 0; i < 6; i++) { /* far more than any window, without waiting */
        char name[16];
        memset(text, 'a' + i, n);
        snprintf(name, sizeof name, "big-%d", i);
        paths[i] = in_root(f, name);
        node_ask(f->link, REQUEST(write_file, .path = paths[i], .text = text, .mode = 0644),
                 on_done, f);
    }
    WAIT(f, f->answers == before + 6);
    assert_string_equal(f->why.msg, "");
    for (int i = 0; i < 6; i++) {
        char *back;
        size_t len;
        memset(text, 'a' + i, n);
        assert_int_equal(fs_read(paths[i], n + 1, &back, &len, &e), 0);
        assert_int_equal(len, n);
        assert_memory_equal(back, text, n);
        free(back);
    }
    free(text);
}

READY_SSH_TEST(test_large_frames)
{
    send_large_frames(&s->f);
}

/* What happens on a link of some age: new keys are agreed on under way. */
SSH_TEST(test_new_keys_under_way)
{
    stop_sshd(s);
    start_sshd(s, "RekeyLimit 1M\n");
    ssh_ready(s);
    send_large_frames(&s->f);
    start(&s->f, "after", "exit 3");
    WAIT(&s->f, s->f.n_ended == 1);
    char *log;
    struct err e;
    assert_int_equal(fs_read(s->sshd_log, 64 << 20, &log, NULL, &e), 0);
    int times = 0;
    for (char *at = log; (at = strstr(at, "rekey in after")); at++)
        times++;
    assert_true(times > 5);
    free(log);
}

/* Much in one direction while much comes in the other. */
SSH_TEST(test_many_answers)
{
    struct fixture *f = &s->f;
    struct err e;
    char *dir = in_root(f, "tasks"), *file = in_root(f, "log");
    assert_int_equal(fs_mkdirs(dir, 0700, &e), 0);
    for (int i = 0; i < 450; i++) {
        struct strbuf claim = STRBUF_INIT;
        strbuf_printf(&claim, "%s/c%d.claim", dir, i);
        close(open(claim.s, O_WRONLY | O_CREAT, 0600));
        strbuf_free(&claim);
    }
    ssh_ready(s);
    WAIT(f, f->n_ended == 450);
    int before = f->answers;
    char text[8192];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (int i = 0; i < 100; i++) {
        node_ask(f->link, REQUEST(append, .path = file, .text = text), on_done, f);
        node_tasks(f->link, on_tasks, f);
    }
    WAIT(f, f->answers == before + 200);
    assert_int_equal(f->n_tasks, 450);
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_size, 100 * (sizeof text - 1));
}

READY_SSH_TEST(test_big_output)
{
    struct fixture *f = &s->f;
    struct stat st;
    start(f, "big",
          "head -c 20000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero | "
          "tr '\\0' y >&2; echo the end >&2; exit 1");
    assert_int_equal(nth_end(f, 1)->s.exit_code, 1);
    assert_says(f->ended[0].tail, "the end\n");
    assert_int_equal(stat(in_root(f, "out/stdout.txt"), &st), 0);
    assert_int_equal(st.st_size, 20000000);
}

/* What was asked for before node_close() is carried out. */
READY_SSH_TEST(test_close_sends_what_is_queued)
{
    struct fixture *f = &s->f;
    int before = f->answers;
    start_with(f, "last", "exit 7", NULL, 0);
    node_close(f->link, on_closed, f);
    f->link = NULL;
    assert_int_equal(f->answers, before + 1);
    assert_int_equal(f->why.code, ERR_UNAVAILABLE);
    WAIT(f, f->closed == 1);
    assert_int_equal(f->down, 0);
    WAIT(f, file_has(f, "tasks/last.exit", "\"exit_code\":7"));
}

/* node_close() after any number of turns of the loop: nothing leaks, no callback comes late. */
SSH_TEST(test_close_at_any_time)
{
    struct fixture *f = &s->f;
    bool was_ready = false;
    /* How many turns a login takes depends on how its bytes arrive: on a busy machine, many. */
    for (int turns = 0; !was_ready && turns < 20000; turns += turns < 12    ? 1
                                                              : turns < 200 ? 9
                                                                            : turns / 2) {
        ssh_open(s);
        start_waiting(f);
        for (int i = 0; i < turns && !f->ready && !f->down; i++)
            uv_run(&f->loop, UV_RUN_ONCE);
        stop_waiting(f);
        assert_int_equal(f->down, 0);
        was_ready = f->ready;
        close_link(f);
        assert_int_equal(f->down, 0);
    }
    assert_true(was_ready);
}

static void close_in_callback(void *ctx, const struct node_facts *facts)
{
    struct fixture *f = ctx;
    on_ready(ctx, facts);
    node_close(f->link, on_closed, f);
    f->link = NULL;
}

SSH_TEST(test_close_in_a_callback)
{
    s->config.callbacks.ready = close_in_callback;
    ssh_open(s);
    WAIT(&s->f, s->f.closed == 1);
    assert_int_equal(s->f.ready, 1);
    assert_int_equal(s->f.down, 0);
}
