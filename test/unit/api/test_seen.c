/* SPDX-License-Identifier: MIT
 *
 * The log of requests: what it keeps, finds and forgets, and what memory that takes.
 */
#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/testing/log.h"
#include "test/unit/support/skip.h"
#include "test/unit/support/tests.h"

#define SIGNATURE                                                                                  \
    "se=2026-11-25T00%3A00%3A00Z&sp=rwdlc&sv=2021-12-02&ss=b&srt=sco&"                             \
    "sig=0123456789012345678901234567890123456789012%3D"

static int log_made(void **state)
{
    *state = testing_log_create(NULL);
    return 0;
}

static int log_freed(void **state)
{
    testing_log_free(*state);
    return 0;
}

static void add(struct testing_log *log, const char *method, const char *target, int status,
                const char *asked, const char *answered)
{
    const struct seeing what = {.kind = {.method = method, .operation = "Op", .service = "blob"},
                                .target = target,
                                .asked = asked,
                                .answered = answered,
                                .time_us = 1000000,
                                .took_us = 1500,
                                .status = status};
    seen_add(log, &what);
}

static json_t *all(struct testing_log *log, int64_t after)
{
    const struct selector any = {0};
    return seen_fitting(log, &any, after, SEEN_MAX);
}

static const char *text(const json_t *list, size_t i, const char *name)
{
    return json_string_value(json_object_get(json_array_get(list, i), name));
}

#define LOG_TEST(name) TEST_IN(name, struct testing_log *log, *state, log_made, log_freed)

LOG_TEST(test_a_request_is_shown_as_it_was)
{
    add(log, "PUT", "/a/b?x=1&y=2", 201, "{\"asked\": 1}", "{\"answered\": [2]}");
    add(log, "GET", "/a", 404, NULL, "{\"error\": {}}");
    json_t *found = all(log, 0);
    assert_int_equal(json_array_size(found), 2);
    assert_string_equal(text(found, 0, "path"), "/a/b?x=1&y=2");
    assert_string_equal(text(found, 0, "method"), "PUT");
    assert_null(text(found, 0, "by"));
    assert_string_equal(text(found, 1, "path"), "/a");
    json_t *first = json_array_get(found, 0), *second = json_array_get(found, 1);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(first, "request"), "asked")), 1);
    assert_non_null(json_object_get(json_object_get(first, "reply"), "answered"));
    assert_null(json_object_get(second, "request"));
    assert_non_null(json_object_get(json_object_get(second, "reply"), "error"));
    assert_int_equal(json_integer_value(json_object_get(second, "status")), 404);
    json_decref(found);
}

LOG_TEST(test_paths_are_compared_with_their_queries)
{
    struct selector match = {.path = (char *)(uintptr_t) "/a?comp=*"};
    add(log, "GET", "/a?comp=list", 200, NULL, NULL);
    assert_true(seen_fits(log, 1, &match));
    add(log, "GET", "/a", 200, NULL, NULL);
    assert_false(seen_fits(log, 2, &match));
    json_t *found = seen_fitting(log, &match, 0, SEEN_MAX);
    assert_int_equal(json_array_size(found), 1);
    json_decref(found);
}

LOG_TEST(test_the_latest_stay_with_their_numbers)
{
    char target[64];
    for (int i = 1; i <= SEEN_MAX + 5; i++) {
        snprintf(target, sizeof target, "/%d?%d", i, i % 300);
        add(log, i % 2 ? "GET" : "PUT", target, 200, NULL, NULL);
    }
    json_t *found = all(log, 0);
    assert_int_equal(json_array_size(found), SEEN_MAX);
    assert_string_equal(text(found, 0, "path"), "/6?6");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(found, 0), "number")), 6);
    json_decref(found);
    found = all(log, SEEN_MAX + 3);
    assert_int_equal(json_array_size(found), 2);
    assert_string_equal(text(found, 1, "path"), "/10005?105");
    assert_string_equal(text(found, 1, "method"), "GET");
    json_decref(found);
    found = all(log, INT64_MAX);
    assert_int_equal(json_array_size(found), 0);
    json_decref(found);
}

LOG_TEST(test_large_bodies_push_out_old_ones)
{
    char *body = calloc(1, SEEN_BODY_MAX);
    assert_non_null(body);
    memset(body, ' ', SEEN_BODY_MAX - 1);
    body[0] = '1';
    for (int i = 0; i < 1000; i++)
        add(log, "PUT", "/", 200, body, NULL);
    free(body);
    assert_in_range(log->n, SEEN_BYTES / SEEN_BODY_MAX - 2, SEEN_BYTES / SEEN_BODY_MAX);
    assert_int_equal(log->last, 1000);
}

/* What a fixture's requests take that differ in nothing but the name of a blob. */
LOG_TEST(test_requests_of_one_kind_take_little)
{
    char target[300];
    size_t before = mallinfo2().uordblks;
    if (before == 0)
        skip_because("a sanitizer's heap has no counters");
    for (int i = 0; i < SEEN_MAX; i++) {
        snprintf(target, sizeof target, "/devstoreaccount1/bench/put-%d?%s", i, SIGNATURE);
        add(log, "PUT", target, 201, NULL, NULL);
    }
    assert_in_range(mallinfo2().uordblks - before, 1, (size_t)SEEN_MAX * 100);
}
