/* SPDX-License-Identifier: MIT
 *
 * Functions, vectors, times, and samples in formulas, as the service's documentation tells of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/scheduler/formula/formula_test.h"

TEST(functions_of_lists)
{
    assert_x("x = avg(1,2,3)", "2");
    assert_x("v = vec(1,2,3); x = avg(v)", "2"); /* a vector and its elements are the same */
    assert_x("v = vec(1,2,3); x = avg(v, 7)", "3.25");
    assert_x("x = len(vec(1,2), 3, vec())", "3");
    assert_x("x = len()", "0");
    assert_x("x = max(3, vec(9, 4))", "9");
    assert_x("x = min(3, vec(9, 4))", "3");
    assert_x("x = norm(3, 4)", "5");
    assert_x("x = range(4, 9, 6)", "5");
    assert_x("x = std(2, 4, 4, 4, 5, 5, 7, 9)", "2.1380899352994"); /* of a sample: n - 1 */
    assert_x("x = std(5)", "0");
    assert_x("x = sum(1, vec(2, 3))", "6");
    assert_x("x = sum()", "0");
    assert_fails("x = avg()", "Line 1, Col 5: avg of an empty vector");
    assert_fails("x = max(vec())", "Line 1, Col 5: max of an empty vector");
    assert_fails("x = max(1, \"2\")", "Line 1, Col 12: A string is not a double");
}

static bool asks(const char *text)
{
    struct formula_error e;
    struct formula *f = formula_parse(text, strlen(text), &e);
    assert_non_null(f);
    bool answer = formula_asks_machines(f);
    formula_free(f);
    return answer;
}

TEST(machines_are_asked_for)
{
    assert_true(asks("$TargetDedicatedNodes = avg($CPUPercent.GetSample(1)) > 50 ? 2 : 1"));
    assert_true(asks("x = 1; y = x ? 2 : max(1, -DiskReadOps)"));
    assert_true(asks("$NetworkOutBytes"));
    assert_false(asks("x = $PendingTasks.GetSample(1); y = $UsableNodeCount; z = \"$CPUPercent\""));
    assert_false(asks("x = $SampleNodeCount; y = CPU; CPUPercents = 1"));
}

TEST(functions_of_each)
{
    assert_x("x = lg(8)", "3");
    assert_x("x = lg(vec(8))", "[3]");
    assert_x("x = lg(2, vec(4, 8))", "[1,2,3]");
    assert_x("x = ln(1)", "0");
    assert_x("x = log(1000)", "3");
    assert_x("x = log(vec(10, 100))", "[1,2]");
    assert_x("x = ceil(2.1) + floor(2.9) * 10 + round(2.5) * 100", "323");
}

TEST(vectors)
{
    assert_x("x = vec(1, 2) + 10", "[11,12]");
    assert_x("x = 10 - vec(1, 2)", "[9,8]");
    assert_x("x = vec(1, 2) * vec(3, 4)", "[3,8]");
    assert_x("x = vec(1, 2) / 2", "[0.5,1]");
    assert_x("x = -vec(1, 2)", "[-1,-2]");
    assert_x("x = vec(4, 6) > 4", "1"); /* compared by their average */
    assert_x("x = vec(0, 0) ? 1 : 2", "2");
    assert_x("x = val(vec(5, 6, 7), 2)", "7");
    assert_fails("x = val(vec(5, 6, 7), 3)", "Line 1, Col 5: No element 3 in a vector of 3");
    assert_fails("x = val(vec(5), -1)", "Line 1, Col 5: No element -1 in a vector of 1");
    assert_fails("x = vec() > 1", "Line 1, Col 11: An empty vector has no value");
}

