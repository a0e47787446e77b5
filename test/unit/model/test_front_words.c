/* SPDX-License-Identifier: MIT
 *
 * Texts in the words of a front.
 */
#include "test/unit/model/doc.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/words.h"

ARENA_TEST(texts)
{
    static const struct {
        const char *text, *jobs, *tasks;
    } rows[] = {
        {"", "", ""},
        {"plain", "plain", "plain"},
        {"{run}", "job", "task"},
        {"{Run}s and {Pools}", "Jobs and Clusters", "Tasks and Pools"},
        {"the {run}'s {pool}", "the job's cluster", "the task's pool"},
        {"under {std_prefix}", "under stdOutErrPathPrefix", "under stdDir"},
        {"write {log}.log", "write execution.log", "write progress.log"},
        {"{", "{", "{"},
        {"{}", "{}", "{}"},
        {"{run", "{run", "{run"},
        {"{ru}{runx}{rUN}", "{ru}{runx}{rUN}", "{ru}{runx}{rUN}"},
        {"{{run}}", "{job}", "{task}"},
        {"5 % {run} %s", "5 % job %s", "5 % task %s"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(front_text(&batchai_front_words, a, rows[i].text), rows[i].jobs);
        assert_string_equal(front_text(&pools_and_tasks, a, rows[i].text), rows[i].tasks);
    }
}

ARENA_TEST(what_is_printed_is_not_looked_through)
{
    assert_string_equal(front_say(&batchai_front_words, a, "{run} %s of %d", "{pool}", 3),
                        "job {pool} of 3");
}

ARENA_TEST(names_of_logs)
{
    static const struct {
        const char *name;
        bool is_log;
    } rows[] = {
        {"execution.log", true},
        {"execution-tvm-1.log", true},
        {"execution", false},
        {"execution.txt", false},
        {"executions.log", false},
        {"execution.lo", false},
        {"myexecution.log", false},
        {"", false},
        {".log", false},
    };
    assert_string_equal(front_log_name(&batchai_front_words, a, NULL), "execution.log");
    assert_string_equal(front_log_name(&batchai_front_words, a, "tvm-1"), "execution-tvm-1.log");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (front_is_log_name(&batchai_front_words, rows[i].name) != rows[i].is_log)
            fail_msg("%s", rows[i].name);
}

TEST(variables_with_several_names_and_none)
{
    size_t i = 0;
    assert_string_equal(front_var_next(&batchai_front_words, VAR_RUN_DIR, &i),
                        "AZ_BATCHAI_JOB_TEMP");
    assert_string_equal(front_var_next(&batchai_front_words, VAR_RUN_DIR, &i),
                        "AZ_BATCHAI_JOB_TEMP_DIR");
    assert_null(front_var_next(&batchai_front_words, VAR_RUN_DIR, &i));
    i = 0;
    assert_null(front_var_next(&pools_and_tasks, VAR_HOSTS, &i));
}
