/* SPDX-License-Identifier: MIT
 *
 * Azure Batch's tasks, the parts without I/O: command lines, what exits mean, output patterns,
 * state machines, documents.
 */
#include "model/batch/argv.h"
#include "model/batch/exits.h"
#include "model/batch/job_states.h"
#include "model/batch/patterns.h"
#include "model/batch/tables.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/tests.h"

/* The words with "|" between them. */
static void splits(const char *command_line, const char *expected)
{
    struct arena a;
    const char **argv, *text = "";
    arena_init(&a);
    size_t n = batch_argv(&a, command_line, &argv);
    assert_null(argv[n]);
    for (size_t i = 0; i < n; i++)
        text = arena_printf(&a, "%s%s%s", text, i > 0 ? "|" : "", argv[i]);
    assert_string_equal(text, expected);
    arena_free(&a);
}

TEST(test_command_lines_are_words)
{
    splits("", "");
    splits("  \t", "");
    splits("/bin/true", "/bin/true");
    splits(" echo  $HOME *", "echo|$HOME|*");
    splits("/bin/sh -c 'echo $A; exit 3'", "/bin/sh|-c|echo $A; exit 3");
    splits("sh -c \"echo \\\"a b\\\" \\$HOME \\\\\"", "sh|-c|echo \"a b\" \\$HOME \\");
    splits("a\\ b 'c'\"d\"e", "a b|cde");
    splits("x '' \"\"", "x||");
    splits("'never closed x", "never closed x");
    splits("end\\", "end\\");
}