TEST(percentiles)
{
    assert_x("x = percentile(vec(40, 10, 30, 20), 50)", "20");
    assert_x("x = percentile(vec(40, 10, 30, 20), 51)", "30");
    assert_x("x = percentile(vec(40, 10, 30, 20), 0)", "10");
    assert_x("x = percentile(vec(40, 10, 30, 20), 100)", "40");
    assert_x("x = percentile(7, 90)", "7");
    assert_fails("x = percentile(vec(1), 101)",
                 "Line 1, Col 5: A percentile is from 0 to 100, not 101");
    assert_fails("x = percentile(vec(), 1)", "Line 1, Col 5: percentile of an empty vector");
    assert_fails("x = percentile(vec(1))",
                 "Line 1, Col 5: percentile() is not called with 1 arguments");
}

static double a_quarter(void *ctx)
{
    return *(double *)ctx;
}

TEST(random_numbers)
{
    double number = 0.25;
    assert_x("x = rand()", "0");
    inputs.random = a_quarter;
    inputs.ctx = &number;
    assert_x("x = rand() * 8", "2");
    inputs.random = NULL;
}

TEST(members_of_timestamps)
{
    assert_x("t = time(); x = t.year", "2016");
    assert_x("x = time().month", "10");
    assert_x("x = time().day", "13");
    assert_x("x = time().weekday", "4");
    assert_x("x = time().hour", "19");
    assert_x("x = time().minute", "18");
    assert_x("x = time().second", "47");
    assert_x("x = time(\"2016-10-10\").weekday", "1"); /* a Monday */
    assert_x("x = time(\"2016-10-16\").weekday", "0"); /* a Sunday */
    assert_x("x = time(\"1969-12-31T23:59:58.5Z\").second", "58");
}

TEST(times_that_are_read)
{
    static const struct {
        const char *text, *time;
    } times[] = {
        {"", "2016-10-13T19:18:47.805Z"},
        {"2018", "2018-01-01T00:00:00.000Z"},
        {"2018-06", "2018-06-01T00:00:00.000Z"},
        {"2018-06-07", "2018-06-07T00:00:00.000Z"},
        {"2018-06-07T21:34Z", "2018-06-07T21:34:00.000Z"},
        {"2018-06-07T21:34:05Z", "2018-06-07T21:34:05.000Z"},
        {"2018-06-07T21:34:05", "2018-06-07T21:34:05.000Z"},
        {"2018-06-07T21:34:05.1234567Z", "2018-06-07T21:34:05.123Z"},
        {"2018-06-07T21:34:05.123456789Z", "2018-06-07T21:34:05.123Z"},
        {"2018-06-07T23:34:05+02:00", "2018-06-07T21:34:05.000Z"},
        {"2018-06-07T16:04:05-05:30", "2018-06-07T21:34:05.000Z"},
        {"Thu, 07 Jun 2018 21:34:00 GMT", "2018-06-07T21:34:00.000Z"},
        {"Thu, 7 Jun 2018 21:34:00 GMT", "2018-06-07T21:34:00.000Z"},
        {"2016-02-29", "2016-02-29T00:00:00.000Z"},
    };
    static const char *const wrong[] = {
        "now",
        "2018-13",
        "2018-02-29",
        "2018-06-07T",
        "2018-06-07T24:00Z",
        "2018-06-07T12Z",
        "2018-06-07T12:60Z",
        "2018-06-07T12:34:56.Z",
        "2018-06-07T12:34+2:00",
        "18-06-07",
        "2018-06-07T12:34Zx",
        "Thu, 07 Juni 2018 21:34:00 GMT",
        "Thu, 31 Jun 2018 21:34:00 GMT",
        "Thu, 07 Jun 2018 21:34:00 CET",
        "Thu, 07 Jun 2018 21:34:00 GMT ",
        "0000-01-01",
    };
    char formula[128], msg[128];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        snprintf(formula, sizeof formula, "x = time(\"%s\")", times[i].text);
        assert_x(formula, times[i].time);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(formula, sizeof formula, "x = time(\"%s\")", wrong[i]);
        snprintf(msg, sizeof msg, "Line 1, Col 5: Not a time: %s", wrong[i]);
        assert_fails(formula, msg);
    }
    assert_fails("x = time(5)", "Line 1, Col 5: time() wants a string, not a double");
}

