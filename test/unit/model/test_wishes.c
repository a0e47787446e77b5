/* SPDX-License-Identifier: MIT
 *
 * Reserved variables: what their values may be, and that no process sees them.
 */
#include "model/spec.h"
#include "model/wishes.h"
#include "test/unit/model/accept.h"

#define ENV "properties.environmentVariables"
#define JOB_ENV(name, value)                                                                       \
    "[{'name': 'A', 'value': '1'}, {'name': 'BATCHAID_JOB_" name "', 'value': '" value "'}]"
#define BAD_VALUE(says) BAD_AT(ENV "[1].value", says)

static void values(void **state)
{
    (void)state;
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
    };
    CHECK_CASES(&schema_job, BASE_JOB, cases);
}

static void names(void **state)
{
    (void)state;
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
static void each_once(void **state)
{
    (void)state;
    static const struct accept_case cases[] = {
        {ENV,
         "[{'name': 'BATCHAID_JOB_GPUS', 'value': '1'}, {'name': 'BATCHAID_JOB_GPUS', 'value': "
         "'2'}]",
         BAD_AT(ENV "[1].name", "used before")},
    };
    CHECK_CASES(&schema_job, BASE_JOB, cases);
}

static void decode(const char *env, struct arena *a, struct job_spec *out)
{
    json_t *doc = doc_parse(BASE_JOB);
    doc_set(doc, ENV, env);
    *out = (struct job_spec){0};
    schema_decode(&schema_job, a, doc, out);
    json_decref(doc);
}

static void are_taken_out_when_a_document_is_decoded(void **state)
{
    (void)state;
    struct arena a;
    struct job_spec s;
    arena_init(&a);
    decode("[{'name': 'BATCHAID_JOB_GPUS', 'value': '2'}, {'name': 'A', 'value': '1'},"
           " {'name': 'BATCHAID_JOB_MEMORY', 'value': '3G'},"
           " {'name': 'BATCHAID_JOB_GRACE', 'value': '60'}, {'name': 'B', 'value': '2'}]",
           &a, &s);
    assert_int_equal(s.n_env, 2);
    assert_string_equal(s.env[0].name, "A");
    assert_string_equal(s.env[1].name, "B");
    assert_true(s.wishes.part);
    assert_int_equal(s.wishes.need.gpus, 2);
    assert_int_equal(s.wishes.need.slots, 0);
    assert_int_equal(s.wishes.need.memory, 3LL << 30);
    assert_true(s.wishes.has_grace);
    assert_int_equal(s.wishes.grace_s, 60);
    decode("[{'name': 'A', 'value': '1'}]", &a, &s);
    assert_int_equal(s.n_env, 1);
    assert_false(s.wishes.part);
    assert_false(s.wishes.has_grace);
    arena_free(&a);
}

/* As documents may be that were stored before the table had its rows. */
static void what_cannot_be_read_is_only_taken_out(void **state)
{
    (void)state;
    struct arena a;
    struct job_spec s;
    arena_init(&a);
    decode("[{'name': 'BATCHAID_JOB_GPUS', 'value': 'many'},"
           " {'name': 'BATCHAID_JOB_OTHER', 'value': '1'}]",
           &a, &s);
    assert_int_equal(s.n_env, 0);
    assert_false(s.wishes.part);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(names),
        cmocka_unit_test(each_once),
        cmocka_unit_test(are_taken_out_when_a_document_is_decoded),
        cmocka_unit_test(what_cannot_be_read_is_only_taken_out),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
