/* SPDX-License-Identifier: MIT
 *
 * The route table against the published spec, both ways: every operation of the spec has a row with
 * its method and path, every row of Microsoft.BatchAI is an operation of the spec or listed here
 * with the reason why it is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/router.h"

static const struct {
    const char *operation_id, *reason;
} beyond_spec[] = {
    {"OperationResults", "what Azure-AsyncOperation points at; the spec leaves it to ARM"},
    {"Jobs_ListOutputFilesNext",
     "SDKs follow nextLink with GET, also where the first page was a POST"},
    {"OperationStatuses", "what Location points at; the spec leaves it to ARM"},
};

static const char *const spec_files[] = {"2018-05-01/BatchAI.json", "2018-05-01-june/BatchAI.json"};
#define SPEC_FILES (sizeof spec_files / sizeof spec_files[0])

static json_t *load(const char *file)
{
    const char *dir = getenv("BATCHAID_SPEC_DIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir ? dir : "../shared/spec", file);
    return json_load_file(path, 0, NULL);
}

/* "/a/{x}/B" -> "/a/{}/b": parameters by place, literals without case. */
static void canonical(const char *path, char *out, size_t size)
{
    size_t o = 0;
    for (const char *p = path; *p && o + 3 < size; p++) {
        if (*p == '{') {
            out[o++] = '{';
            p = strchr(p, '}');
            out[o++] = '}';
        } else {
            out[o++] = (char)tolower((unsigned char)*p);
        }
    }
    out[o] = '\0';
}

static const struct route *row_of(const char *operation_id)
{
    for (size_t i = 0; i < api_routes_n; i++)
        if (strcmp(api_routes[i].operation_id, operation_id) == 0)
            return &api_routes[i];
    return NULL;
}

static void check_operation(const char *path, const char *method, const char *id)
{
    char want[512], have[512];
    const struct route *row = row_of(id);
    if (!row)
        fail_msg("the spec's %s (%s %s) has no route", id, method, path);
    canonical(path, want, sizeof want);
    canonical(row->path, have, sizeof have);
    assert_string_equal(have, want);
    assert_int_equal(strcasecmp(row->method, method), 0);
    assert_true(row->versions & V_2018_05_01);
}

static void every_operation_of_the_spec_has_a_route(void **state)
{
    (void)state;
    for (size_t f = 0; f < SPEC_FILES; f++) {
        json_t *spec = load(spec_files[f]);
        if (!spec)
            skip();
        const char *path, *method;
        json_t *methods, *op;
        json_object_foreach(json_object_get(spec, "paths"), path, methods)
            json_object_foreach(methods, method, op)
                check_operation(path, method,
                                json_string_value(json_object_get(op, "operationId")));
        json_decref(spec);
    }
}

static int spec_has(const json_t *spec, const char *id)
{
    const char *path, *method;
    json_t *methods, *op;
    json_object_foreach(json_object_get(spec, "paths"), path, methods)
        json_object_foreach(methods, method, op)
            if (strcmp(json_string_value(json_object_get(op, "operationId")), id) == 0)
                return 1;
    return 0;
}

static int listed(const char *id)
{
    for (size_t i = 0; i < sizeof beyond_spec / sizeof beyond_spec[0]; i++)
        if (strcmp(beyond_spec[i].operation_id, id) == 0)
            return 1;
    return 0;
}

static void every_batchai_route_is_in_the_spec_or_explained(void **state)
{
    (void)state;
    json_t *final = load(spec_files[0]), *june = load(spec_files[1]);
    if (!final || !june)
        skip();
    for (size_t i = 0; i < api_routes_n; i++) {
        const char *id = api_routes[i].operation_id;
        if (api_routes[i].versions && !spec_has(final, id) && !spec_has(june, id) && !listed(id))
            fail_msg("the route %s is neither in the spec nor explained", id);
    }
    json_decref(final);
    json_decref(june);
}

static void operation_ids_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < api_routes_n; i++)
        assert_ptr_equal(row_of(api_routes[i].operation_id), &api_routes[i]);
}

static void every_route_says_how_versions_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < api_routes_n; i++) {
        unsigned own = api_routes[i].flags & (ROUTE_NO_VERSION | ROUTE_ANY_VERSION);
        assert_true((api_routes[i].versions != 0) != (own != 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_of_the_spec_has_a_route),
        cmocka_unit_test(every_batchai_route_is_in_the_spec_or_explained),
        cmocka_unit_test(operation_ids_are_unique),
        cmocka_unit_test(every_route_says_how_versions_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