TEST(intervals)
{
    assert_x("x = TimeInterval_Zero", "00:00:00");
    assert_x("x = TimeInterval_100ns", "00:00:00.0000001");
    assert_x("x = TimeInterval_Microsecond", "00:00:00.0000010");
    assert_x("x = TimeInterval_Millisecond", "00:00:00.0010000");
    assert_x("x = TimeInterval_Second", "00:00:01");
    assert_x("x = TimeInterval_Minute", "00:01:00");
    assert_x("x = TimeInterval_Hour", "01:00:00");
    assert_x("x = TimeInterval_Day", "1.00:00:00");
    assert_x("x = TimeInterval_Week", "7.00:00:00");
    assert_x("x = TimeInterval_Year", "365.00:00:00");
    assert_x("x = 15 * TimeInterval_Minute", "00:15:00");
    assert_x("x = TimeInterval_Minute * 15", "00:15:00");
    assert_x("x = TimeInterval_Hour / 4", "00:15:00");
    assert_x("x = TimeInterval_Hour - TimeInterval_Minute", "00:59:00");
    assert_x("x = TimeInterval_Hour + TimeInterval_Minute", "01:01:00");
    assert_x("x = -TimeInterval_Hour", "-01:00:00");
    assert_x("x = TimeInterval_Hour == 60 * TimeInterval_Minute", "1");
    assert_x("x = TimeInterval_Hour > TimeInterval_Minute", "1");
    assert_fails("x = TimeInterval_Hour / 0", "Line 1, Col 23: The timeinterval is out of range");
    assert_fails("x = TimeInterval_Year * 1e6", "Line 1, Col 23: The timeinterval is out of range");
    assert_fails("x = 1 / TimeInterval_Hour",
                 "Line 1, Col 7: No operator / for double and timeinterval");
}

TEST(timestamps)
{
    assert_x("x = time() + (-6 * TimeInterval_Hour)", "2016-10-13T13:18:47.805Z");
    assert_x("x = TimeInterval_Day + time()", "2016-10-14T19:18:47.805Z");
    assert_x("x = time() - TimeInterval_Day", "2016-10-12T19:18:47.805Z");
    assert_x("x = time() - time(\"2016-10-13T19:00:00Z\")", "00:18:47.8050000");
    assert_x("x = time() - time(\"2016-10-13T19:00:00Z\") > 10 * TimeInterval_Minute", "1");
    assert_x("x = time() > time(\"2016-10-13\")", "1");
    assert_fails("x = time() + TimeInterval_Year * 9000",
                 "Line 1, Col 12: The timestamp is out of range");
}

TEST(nodes_of_the_pool)
{
    assert_x("x = $CurrentDedicatedNodes", "3"); /* known before the first sample */
    assert_x("x = $CurrentLowPriorityNodes * 2", "2");
    assert_x("x = $CurrentDedicated * 1.5 + $CurrentLowPriority", "5.5");
    assert_x("x = $TargetDedicatedNodes + $TargetLowPriorityNodes", "3");
    assert_x("x = $TaskSlotsPerNode", "4");
    assert_x("x = $NodeDeallocationOption", "requeue");
}

