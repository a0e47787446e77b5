/* SPDX-License-Identifier: MIT
 *
 * Fake nodes that keep files: what tasks write, and when; tasks that wait; roots.
 */
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "nodeagent-proto/link/fake_disk.h"
#include "test/unit/nodeagent-proto/link/fake_world.h"

static char *copy(const char *text)
{
    return xstrdup(text);
}

/* The task "writes" says "one" at once and "two" after 2 s, and ends after 3 s; "waits" is held. */
static void plan(void *ctx, const struct fake_node *n, const struct task_spec *spec,
                 struct fake_task *out)
{
    (void)ctx;
    assert_int_equal(fake_id(n), 7);
    *out = (struct fake_task){.run_us = 3 * SECOND};
    if (strcmp(spec->id, "waits") == 0)
        out->hold = 42;
    if (strcmp(spec->id, "writes") != 0)
        return;
    out->outputs = xcalloc(2, sizeof *out->outputs);
    out->n_outputs = 2;
    out->outputs[0] = (struct fake_output){0, copy(spec->stdout_path), copy("one\n"), 4};
    out->outputs[1] = (struct fake_output){2 * SECOND, copy(spec->stdout_path), copy("two\n"), 4};
}

struct disk {
    struct fake_world w;
    struct fake_end d;
    char top[40], root[60];
};

static void open_disk(struct disk *x)
{
    struct err e;
    world_open(&x->w, 3);
    fake_provider_free(x->w.provider);
    fake_nodes_free(x->w.fake);
    const struct fake_config c = {
        .loop = x->w.nodes_loop, .log = &x->w.log, .keeps_files = true, .plan = plan};
    x->w.fake = fake_nodes_create(&c);
    x->w.provider = fake_provider_new(x->w.fake, x->w.loop);
    snprintf(x->top, sizeof x->top, "/tmp/batchaid-unit-XXXXXX");
    assert_non_null(mkdtemp(x->top));
    snprintf(x->root, sizeof x->root, "%s/node", x->top);
    const struct node_target at = {.id = 7, .name = "n", .root = x->root, .epoch = {1, "life"}};
    const struct node_callbacks callbacks = {on_ready, on_down, on_ended, NULL, &x->d};
    x->d = (struct fake_end){.link = NULL};
    assert_int_equal(node_provider_open(x->w.provider, &at, &callbacks, &x->d.link, &e), 0);
    pass(&x->w, SECOND);
    assert_true(x->d.ready);
}

static void close_disk(struct disk *x)
{
    struct err e;
    hang_up(&x->w, &x->d);
    assert_true(node_provider_keeps_roots(x->w.provider));
    node_provider_remove_root(x->w.provider, x->root);
    assert_false(node_provider_has_root(x->w.provider, x->root));
    assert_int_equal(fake_count(x->w.fake), 0);
    world_close(&x->w);
    assert_int_equal(fs_remove_tree(x->top, &e), 0);
}

static const char *path_in(const struct disk *x, const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", x->root, name);
    return path;
}

static void begin_task(struct disk *x, const char *id)
{
    char out[200], log[200];
    struct heard_answer a = {.end = &x->d};
    snprintf(out, sizeof out, "%s", path_in(x, "share/deep/stdout.txt"));
    snprintf(log, sizeof log, "%s", path_in(x, "log/job.log"));
    const struct task_spec spec = {.id = id,
                                   .command_line = "command",
                                   .cwd = x->root,
                                   .stdout_path = out,
                                   .stderr_path = path_in(x, "err"),
                                   .log_path = log,
                                   .step = "job"};
    node_run(x->d.link, &spec, take_task, &a);
    pass(&x->w, SECOND / 10);
    assert_int_equal(a.code, ERR_NONE);
    assert_int_equal(a.status.state, TASK_RUNNING);
}