TEST(test_exits_mean_what_is_said_or_usual)
{
    struct batch_exit_rule codes[] = {{3, 3, {BATCH_JOB_ACT_NONE, BATCH_SATISFY}}},
                           ranges[] = {{2, 5, {BATCH_JOB_ACT_DISABLE, 0}}};
    struct batch_exit_options other = {0, BATCH_SATISFY};
    const struct batch_exit_conditions none = {0};
    const struct batch_exit_conditions c = {
        .codes = codes,
        .n_codes = 1,
        .ranges = ranges,
        .n_ranges = 1,
        .pre_processing = &other,
        .fallback = &(struct batch_exit_options){BATCH_JOB_ACT_NONE, 0}};
    struct batch_exit_rule zero[] = {{0, 0, {BATCH_JOB_ACT_TERMINATE, BATCH_BLOCK}}};
    const struct batch_exit_conditions strict = {
        .fallback = &(struct batch_exit_options){BATCH_JOB_ACT_DISABLE, BATCH_BLOCK}};
    const struct batch_exit_conditions listed = {.codes = zero, .n_codes = 1};
    const struct {
        const struct batch_exit_conditions *c;
        enum batch_end how;
        int code, job, dependency;
    } cases[] = {
        {&none, BATCH_END_EXIT, 0, BATCH_JOB_ACT_NONE, BATCH_SATISFY},
        {&none, BATCH_END_EXIT, 1, BATCH_JOB_ACT_TERMINATE, BATCH_BLOCK},
        {&none, BATCH_END_OTHER, 0, BATCH_JOB_ACT_TERMINATE, BATCH_BLOCK},
        {&c, BATCH_END_EXIT, 3, BATCH_JOB_ACT_NONE, BATCH_SATISFY},
        {&c, BATCH_END_EXIT, 4, BATCH_JOB_ACT_DISABLE, BATCH_BLOCK},
        {&c, BATCH_END_EXIT, 9, BATCH_JOB_ACT_NONE, BATCH_BLOCK},
        {&strict, BATCH_END_EXIT, 0, BATCH_JOB_ACT_NONE, BATCH_SATISFY},
        {&strict, BATCH_END_UPLOAD, 0, BATCH_JOB_ACT_DISABLE, BATCH_BLOCK},
        {&listed, BATCH_END_EXIT, 0, BATCH_JOB_ACT_TERMINATE, BATCH_BLOCK},
        {&c, BATCH_END_PRE_PROCESSING, 0, BATCH_JOB_ACT_TERMINATE, BATCH_SATISFY},
        {&c, BATCH_END_OTHER, 0, BATCH_JOB_ACT_NONE, BATCH_BLOCK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct batch_exit_options got =
            batch_exit_means(cases[i].c, cases[i].how, cases[i].code);
        assert_int_equal(got.job, cases[i].job);
        assert_int_equal(got.dependency, cases[i].dependency);
    }
}

TEST(test_ids_that_are_numbers)
{
    assert_int_equal(batch_id_number("4"), 4);
    assert_int_equal(batch_id_number("004"), 4);
    assert_int_equal(batch_id_number(""), -1);
    assert_int_equal(batch_id_number("4a"), -1);
    assert_int_equal(batch_id_number("-4"), -1);
    assert_int_equal(batch_id_number("99999999999999999999"), -1);
}

TEST(test_patterns_match)
{
    static const struct {
        const char *pattern, *path;
        bool matches;
    } cases[] = {
        {"a.txt", "a.txt", true},       {"*.txt", "a.txt", true},
        {"*.txt", "d/a.txt", false},    {"*", ".hidden", false},
        {".*", ".hidden", true},        {"?.txt", "a.txt", true},
        {"?.txt", ".txt", false},       {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},        {"[!a]x", "bx", true},
        {"[!a]x", "ax", false},         {"[ab", "[ab", true},
        {"**", "a/b/c.txt", true},      {"**/*.txt", "a/b/c.txt", true},
        {"**/*.txt", "c.txt", true},    {"**/*.txt", "a/.git/c.txt", false},
        {"d/**", "d/x/y", true},        {"d/**", "e/x", false},
        {"**c.txt", "a/b/c.txt", true}, {"std*.txt", "stderr.txt", true},
        {"a*b*c", "aXbYc", true},       {"a*b*c", "aXbY", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (batch_pattern_matches(cases[i].pattern, cases[i].path) != cases[i].matches)
            fail_msg("%s against %s", cases[i].pattern, cases[i].path);
}

/* A pattern of stars against a long name ends all the same. */
TEST(test_a_pattern_of_stars_takes_bounded_time)
{
    char name[2000];
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_false(batch_pattern_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
}

ARENA_TEST(test_patterns_have_a_base)
{
    static const struct {
        const char *text, *base, *pattern;
        bool wild, outside;
    } cases[] = {
        {"*.txt", "wd", "*.txt", true, false},
        {"out/a.txt", "wd/out", "a.txt", false, false},
        {"./out/./**/*.o", "wd/out", "**/*.o", true, false},
        {"../std*.txt", "", "std*.txt", true, false},
        {"../stdout.txt", "", "stdout.txt", false, false},
        {"../../x", "", "x", false, true},
        {"/etc/passwd", "wd", "/etc/passwd", false, true},
        {"*/../../../x", "wd", "*/../../../x", true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct batch_pattern p = batch_pattern_parse(a, cases[i].text);
        if (p.outside != cases[i].outside)
            fail_msg("%s", cases[i].text);
        if (p.outside)
            continue;
        assert_string_equal(p.base, cases[i].base);
        assert_string_equal(p.pattern, cases[i].pattern);
        assert_int_equal(p.wild, cases[i].wild);
    }
}

/* Pairs that are legal; all others are not. */
TEST(test_paths_of_files_stay_below_their_directory)
{
    static const char *const good[] = {"",        "in.csv", "data/in.csv", "data\\in.csv",
                                       "..a/b..", "a//b/"};
    static const char *const bad[] = {"/in.csv", "\\data\\in.csv", "\\",   "..",   "../a",
                                      "a/../b",  "a\\..\\b",       "a/..", "..\\a"};
    for (size_t i = 0; i < sizeof good / sizeof good[0] + sizeof bad / sizeof bad[0]; i++) {
        bool is_good = i < sizeof good / sizeof good[0];
        const char *text = is_good ? good[i] : bad[i - sizeof good / sizeof good[0]];
        json_auto_t *v = json_string(text);
        struct err e = {0};
        if ((batch_check_file_path(v, "filePath", &e) == 0) != is_good)
            fail_msg("'%s' is %s", text, is_good ? "refused" : "taken");
    }
}

TEST(test_state_machines)
{
    static const int jobs[][3] = {
        {1, BATCH_JOB_EV_DISABLE, 2},   {1, BATCH_JOB_EV_TERMINATE, 5},
        {1, BATCH_JOB_EV_DELETE, 7},    {2, BATCH_JOB_EV_DISABLED, 3},
        {2, BATCH_JOB_EV_ENABLE, 4},    {2, BATCH_JOB_EV_TERMINATE, 5},
        {2, BATCH_JOB_EV_DELETE, 7},    {3, BATCH_JOB_EV_ENABLE, 4},
        {3, BATCH_JOB_EV_TERMINATE, 5}, {3, BATCH_JOB_EV_DELETE, 7},
        {4, BATCH_JOB_EV_ENABLED, 1},   {4, BATCH_JOB_EV_TERMINATE, 5},
        {4, BATCH_JOB_EV_DELETE, 7},    {5, BATCH_JOB_EV_COMPLETED, 6},
        {5, BATCH_JOB_EV_DELETE, 7},    {6, BATCH_JOB_EV_DELETE, 7},
    };
    static const int tasks[][3] = {
        {1, BATCH_TASK_EV_PREPARE, 2},    {1, BATCH_TASK_EV_START, 3},
        {1, BATCH_TASK_EV_END, 4},        {2, BATCH_TASK_EV_START, 3},
        {2, BATCH_TASK_EV_END, 4},        {2, BATCH_TASK_EV_AGAIN, 1},
        {3, BATCH_TASK_EV_END, 4},        {3, BATCH_TASK_EV_AGAIN, 1},
        {4, BATCH_TASK_EV_REACTIVATE, 1},
    };
    int legal = 0;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        assert_int_equal(
            batch_job_next((enum batch_job_state)jobs[i][0], (enum batch_job_event)jobs[i][1]),
            jobs[i][2]);
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++)
        assert_int_equal(
            batch_task_next((enum batch_task_state)tasks[i][0], (enum batch_task_event)tasks[i][1]),
            tasks[i][2]);
    for (int s = 1; s <= BATCH_JOB_DELETING; s++)
        for (int ev = 0; ev < BATCH_JOB_EVENTS; ev++)
            legal += batch_job_next((enum batch_job_state)s, (enum batch_job_event)ev) != 0;
    assert_int_equal(legal, sizeof jobs / sizeof jobs[0]);
    legal = 0;
    for (int s = 1; s <= BATCH_TASK_COMPLETED; s++)
        for (int ev = 0; ev < BATCH_TASK_EVENTS; ev++)
            legal += batch_task_next((enum batch_task_state)s, (enum batch_task_event)ev) != 0;
    assert_int_equal(legal, sizeof tasks / sizeof tasks[0]);
}
