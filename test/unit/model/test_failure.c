/* SPDX-License-Identifier: MIT
 *
 * Failures as errors[] entries and as log lines.
 */
#include "model/failure.h"
#include "test/unit/model/doc.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/words.h"

static void assert_errors(const char *text, const char *expected)
{
    json_auto_t *list = json_loads(text, 0, NULL);
    doc_assert_text(list, expected);
}

static const struct failure full = {
    .code = FAIL_RUN_FAILED,
    .message = "Job failed with non-zero exit code",
    .node = "tvm-1",
    .step = "main",
    .command = "python3 train.py",
    .stderr_tail = "Traceback\nboom",
    .remedy = "look",
    .exit_code = 3,
};

ARENA_TEST(every_detail)
{
    assert_errors(failure_append(a, NULL, &full),
                  "[{'code': 'JobFailed', 'message': 'Job failed with non-zero exit code',"
                  " 'details': [{'name': 'node', 'value': 'tvm-1'}, {'name': 'step', 'value':"
                  " 'main'}, {'name': 'command', 'value': 'python3 train.py'}, {'name':"
                  " 'exitCode', 'value': '3'}, {'name': 'stderr', 'value': 'Traceback\\nboom'},"
                  " {'name': 'remedy', 'value': 'look'}]}]");
    assert_string_equal(failure_line(a, &full),
                        "JobFailed: Job failed with non-zero exit code (node tvm-1, step main, "
                        "exit code 3)");
}

ARENA_TEST(text_for_the_execution_log)
{
    static const struct failure f = {.code = FAIL_NODE_LOST, .message = "m", .exit_code = -1};
    assert_string_equal(failure_text(a, &batchai_front_words, &full),
                        "JobFailed: Job failed with non-zero exit code (node tvm-1, step main, "
                        "exit code 3)\n"
                        "    command: python3 train.py\n"
                        "    stderr: Traceback\n"
                        "        boom\n"
                        "    where to look: the settings of the job or the cluster, or an action "
                        "of its user\n"
                        "    remedy: look\n");
    assert_string_equal(failure_text(a, &batchai_front_words, &f),
                        "NodeLost: m\n    where to look: the machine, or the network to it\n");
    static const struct failure none = {.message = "m", .exit_code = -1};
    assert_string_equal(failure_text(a, &batchai_front_words, &none), "Unknown: m\n");
}

ARENA_TEST(bare)
{
    static const struct failure f = {.code = FAIL_RUN_TERMINATED, .message = "m", .exit_code = -1};
    static const struct failure killed = {
        .code = FAIL_NODE_LOST, .message = "m", .exit_code = -1, .signal = 9};
    assert_errors(failure_append(a, NULL, &f), "[{'code': 'JobTerminated', 'message': 'm'}]");
    assert_string_equal(failure_line(a, &f), "JobTerminated: m");
    assert_errors(
        failure_append(a, NULL, &killed),
        "[{'code': 'NodeLost', 'message': 'm', 'details': [{'name': 'signal', 'value': '9'}]}]");
    assert_string_equal(failure_line(a, &killed), "NodeLost: m (signal 9)");
}

static const char *join(struct arena *a, const char *one, const char *two)
{
    const char *both[] = {one, two};
    return failure_join(a, both, 2);
}

ARENA_TEST(append_and_join)
{
    static const struct failure one = {.code = FAIL_NODE_REFUSED, .message = "a", .exit_code = -1};
    static const struct failure two = {.code = FAIL_NODE_DRAINED, .message = "b", .exit_code = -1};
    const char *first = failure_append(a, NULL, &one);
    assert_errors(
        failure_append(a, first, &two),
        "[{'code': 'NodeRefused', 'message': 'a'}, {'code': 'NodeDrained', 'message': 'b'}]");
    const char *second = failure_append(a, NULL, &two);
    assert_errors(
        join(a, second, first),
        "[{'code': 'NodeDrained', 'message': 'b'}, {'code': 'NodeRefused', 'message': 'a'}]");
    assert_errors(join(a, NULL, first), "[{'code': 'NodeRefused', 'message': 'a'}]");
    assert_errors(join(a, first, NULL), "[{'code': 'NodeRefused', 'message': 'a'}]");
    assert_null(join(a, NULL, NULL));
    assert_errors(failure_append(a, "not json", &one), "[{'code': 'NodeRefused', 'message': 'a'}]");
    assert_errors(failure_append(a, "{}", &one), "[{'code': 'NodeRefused', 'message': 'a'}]");
}

/* stderr is bytes; the entry must stay UTF-8 and keep what is readable. */
ARENA_TEST(stderr_that_is_no_utf8)
{
    static const struct failure f = {.code = FAIL_NODE_LOST,
                                     .message = "m \xff",
                                     .stderr_tail =
                                         "ok \xc3\xa9 \xff\xc3 \xf0\x9f\x98\x80 \xe2\x82",
                                     .exit_code = -1};
    json_auto_t *list = json_loads(failure_append(a, NULL, &f), 0, NULL);
    assert_string_equal(json_string_value(doc_get(list, "[0].message")), "m \xef\xbf\xbd");
    assert_string_equal(json_string_value(doc_get(list, "[0].details[0].value")),
                        "ok \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd \xf0\x9f\x98\x80 "
                        "\xef\xbf\xbd\xef\xbf\xbd");
}

/* Numbers are in databases: what a row is called for them must never change. */
TEST(every_row_of_the_table)
{
    static const struct {
        int number;
        const char *name;
        enum failure_fault fault;
    } kept[] = {
#define KEPT(id, number, name, fault, heals, replaceable) {number, name, fault},
        FAILURES(KEPT)
#undef KEPT
    };
    for (int i = 0; i < (int)(sizeof kept / sizeof kept[0]); i++) {
        assert_int_equal(kept[i].number, i + 1);
        assert_string_equal(failure_name((enum failure_code)kept[i].number), kept[i].name);
        assert_int_equal(failure_fault((enum failure_code)kept[i].number), kept[i].fault);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(kept[k].name, kept[i].name);
    }
    /* Those that migrations name. */
    assert_int_equal(FAIL_NODE_LOST, 1);
    assert_int_equal(FAIL_NODE_SETUP_FAILED, 12);
    assert_int_equal(FAIL_TASK_NOT_KILLED, 15);
    assert_string_equal(failure_name(FAIL_NONE), "Unknown");
    assert_string_equal(failure_name((enum failure_code)9999), "Unknown");
    assert_false(failure_heals((enum failure_code)9999));
    assert_true(failure_heals(FAIL_NODE_UNREACHABLE));
    assert_true(failure_replaceable(FAIL_NODE_UNREACHABLE));
    assert_true(failure_heals(FAIL_NODE_REBOOTED));
    assert_false(failure_replaceable(FAIL_NODE_REBOOTED));
    assert_false(failure_heals(FAIL_NODE_SETUP_FAILED));
    assert_int_equal(failure_fault(FAIL_NONE), FAULT_NOBODY);
}
