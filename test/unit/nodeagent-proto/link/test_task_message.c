/* SPDX-License-Identifier: MIT
 *
 * A task's specification on the wire: what it may ask for crosses, what it does not ask for leaves
 * no trace, so that a message is the one that earlier agents know; and records of earlier agents
 * are still understood.
 */
#include "nodeagent-proto/wire/message.h"
#include "test/unit/nodeagent-proto/link/task_fixture.h"

static const struct task_spec plain = {.id = "t",
                                       .command_line = "true",
                                       .cwd = "/w",
                                       .stdout_path = "/o",
                                       .stderr_path = "/e",
                                       .step = "job"};

TEST(test_everything_crosses)
{
    struct task_spec s = plain, got;
    struct arena a;
    struct err e;
    arena_init(&a);
    s.user = "somebody";
    s.keep_children = true;
    s.timeout_s = 30;
    s.signal_command = "docker exec c kill -$BATCHAI_SIGNAL 1";
    s.cgroups_path = "/n/containers/c";
    s.limits = (struct task_limits){.memory_bytes = (int64_t)5 << 40,
                                    .cpus = 3,
                                    .processes = 400,
                                    .open_files = 1024,
                                    .gpus = "0,2",
                                    .group = "G-1"};
    static const char *const reach[] = {"/s/nodes/n", "/s/storage/a/files/f"};
    s.confine = (struct task_confine){.hide = "/s", .reach = reach, .n_reach = 2};
    json_t *j = message_task_spec(&s);
    assert_int_equal(message_task_spec_read(j, &a, &got, &e), 0);
    assert_string_equal(got.confine.hide, "/s");
    assert_int_equal(got.confine.n_reach, 2);
    assert_string_equal(got.confine.reach[1], reach[1]);
    assert_string_equal(got.user, "somebody");
    assert_true(got.keep_children);
    assert_int_equal(got.timeout_s, 30);
    assert_string_equal(got.signal_command, s.signal_command);
    assert_string_equal(got.cgroups_path, s.cgroups_path);
    assert_string_equal(got.limits.gpus, "0,2");
    assert_string_equal(got.limits.group, "G-1");
    got.limits.gpus = s.limits.gpus;
    got.limits.group = s.limits.group;
    assert_memory_equal(&got.limits, &s.limits, sizeof s.limits);
    json_decref(j);
    arena_free(&a);
}

TEST(test_what_is_not_asked_for_is_left_out)
{
    struct task_spec got;
    struct arena a;
    struct err e;
    arena_init(&a);
    json_t *j = message_task_spec(&plain);
    char *text = json_dumps(j, JSON_COMPACT);
    assert_string_equal(text, "{\"id\":\"t\",\"command_line\":\"true\",\"cwd\":\"/w\",\"env\":[],"
                              "\"stdout_path\":\"/o\",\"stderr_path\":\"/e\",\"step\":\"job\"}");
    assert_int_equal(message_task_spec_read(j, &a, &got, &e), 0);
    assert_null(got.user);
    assert_null(got.signal_command);
    assert_null(got.confine.hide);
    assert_false(got.keep_children);
    assert_int_equal(got.timeout_s, 0);
    assert_int_equal(got.limits.memory_bytes, 0);
    free(text);
    json_decref(j);
    arena_free(&a);
}

TEST(test_negative_limits_are_refused)
{
    static const char *const bad[] = {"{\"timeout_s\": -1}", "{\"limits\": {\"cpus\": -2}}",
                                      "{\"limits\": {\"memory_bytes\": -1}}",
                                      "{\"limits\": {\"open_files\": \"many\"}}",
                                      "{\"keep_children\": 3}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct task_spec got;
        struct arena a;
        struct err e;
        arena_init(&a);
        json_t *j = message_task_spec(&plain), *more = json_loads(bad[i], 0, NULL);
        json_object_update(j, more);
        assert_int_equal(message_task_spec_read(j, &a, &got, &e), -1);
        json_decref(more);
        json_decref(j);
        arena_free(&a);
    }
}

static void put_record(struct fixture *f, const char *relative, const char *text)
{
    struct err e;
    assert_int_equal(fs_write_atomic(in_root(f, relative), text, strlen(text), 0600, &e), 0);
}

LINK_TEST(test_records_of_an_earlier_agent)
{
    struct err e;
    char *boot, *dir = in_root(f, "tasks");
    struct strbuf claim = STRBUF_INIT, start = STRBUF_INIT;
    assert_int_equal(fs_read("/proc/sys/kernel/random/boot_id", 64, &boot, NULL, &e), 0);
    assert_int_equal(fs_mkdirs(dir, 0700, &e), 0);
    strbuf_printf(&claim, "%sstarting\n", boot);
    strbuf_printf(&start,
                  "{\"supervisor\":2147483000,\"command\":2147483001,\"command_start\":5,"
                  "\"started_us\":77,\"stderr_from\":0,\"stderr_path\":\"%s/stderr\"}",
                  f->root);
    put_record(f, "tasks/old.claim", claim.s);
    put_record(f, "tasks/old.start", start.s);
    put_record(f, "stderr", "what it said\n");
    open_ready(f);
    assert_int_equal(nth_end(f, 1)->s.state, TASK_LOST);
    assert_int_equal(f->ended[0].s.started_us, 77);
    assert_string_equal(f->ended[0].tail, "what it said\n");
    strbuf_free(&claim);
    strbuf_free(&start);
    free(boot);
}

TEST(a_folder_seen_at_another_path_arrives)
{
    struct arena a;
    arena_init(&a);
    const struct task_spec sent = {.id = "t",
                                   .command_line = "c",
                                   .cwd = "/w",
                                   .stdout_path = "/o",
                                   .stderr_path = "/e",
                                   .step = "job",
                                   .view = {"/from", "/to"}};
    struct task_spec out;
    struct err e;
    json_t *j = message_task_spec(&sent);
    assert_int_equal(message_task_spec_read(j, &a, &out, &e), 0);
    assert_string_equal(out.view.source, "/from");
    assert_string_equal(out.view.target, "/to");
    json_decref(j);
    arena_free(&a);
}