SAMPLES_TEST(samples_by_number, SAMPLE_PENDING_TASKS, 20)
{
    assert_x("x = $PendingTasks.GetSample(1)", "[20]");
    assert_x("x = $PendingTasks.GetSample(3)", "[18,19,20]");
    assert_x("x = len($PendingTasks.GetSample(100))", "20");
    assert_x("x = $PendingTasks.GetSample(0)", "[]");
    assert_x("x = max(0, $PendingTasks.GetSample(1))", "20");
    assert_x("x = max($PendingTasks, 0)", "20"); /* the metric itself is its last sample */
    assert_x("x = $PendingTasks > 19", "1");
    assert_x("m = $PendingTasks; x = m.GetSample(2)", "[19,20]");
    assert_x("x = $CPUPercent.GetSample(1)", "[]"); /* not one was taken */
    assert_fails("x = $PendingTasks.GetSample(-1)",
                 "Line 1, Col 28: GetSample() is called with -1 samples; it needs 0 or more");
    assert_fails_by("x = $CPUPercent + 1", FORMULA_TOO_FEW_SAMPLES,
                    "Line 1, Col 17: Insufficient data from data set: $CPUPercent has no samples");
}

SAMPLES_TEST(samples_by_time, SAMPLE_PENDING_TASKS, 20)
{
    /* of ten minutes */
    assert_x("x = len($PendingTasks.GetSample(TimeInterval_Minute * 5))", "10");
    assert_x("x = len($PendingTasks.GetSample(TimeInterval_Minute * 15))", "20");
    assert_x("x = $PendingTasks.GetSample(TimeInterval_Minute, 2 * TimeInterval_Minute)",
             "[17,18]");
    assert_x("x = $PendingTasks.GetSample(2 * TimeInterval_Minute, TimeInterval_Minute)",
             "[17,18]");
    assert_x("x = $PendingTasks.GetSample(time() - TimeInterval_Minute)", "[19,20]");
    assert_x("x = $PendingTasks.GetSample(time(\"2016-10-13T19:17:00Z\"), TimeInterval_Minute)",
             "[17,18]");
    assert_x("x = $PendingTasks.GetSample(TimeInterval_Zero)", "[]");
    assert_fails("x = $PendingTasks.GetSample(time(), 1, 2)",
                 "Line 1, Col 28: GetSample() wants a timestamp or a timeinterval, not a double");
    assert_fails("x = $PendingTasks.GetSample()",
                 "Line 1, Col 28: GetSample() is not called with 0 arguments");
    assert_fails("x = $PendingTasks.GetSample(1, 2)",
                 "Line 1, Col 28: GetSample() wants a timestamp or a timeinterval, not a double");
}

/* The documentation's own case: of the last ten minutes one is not there. */
SAMPLES_TEST(percentages_of_samples, SAMPLE_CPU_PERCENT, 18)
{
    assert_x("x = $CPUPercent.GetSamplePercent(TimeInterval_Minute * 10)", "90");
    assert_x("x = $CPUPercent.GetSamplePercent(TimeInterval_Minute * 9)", "100");
    assert_x("x = $CPUPercent.GetSamplePercent(TimeInterval_Minute * 9, TimeInterval_Minute * 11)",
             "0");
    assert_x("x = $RunningTasks.GetSamplePercent(TimeInterval_Minute)", "0");
    assert_x("x = len($CPUPercent.GetSample(TimeInterval_Minute * 10, 80))", "18");
    assert_x("x = len($CPUPercent.GetSample(TimeInterval_Zero, TimeInterval_Minute * 10, 90))",
             "18");
    assert_fails_by(
        "$TargetDedicatedNodes = 9; x = $CPUPercent.GetSample(TimeInterval_Minute * 10, 95)",
        FORMULA_TOO_FEW_SAMPLES,
        "Line 1, Col 53: Insufficient data from data set: $CPUPercent wanted 95%, "
        "received 90%");
}

TEST(histories)
{
    assert_x("x = $CPUPercent.Count()", "0");
    assert_x("x = $CPUPercent.HistoryBeginTime()", "2016-10-13T19:18:47.805Z");
    struct samples *s = counted_samples(SAMPLE_CPU_PERCENT, 3);
    inputs.samples = s;
    assert_x("x = $CPUPercent.Count()", "3");
    assert_x("x = $RunningTasks.Count()", "0");
    assert_x("x = $CPUPercent.HistoryBeginTime()", "2016-10-13T19:17:47.805Z");
    assert_x("x = $CPUPercent.GetSamplePeriod()", "00:00:30");
    samples_destroy(s);
    inputs.samples = NULL;
}

