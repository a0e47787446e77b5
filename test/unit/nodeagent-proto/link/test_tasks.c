/* SPDX-License-Identifier: MIT
 *
 * A task of a local link with the real agent: started once, watched, signalled, its end told.
 */
#include "lib/strbuf.h"
#include "test/unit/nodeagent-proto/link/fixture.h"

READY_TEST(test_run_and_exit_code)
{
    struct kv env[] = {{.name = "GREETING", .value = "hello there"}};
    start_with(f, "one", "echo $GREETING; pwd; echo oops >&2; exit 3", env, 1);
    WAIT(f, f->n_ended == 1);
    assert_int_equal(f->run_answers, 1);
    assert_int_equal(f->run.s.state, TASK_RUNNING);
    const struct link_seen *t = &f->ended[0];
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

READY_TEST(test_same_id_starts_once)
{
    start_with(f, "once", "echo ran; while [ ! -e go ]; do sleep 0.01; done; exit 5", NULL, 0);
    start_with(f, "once", "echo ran", NULL, 0); /* while the first is being started */
    WAIT(f, f->run_answers == 2 || f->n_ended);
    assert_int_equal(f->run.s.state, TASK_RUNNING);
    start(f, "once", "echo ran");
    assert_int_equal(f->run.s.state, TASK_RUNNING);
    ASKED(f, append, .path = in_root(f, "work/here/go"), .text = "now");
    WAIT(f, f->n_ended == 1);
    start(f, "once", "echo ran");
    assert_int_equal(f->run.s.state, TASK_EXITED);
    assert_int_equal(f->run.s.exit_code, 5);
    assert_int_equal(f->n_ended, 1);
    assert_string_equal(slurp(f, "out/stdout.txt"), "ran\n");
}

READY_TEST(test_signals)
{
    /* A shell that stays, so that the signal has to reach the whole group. */
    start(f, "term", "trap 'echo got it; exit 7' TERM; echo up; sleep 1000 & wait");
    WAIT(f, file_has(f, "out/stdout.txt", "up\n"));
    ASKED(f, signal, .task = "term", .signal = SIGTERM);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 7);
    assert_true(file_has(f, "out/stdout.txt", "got it\n"));

    start(f, "kill", "trap '' TERM; echo deaf; while true; do sleep 0.01; done");
    WAIT(f, file_has(f, "out/stdout.txt", "deaf\n"));
    ASKED(f, signal, .task = "kill", .signal = SIGTERM);
    ASKED(f, signal, .task = "kill", .signal = SIGKILL);
    assert_int_equal(nth_end(f, 2)->s.signal, SIGKILL);
    assert_int_equal(f->ended[1].s.exit_code, -1);
    assert_true(file_has(f, "out/execution.log", "killed by signal 9 (Killed)"));

    ASKED(f, signal, .task = "kill", .signal = SIGTERM); /* is over: success */
    assert_string_equal(f->why.msg, "");
    DONE(f, signal, .task = "never-was", .signal = SIGTERM);
}

READY_TEST(test_signal_while_starting)
{
    int before = f->answers;
    start_with(f, "early", "sleep 1000", NULL, 0);
    node_ask(f->link, REQUEST(signal, .task = "early", .signal = SIGKILL), on_done, f);
    WAIT(f, f->answers == before + 2 && f->n_ended == 1);
    assert_int_equal(f->ended[0].s.signal, SIGKILL);
}

READY_TEST(test_daemonized_processes_die)
{
    start(
        f, "daemons",
        "(setsid env -i sh -c '(echo $$ > ../a; exec sleep 1000) & wait' &) ; sh -c 'sleep 1000 & "
        "echo $! > ../b'; until [ -s ../a ]; do sleep 0.01; done; exit 0");
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    assert_true(read_pid(f, "work/a") > 1 && read_pid(f, "work/b") > 1);
    assert_true(gone(read_pid(f, "work/a")));
    assert_true(gone(read_pid(f, "work/b")));
    assert_true(file_has(f, "out/execution.log", "it left behind were killed"));
}

