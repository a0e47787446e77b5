/* SPDX-License-Identifier: MIT
 *
 * Reserved variables: what their values may be, and that no process sees them.
 */
#include "model/spec.h"
#include "model/wishes.h"
#include "test/unit/model/accept.h"
#include "test/unit/support/arena_test.h"

#define ENV "properties.environmentVariables"
#define JOB_ENV(name, value)                                                                       \
    "[{'name': 'A', 'value': '1'}, {'name': 'BATCHAID_JOB_" name "', 'value': '" value "'}]"
#define BAD_VALUE(says) BAD_AT(ENV "[1].value", says)

TEST(values)
{
    static const struct accept_case cases[] = {
        {ENV, JOB_ENV("GPUS", "0"), OK},
        {ENV, JOB_ENV("GPUS", "1024"), OK},
        {ENV, JOB_ENV("GPUS", "1025"),
         BAD_VALUE("is \"1025\"; BATCHAID_JOB_GPUS must be a whole number from 0 to 1024")},
        {ENV, JOB_ENV("GPUS", ""), BAD_VALUE("is \"\"")},
        {ENV, JOB_ENV("GPUS", "-1"), BAD_VALUE("from 0 to 1024")},
        {ENV, JOB_ENV("GPUS", "1.0"), BAD_VALUE("from 0 to 1024")},
        {ENV, JOB_ENV("GPUS", " 1"), BAD_VALUE("from 0 to 1024")},
        {ENV, JOB_ENV("GPUS", "99999999999999999999"), BAD_VALUE("from 0 to 1024")},
        {ENV, JOB_ENV("SLOTS", "1"), OK},
        {ENV, JOB_ENV("SLOTS", "0"), BAD_VALUE("from 1 to 100000")},
        {ENV, JOB_ENV("CORES", "8"), OK},
        {ENV, JOB_ENV("CORES", "0"), BAD_VALUE("from 1 to 100000")},
        {ENV, JOB_ENV("MEMORY", "512M"), OK},
        {ENV, JOB_ENV("MEMORY", "4GiB"), OK},
        {ENV, JOB_ENV("MEMORY", "4GB"), OK},
        {ENV, JOB_ENV("MEMORY", "1024T"), OK},
        {ENV, JOB_ENV("MEMORY", "1025T"), BAD_VALUE("must be a number with a unit, such as 512M")},
        {ENV, JOB_ENV("MEMORY", "0M"), BAD_VALUE("with a unit")},
        {ENV, JOB_ENV("MEMORY", "4096"), BAD_VALUE("with a unit")},
        {ENV, JOB_ENV("MEMORY", "4g"), BAD_VALUE("with a unit")},
        {ENV, JOB_ENV("MEMORY", "4 G"), BAD_VALUE("with a unit")},
        {ENV, JOB_ENV("MEMORY", "4GBi"), BAD_VALUE("with a unit")},
        {ENV, JOB_ENV("MEMORY", "G"), BAD_VALUE("with a unit")},
        {ENV, JOB_ENV("GRACE", "0"), OK},
        {ENV, JOB_ENV("GRACE", "3600"), OK},
        {ENV, JOB_ENV("GRACE", "3601"), BAD_VALUE("a whole number of seconds from 0 to 3600")},
        {ENV, JOB_ENV("DEPENDS_ON", "j1"), OK},
        {ENV, JOB_ENV("DEPENDS_ON", "j1,exp-2/j_2:failure,j3:end,j4:success"), OK},
        {ENV, JOB_ENV("DEPENDS_ON", ""),
         BAD_VALUE("must be at most 100 jobs, separated by commas")},
        {ENV, JOB_ENV("DEPENDS_ON", "j1,"), BAD_VALUE("100 jobs")},
        {ENV, JOB_ENV("DEPENDS_ON", ",j1"), BAD_VALUE("100 jobs")},
        {ENV, JOB_ENV("DEPENDS_ON", "j1, j2"), BAD_VALUE("100 jobs")},
        {ENV, JOB_ENV("DEPENDS_ON", "j1:done"), BAD_VALUE(":success, :failure or :end")},
        {ENV, JOB_ENV("DEPENDS_ON", "j1:endless"), BAD_VALUE("100 jobs")},
        {ENV, JOB_ENV("DEPENDS_ON", "a/b/c"), BAD_VALUE("100 jobs")},
        {ENV, JOB_ENV("DEPENDS_ON", "a/"), BAD_VALUE("100 jobs")},
        {ENV, JOB_ENV("DEPENDS_ON", "/a"), BAD_VALUE("100 jobs")},
        {ENV, JOB_ENV("RETRIES", "0"), OK},
        {ENV, JOB_ENV("RETRIES", "10"), OK},
        {ENV, JOB_ENV("RETRIES", "3:node"), OK},
        {ENV, JOB_ENV("RETRIES", "3:exit,node"), OK},
        {ENV, JOB_ENV("RETRIES", "3:node,75,137"), OK},
        {ENV, JOB_ENV("RETRIES", "11"),
         BAD_VALUE("must be a whole number from 0 to 10, optionally")},
        {ENV, JOB_ENV("RETRIES", "-1"), BAD_VALUE("from 0 to 10")},
        {ENV, JOB_ENV("RETRIES", "3:"), BAD_VALUE("from 0 to 10")},
        {ENV, JOB_ENV("RETRIES", "3:0"), BAD_VALUE("from 1 to 255")},
        {ENV, JOB_ENV("RETRIES", "3:256"), BAD_VALUE("from 1 to 255")},
        {ENV, JOB_ENV("RETRIES", "3:node:exit"), BAD_VALUE("from 0 to 10")},
        {ENV, JOB_ENV("RETRIES", "3:nodes"), BAD_VALUE("from 0 to 10")},
        {ENV, JOB_ENV("RETRIES", "3:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"), OK},
        {ENV, JOB_ENV("RETRIES", "3:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"),
         BAD_VALUE("at most 16")},
    };
    CHECK_CASES(&schema_job, BASE_JOB, cases);
}