static void assert_file(const struct disk *x, const char *name, const char *text)
{
    struct err e;
    char *data;
    if (fs_read(path_in(x, name), 10000, &data, NULL, &e) < 0)
        fail_msg("%s", e.msg);
    assert_string_equal(data, text);
    free(data);
}

TEST(test_output_comes_when_it_is_due)
{
    struct disk x;
    struct heard_answer a = {.end = NULL};
    struct stat st;
    open_disk(&x);
    char source[100];
    snprintf(source, sizeof source, "%s/source", x.top);
    node_ask(x.d.link, REQUEST(mount_folder, .source = source, .target = path_in(&x, "share")),
             take_done, &a);
    pass(&x.w, SECOND);
    assert_int_equal(a.code, ERR_NONE);
    begin_task(&x, "writes");
    assert_file(&x, "share/deep/stdout.txt", "one\n");
    pass(&x.w, 2 * SECOND);
    assert_file(&x, "share/deep/stdout.txt", "one\ntwo\n");
    assert_int_equal(x.d.ends, 0);
    pass(&x.w, SECOND);
    assert_int_equal(x.d.ends, 1);
    assert_file(&x, "err", "");
    snprintf(source, sizeof source, "%s/source/deep/stdout.txt", x.top);
    assert_int_equal(stat(source, &st), 0); /* it is in the folder that is mounted */
    close_disk(&x);
    assert_int_equal(access(x.top, F_OK), -1);
}

TEST(test_a_task_that_is_held_ends_its_time_after_it_was_let_go)
{
    struct disk x;
    open_disk(&x);
    begin_task(&x, "waits");
    pass(&x.w, 1000 * SECOND);
    assert_int_equal(x.d.ends, 0);
    assert_int_equal(fake_count_held(x.w.fake, 42), 1);
    assert_int_equal(fake_let_go(x.w.fake, 41), 0);
    assert_int_equal(fake_let_go(x.w.fake, 42), 1);
    pass(&x.w, 2 * SECOND);
    assert_int_equal(x.d.ends, 0);
    pass(&x.w, SECOND);
    assert_int_equal(x.d.ends, 1);
    assert_int_equal(fake_count_held(x.w.fake, 42), 0);
    close_disk(&x);
}

TEST(test_a_task_that_is_held_can_be_killed)
{
    struct disk x;
    open_disk(&x);
    begin_task(&x, "waits");
    assert_int_equal(send_signal(&x.w, &x.d, "waits", SIGTERM), ERR_NONE);
    pass(&x.w, SECOND);
    assert_int_equal(x.d.ends, 1);
    assert_int_equal(x.d.last.signal, SIGTERM);
    close_disk(&x);
}

TEST(test_nothing_is_removed_outside_of_the_root)
{
    struct disk x;
    struct heard_answer a = {.end = NULL};
    struct err e;
    char beside[80];
    open_disk(&x);
    snprintf(beside, sizeof beside, "%s/beside", x.top);
    assert_int_equal(fs_mkdirs(beside, 0777, &e), 0);
    node_ask(x.d.link, REQUEST(remove_tree, .path = beside), take_done, &a);
    pass(&x.w, SECOND);
    assert_int_equal(a.code, ERR_INVALID_PATH);
    assert_int_equal(access(beside, F_OK), 0);
    close_disk(&x);
}

TEST(test_a_path_outside_of_the_root_lies_in_it)
{
    static const struct {
        const char *path, *lies;
    } paths[] = {
        {"/n/a", "/n/a"},
        {"/n", "/n"},
        {"wd/a", "wd/a"},
        {"/n/..a/b..", "/n/..a/b.."},
        {"/etc/motd", "/n/host/etc/motd"},
        {"/nn/a", "/n/host/nn/a"},
        {"/n/../etc", "/n/host/n/etc"},
        {"/x/../../a//b/..", "/n/host/x/a/b"},
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char *at = fake_disk_place("/n", paths[i].path);
        assert_string_equal(at, paths[i].lies);
        free(at);
    }
}