/* No shell is in between. The program is looked for in the PATH that the task has, then in cwd. */
READY_TEST(test_a_program_without_a_shell)
{
    const char *const echo[] = {"echo", "$HOME", "a  b", "*"}, *const own[] = {"own.sh", "x"},
                      *const none[] = {"no-such-program"}, *const no_file[] = {"./nothing/there"},
                      *const not_ours[] = {"/"};
    char *out = in_root(f, "argv.txt"), *script = in_root(f, "own.sh");
    struct task_spec s = {.id = "argv",
                          .command_line = "shown alone",
                          .argv = echo,
                          .n_argv = 4,
                          .cwd = f->root,
                          .stdout_path = out,
                          .stderr_path = out,
                          .step = "task"};
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    assert_true(file_has(f, "argv.txt", "$HOME a  b *\n"));

    ASKED(f, write_file, .path = script, .text = "echo own $1; exit 5\n", .mode = 0755);
    s.id = "own";
    s.argv = own;
    s.n_argv = 2;
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(nth_end(f, 2)->s.exit_code, 5);
    assert_true(file_has(f, "argv.txt", "own x\n"));

    s.n_argv = 1;
    s.id = "none";
    s.argv = none;
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_int_equal(f->run.s.exit_code, TASK_NO_PROGRAM);
    assert_says(f->run.why, "no-such-program");
    WAIT(f, f->n_ended == 3);
    s.id = "no-file";
    s.argv = no_file;
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->run.s.exit_code, TASK_NO_PROGRAM);
    WAIT(f, f->n_ended == 4);
    s.id = "not-ours";
    s.argv = not_ours;
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_int_equal(f->run.s.exit_code, -1);
    WAIT(f, f->n_ended == 5);
}

/* The interpreter of Windows command lines needs no path, and no file of that name takes its place.
 * The account of a task need not get to where it is. */
LINK_TEST(test_command_lines_of_windows)
{
    char *cmd = built_cmd(f), *out = in_root(f, "own.txt");
    const char *const own[] = {TASK_CMD, "cmd /c echo %OS%& exit 3"};
    struct task_spec s = {.id = "windows",
                          .command_line = "shown alone",
                          .argv = own,
                          .n_argv = 2,
                          .cwd = f->root,
                          .stdout_path = out,
                          .stderr_path = out,
                          .step = "task"};
    f->cmd = cmd;
    open_ready(f);
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(nth_end(f, 1)->s.exit_code, 3);
    assert_true(file_has(f, "own.txt", "Windows_NT\n"));
    close_link(f);

    static const char *const places[] = {NULL, "/nowhere/batchai-cmd"};
    static const char *const says[] = {"batch.windows_commands",
                                       "cannot open /nowhere/batchai-cmd"};
    static const char *const ids[] = {"not-asked", "not-there"};
    for (int i = 0; i < 2; i++) {
        f->cmd = places[i];
        open_ready(f);
        s.id = ids[i];
        ASK(f, node_run(f->link, &s, on_run, f));
        assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
        assert_says(f->run.why, "this node has no batchai-cmd", says[i]);
        close_link(f);
    }
}

READY_TEST(test_a_task_that_is_refused)
{
    const char *const refused[] = {TASK_NODE, TASK_REFUSE, "not on this site"};
    char *out = in_root(f, "own.txt");
    const struct task_spec s = {.id = "refused",
                                .command_line = "shown alone",
                                .argv = refused,
                                .n_argv = 3,
                                .cwd = f->root,
                                .stdout_path = out,
                                .stderr_path = out,
                                .step = "task"};
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_int_equal(f->run.s.exit_code, -1);
    assert_says(f->run.why, "not on this site");
    WAIT(f, f->n_ended == 1);
}

READY_TEST(test_failures_to_start)
{
    char *file = in_root(f, "file"), *below = in_root(f, "file/below"), *ok = in_root(f, "ok");
    ASKED(f, append, .path = file, .text = "x");
    struct task_spec s = {.id = "bad-cwd",
                          .command_line = "true",
                          .cwd = below,
                          .stdout_path = ok,
                          .stderr_path = ok,
                          .log_path = ok,
                          .step = "job"};
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_says(f->run.why, below);
    WAIT(f, f->n_ended == 1); /* the end is told as of any other task */
    assert_true(file_has(f, "ok", "job: could not be started on "));
    s.id = "bad-output";
    s.cwd = f->root;
    s.stdout_path = f->root;
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_says(f->run.why, f->root);
    s.stdout_path = ok;

    char *huge = xcalloc(1, 300001); /* one argument may have 128 KiB */
    memset(huge, 'x', 300000);
    s.id = "too-long";
    s.command_line = huge;
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_says(f->run.why, "300000 bytes");
    s.id = "bad/id";
    ASK(f, node_run(f->link, &s, on_run, f));
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    free(huge);
}

