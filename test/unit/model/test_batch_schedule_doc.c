/* SPDX-License-Identifier: MIT
 *
 * Documents of job schedules: when they make jobs, and which.
 */
#include "model/batch/spec.h"
#include "model/spec.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/tests.h"

#define SECOND_US INT64_C(1000000)

TEST(times_are_read)
{
    struct batch_times t;
    batch_times_read("{\"schedule\":{\"doNotRunUntil\":\"2018-06-07T21:34:00Z\",\"doNotRunAfter\":"
                     "\"2018-06-07T21:35:00Z\",\"startWindow\":\"PT2M\",\"recurrenceInterval\":"
                     "\"P1D\"}}",
                     &t);
    assert_int_equal(t.until_us, 1528407240 * SECOND_US);
    assert_int_equal(t.after_us - t.until_us, 60 * SECOND_US);
    assert_int_equal(t.window_us, 120 * SECOND_US);
    assert_int_equal(t.interval_us, 86400 * SECOND_US);
    batch_times_read("{\"schedule\":{\"startWindow\":\"P10675199DT2H48M5.4775807S\"}}", &t);
    assert_int_equal(t.until_us, 0);
    assert_int_equal(t.after_us, 0);
    assert_int_equal(t.window_us, DURATION_MAX_US);
    assert_int_equal(t.interval_us, 0);
    batch_times_read("no JSON", &t);
    assert_int_equal(t.window_us, DURATION_MAX_US);
}

ARENA_TEST(a_job_has_the_specification_and_its_own_id)
{
    assert_string_equal(
        batch_schedule_job_doc(a,
                               "{\"id\":\"s\",\"metadata\":[],\"jobSpecification\":{\"priority\":5,"
                               "\"poolInfo\":{\"poolId\":\"p\"}}}",
                               "s:job-2"),
        "{\"id\":\"s:job-2\",\"priority\":5,\"poolInfo\":{\"poolId\":\"p\"}}");
    assert_null(batch_schedule_job_secrets(a, NULL));
    assert_null(batch_schedule_job_secrets(a, "{}"));
    assert_string_equal(batch_schedule_job_secrets(
                            a, "{\"jobSpecification.jobManagerTask.containerSettings.registry."
                               "password\":\"pw\"}"),
                        "{\"jobManagerTask.containerSettings.registry.password\":\"pw\"}");
}