TEST(which_failures_are_tried_again)
{
    static const struct {
        const char *value;
        bool node, exit_1, exit_75, no_exit;
    } all[] = {{"3", true, true, true, false},
               {"3:node", true, false, false, false},
               {"3:exit", false, true, true, false},
               {"3:75", false, false, true, false},
               {"3:75,node", true, false, true, false}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct wishes w = {0};
        struct err e;
        assert_int_equal(wish_read("BATCHAID_JOB_RETRIES", all[i].value, "n", "v", &w, &e), 0);
        assert_int_equal(w.retry.times, 3);
        assert_int_equal(wish_retries(&w.retry, true, -1), all[i].node);
        assert_int_equal(wish_retries(&w.retry, false, 1), all[i].exit_1);
        assert_int_equal(wish_retries(&w.retry, false, 75), all[i].exit_75);
        assert_int_equal(wish_retries(&w.retry, false, -1), all[i].no_exit);
    }
}

TEST(the_list_of_those_that_are_waited_for)
{
    const char *at = "j1,exp/j2:failure,j3:end";
    struct wish_dependency d;
    assert_true(wish_next_dependency(&at, &d));
    assert_null(d.experiment);
    assert_int_equal(d.job_len, 2);
    assert_int_equal(d.wanted, AFTER_SUCCESS);
    assert_true(wish_next_dependency(&at, &d));
    assert_memory_equal(d.experiment, "exp", d.experiment_len);
    assert_memory_equal(d.job, "j2", d.job_len);
    assert_int_equal(d.wanted, AFTER_FAILURE);
    assert_true(wish_next_dependency(&at, &d));
    assert_memory_equal(d.job, "j3", d.job_len);
    assert_int_equal(d.wanted, AFTER_END);
    assert_false(wish_next_dependency(&at, &d));
    assert_string_equal(at, "");
}

TEST(names)
{
    static const struct accept_case cases[] = {
        {ENV, JOB_ENV("GPU", "1"),
         BAD_AT(ENV "[1].name", "is \"BATCHAID_JOB_GPU\"; names that begin with BATCHAID_JOB_ are "
                                "reserved, and it must be one of BATCHAID_JOB_GPUS, ")},
        {ENV, "[{'name': 'batchaid_job_gpus', 'value': '1'}]", BAD_AT(ENV "[0].name", "reserved")},
        {ENV, "[{'name': 'BATCHAID_JOB_', 'value': '1'}]", BAD_AT(ENV "[0].name", "reserved")},
        {ENV, "[{'name': 'BATCHAID_JOBS', 'value': '1'}]", OK},
        {"properties.secrets", "[{'name': 'BATCHAID_JOB_GPUS', 'value': '1'}]",
         BAD_AT("properties.secrets[0].name", "must be in environmentVariables")},
        {"properties.secrets", "[{'name': 'Batchaid_Job_X', 'value': 's3cret'}]",
         BAD_AT("properties.secrets[0].name", "is \"Batchaid_Job_X\"")},
    };
    CHECK_CASES(&schema_job, BASE_JOB, cases);
}

/* Two of the same name are refused as any other two are. */
TEST(each_once)
{
    static const struct accept_case cases[] = {
        {ENV,
         "[{'name': 'BATCHAID_JOB_GPUS', 'value': '1'}, {'name': 'BATCHAID_JOB_GPUS', 'value': "
         "'2'}]",
         BAD_AT(ENV "[1].name", "used before")},
    };
    CHECK_CASES(&schema_job, BASE_JOB, cases);
}

static void decode(const char *env, struct arena *a, struct run_spec *out)
{
    json_auto_t *doc = doc_parse(BASE_JOB);
    doc_set(doc, ENV, env);
    *out = (struct run_spec){0};
    schema_decode(&schema_job, a, doc, out);
}

ARENA_TEST(are_taken_out_when_a_document_is_decoded)
{
    struct run_spec s;
    decode("[{'name': 'BATCHAID_JOB_GPUS', 'value': '2'}, {'name': 'A', 'value': '1'},"
           " {'name': 'BATCHAID_JOB_MEMORY', 'value': '3G'},"
           " {'name': 'BATCHAID_JOB_GRACE', 'value': '60'}, {'name': 'B', 'value': '2'}]",
           a, &s);
    assert_int_equal(s.n_env, 2);
    assert_string_equal(s.env[0].name, "A");
    assert_string_equal(s.env[1].name, "B");
    assert_true(s.wishes.part);
    assert_int_equal(s.wishes.need.gpus, 2);
    assert_int_equal(s.wishes.need.slots, 0);
    assert_int_equal(s.wishes.need.memory, 3LL << 30);
    assert_true(s.wishes.has_grace);
    assert_int_equal(s.wishes.grace_s, 60);
    decode("[{'name': 'A', 'value': '1'}]", a, &s);
    assert_int_equal(s.n_env, 1);
    assert_false(s.wishes.part);
    assert_false(s.wishes.has_grace);
}

/* As documents may be that were stored before the table had its rows. */
ARENA_TEST(what_cannot_be_read_is_only_taken_out)
{
    struct run_spec s;
    decode("[{'name': 'BATCHAID_JOB_GPUS', 'value': 'many'},"
           " {'name': 'BATCHAID_JOB_OTHER', 'value': '1'}]",
           a, &s);
    assert_int_equal(s.n_env, 0);
    assert_false(s.wishes.part);
}