/* The reason names the path, and is cut where that is in the middle of a letter. */
READY_TEST(test_a_reason_that_is_cut_inside_a_letter_is_told)
{
    char name[1201] = "";
    for (size_t i = 0; i < 1200; i += 2)
        memcpy(name + i, "\xc3\xa4", 2);
    for (int odd = 0; odd < 2; odd++) {
        struct strbuf below = STRBUF_INIT;
        char *ok = in_root(f, "ok");
        strbuf_printf(&below, "%s/%s%s", f->root, odd ? "x" : "", name);
        const struct task_spec s = {.id = odd ? "odd" : "even",
                                    .command_line = "true",
                                    .cwd = f->root,
                                    .stdout_path = below.s,
                                    .stderr_path = ok,
                                    .log_path = ok,
                                    .step = "job"};
        ASK(f, node_run(f->link, &s, on_run, f));
        assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
        assert_says(f->run.why, "\xc3\xa4\xc3\xa4");
        strbuf_free(&below);
    }
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

READY_TEST(test_secrets_stay_out_of_sight)
{
    const char *secret = "sw0rdfish-7e1c";
    struct kv env[] = {{.name = "PASSWORD", .value = secret, .is_secret = true}};
    start_with(f, "secret", "echo ${#PASSWORD}; while [ ! -e ../go ]; do sleep 0.01; done", env, 1);
    WAIT(f, f->run_answers == 1 && file_has(f, "out/stdout.txt", "14\n"));
    assert_false(any_command_line_has(secret));
    assert_false(tree_has(f->root, secret));
    ASKED(f, append, .path = in_root(f, "work/go"), .text = "");
    WAIT(f, f->n_ended == 1);
    assert_false(tree_has(f->root, secret));
}

LINK_TEST(test_clean_environment)
{
    setenv("BATCHAID_TEST_LEAK", "1", 1);
    open_ready(f);
    start(f, "env", "env; ls -m /proc/self/fd");
    WAIT(f, f->n_ended == 1);
    assert_false(file_has(f, "out/stdout.txt", "LEAK"));
    assert_true(file_has(f, "out/stdout.txt", "PATH="));
    /* What ls was given, and the folder that it reads. There is no pipe in this command: how many
     * ends of it a shell still holds depends on who runs first. */
    assert_true(file_has(f, "out/stdout.txt", "\n0, 1, 2, 3\n"));
    unsetenv("BATCHAID_TEST_LEAK");
}

READY_TEST(test_stderr_tail)
{
    start(f, "long", "for i in $(seq 1000); do echo \"line $i of many\" >&2; done");
    WAIT(f, f->n_ended == 1);
    const char *tail = f->ended[0].tail;
    assert_true(strlen(tail) <= NODE_TAIL_MAX && strlen(tail) > NODE_TAIL_MAX - 40);
    assert_memory_equal(tail, "line ", 5);
    assert_says(tail, "line 1000 of many\n");
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

READY_TEST(test_forget)
{
    start(f, "gone", "while [ ! -e ../go ]; do sleep 0.01; done");
    ASKED(f, forget, .task = "gone");
    assert_int_equal(f->why.code, ERR_CONFLICT);
    ASKED(f, append, .path = in_root(f, "work/go"), .text = "");
    WAIT(f, f->n_ended == 1);
    DONE(f, forget, .task = "gone");
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 0);
    close_link(f);
    open_ready(f);
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 0);
    assert_int_equal(f->n_ended, 0);
}

READY_TEST(test_many_tasks)
{
    char ids[60][8];
    for (int i = 0; i < 60; i++) {
        snprintf(ids[i], sizeof ids[i], "m%d", i);
        start_with(f, ids[i], "echo x", NULL, 0); /* pipelined */
    }
    WAIT(f, f->n_ended == 60);
    assert_int_equal(strlen(slurp(f, "out/stdout.txt")), 120);
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 60);
}