TEST(a_history_is_bounded)
{
    struct samples *s = samples_create();
    double values[SAMPLE_METRIC_COUNT] = {0};
    for (int i = 1; i <= SAMPLES_MOST + 100; i++) {
        values[SAMPLE_RUNNING_TASKS] = i;
        samples_add(s, i, values);
    }
    assert_int_equal(samples_count(s), SAMPLES_MOST);
    assert_int_equal(samples_at(s, 0), 101);
    assert_int_equal(samples_at(s, SAMPLES_MOST - 1), SAMPLES_MOST + 100);
    assert_true(samples_value(s, 0, SAMPLE_RUNNING_TASKS) == 101);
    samples_add(s, 5, values); /* a clock was set back */
    assert_int_equal(samples_at(s, SAMPLES_MOST - 1), SAMPLES_MOST + 100);
    samples_destroy(s);
}

/* Formulas as people write them: by the queue, with what is to be done until there are samples. */
TEST(by_the_queue)
{
    static const char by_average[] =
        "first = 1; most = 25;\n"
        "percent = $PendingTasks.GetSamplePercent(180 * TimeInterval_Second);\n"
        "wanted = percent < 70 ? first : avg($PendingTasks.GetSample(180 * TimeInterval_Second));\n"
        "$TargetDedicatedNodes = min(most, wanted);\n"
        "$NodeDeallocationOption = taskcompletion;";
    static const char by_slots[] =
        "$tasks = $ActiveTasks.GetSamplePercent(TimeInterval_Minute * 2) < 70\n"
        "    ? max(0, $ActiveTasks.GetSample(1))\n"
        "    : max($ActiveTasks.GetSample(1), avg($ActiveTasks.GetSample(TimeInterval_Minute * "
        "2)));\n"
        "$slots = $TargetDedicatedNodes * $TaskSlotsPerNode;\n"
        "$more = (($tasks - $slots) + 3) / 4;\n"
        "$TargetDedicatedNodes = max(0, min($TargetDedicatedNodes + $more, 30));";
    assert_nodes(by_average, 1, 1);
    assert_nodes(by_slots, 0, 1); /* 2 nodes of 4 slots, and nothing to run */
    struct samples *s = counted_samples(SAMPLE_PENDING_TASKS, 40);
    inputs.samples = s;
    assert_nodes(by_average, 25, 1);
    samples_destroy(s);
    s = counted_samples(SAMPLE_PENDING_TASKS, 6);
    inputs.samples = s;
    assert_nodes(by_average, 3, 1); /* 3.5 on the average */
    samples_destroy(s);
    s = counted_samples(SAMPLE_ACTIVE_TASKS, 13);
    inputs.samples = s;
    assert_nodes(by_slots, 4, 1); /* 13 tasks of 4 to a node */
    samples_destroy(s);
    inputs.samples = NULL;
}

/* By the age of the pool, and preempted nodes replaced. */
TEST(by_age_and_preemption)
{
    assert_nodes("lifespan = time() - time(\"2016-10-13T19:15:47.805123Z\");"
                 "interval = TimeInterval_Minute * 5;"
                 "$TargetDedicatedNodes = lifespan < interval ? 4 : 9",
                 4, 1);
    struct samples *s = counted_samples(SAMPLE_PREEMPTED, 4);
    inputs.samples = s;
    assert_nodes(
        "most = 25;"
        "$TargetDedicatedNodes = min(most, $PreemptedNodeCount.GetSample(TimeInterval_Minute));"
        "$TargetLowPriorityNodes = min(most, most - $TargetDedicatedNodes);",
        3, 22);
    samples_destroy(s);
    inputs.samples = NULL;
}
