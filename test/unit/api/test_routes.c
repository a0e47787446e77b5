/* SPDX-License-Identifier: MIT
 *
 * The route table against the published specs of all versions, both ways: every operation has a row
 * with its method and path, every row of Microsoft.BatchAI is an operation of each of its versions'
 * documents or listed here with the reason why it is not.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/arm/batchai/errors.h"
#include "api/services.h"
#include "model/schema.h"
#include "test/unit/support/skip.h"
#include "test/unit/support/tests.h"

static const struct {
    const char *operation_id, *reason;
} beyond_spec[] = {
    {"OperationResults", "what Azure-AsyncOperation points at; the spec leaves it to ARM"},
    {"Jobs_ListOutputFilesNext",
     "SDKs follow nextLink with GET, also where the first page was a POST"},
    {"OperationStatuses", "what Location points at; the spec leaves it to ARM"},
};

/* The final document of 2018-05-01 counts; the one of June adds lists that SDKs of the time ask. */
static const struct {
    enum api_version version;
    const char *file;
} specs[] = {
    {V_2017_09_01_PREVIEW, "2017-09-01-preview/BatchAI.json"},
    {V_2018_03_01, "2018-03-01/BatchAI.json"},
    {V_2018_05_01, "2018-05-01/BatchAI.json"},
    {V_2018_05_01, "2018-05-01-june/BatchAI.json"},
};
#define SPECS (sizeof specs / sizeof specs[0])

/* The rows of all services, one behind the other, as one table. */
static const struct route *api_routes[600];
static const struct service *service_of[600];
static size_t api_routes_n;

/* The documents, each read once; NULL: it is not here. */
static json_t *documents[SPECS];

static json_t *load(const char *file)
{
    const char *dir = getenv("BATCHAID_SPEC_DIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir ? dir : "../shared/spec", file);
    return json_load_file(path, 0, NULL);
}

static int collect(void **state)
{
    (void)state;
    for (size_t i = 0; i < API_SERVICES; i++)
        for (size_t k = 0; k < api_service(i)->n_routes; k++) {
            service_of[api_routes_n] = api_service(i);
            api_routes[api_routes_n++] = &api_service(i)->routes[k];
        }
    for (size_t i = 0; i < SPECS; i++)
        documents[i] = load(specs[i].file);
    return 0;
}

static int forget(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++)
        json_decref(documents[i]);
    return 0;
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

/* `v` 0: of the rows that no version of Microsoft.BatchAI has. */
static const struct route *row_of(enum api_version v, const char *operation_id)
{
    for (size_t i = 0; i < api_routes_n; i++)
        if ((v ? service_of[i] == &batchai_service && (api_routes[i]->versions & v)
               : !api_routes[i]->versions) &&
            strcmp(api_routes[i]->operation_id, operation_id) == 0)
            return api_routes[i];
    return NULL;
}

static void check_operation(enum api_version v, const char *path, const char *method,
                            const char *id)
{
    char want[512], have[512];
    const struct route *row = row_of(v, id);
    if (!row)
        fail_msg("%s of %s (%s %s) has no route", id, v ? api_version_name(v) : "our own document",
                 method, path);
    canonical(path, want, sizeof want);
    canonical(row->path, have, sizeof have);
    assert_string_equal(have, want);
    assert_int_equal(strcasecmp(row->method, method), 0);
}

static void check_spec(enum api_version v, const json_t *spec)
{
    const char *path, *method;
    json_t *methods, *op;
    json_object_foreach(json_object_get(spec, "paths"), path, methods) {
        json_object_foreach(methods, method, op) {
            check_operation(v, path, method, json_string_value(json_object_get(op, "operationId")));
        }
    }
}

TEST(every_operation_of_the_specs_has_a_route)
{
    for (size_t i = 0; i < SPECS; i++) {
        if (!documents[i])
            skip_because("the published specs are not here");
        check_spec(specs[i].version, documents[i]);
    }
}

static const json_t *spec_operation(const json_t *spec, const char *id)
{
    const char *path, *method;
    json_t *methods, *op;
    json_object_foreach(json_object_get(spec, "paths"), path, methods) {
        json_object_foreach(methods, method, op) {
            if (strcmp(json_string_value(json_object_get(op, "operationId")), id) == 0)
                return op;
        }
    }
    return NULL;
}

static int spec_has(const json_t *spec, const char *id)
{
    return spec_operation(spec, id) != NULL;
}

/* Which of a row's versions have a document that knows the operation. */
static unsigned versions_of(const char *id)
{
    unsigned known = 0;
    for (size_t i = 0; i < SPECS; i++) {
        if (!documents[i])
            skip_because("the published specs are not here");
        if (spec_has(documents[i], id))
            known |= specs[i].version;
    }
    return known;
}

static int listed(const char *id)
{
    for (size_t i = 0; i < sizeof beyond_spec / sizeof beyond_spec[0]; i++)
        if (strcmp(beyond_spec[i].operation_id, id) == 0)
            return 1;
    return 0;
}

TEST(every_batchai_route_is_in_the_specs_or_explained)
{
    for (size_t i = 0; i < api_routes_n; i++) {
        const char *id = api_routes[i]->operation_id;
        if (service_of[i] != &batchai_service || listed(id) || !api_routes[i]->versions)
            continue;
        unsigned more = api_routes[i]->versions & ~versions_of(id);
        if (more)
            fail_msg("the route %s is served in %s, whose document does not have it", id,
                     api_version_name((enum api_version)(more & -more)));
    }
}

/* ---- our own operations ---- */

#define OWN_DOCUMENT "docs/admin-api.json"
#define OWN_PREFIX   "/batchaid/"
#define OWN_METRICS  "/metrics"

static bool is_our_own(const char *path)
{
    return strncmp(path, OWN_PREFIX, strlen(OWN_PREFIX)) == 0 ||
           strncmp(path, OWN_METRICS, strlen(OWN_METRICS)) == 0;
}

TEST(our_own_routes_are_those_of_their_document)
{
    size_t rows = 0;
    json_t *spec = json_load_file(OWN_DOCUMENT, 0, NULL), *methods;
    const char *path;
    assert_non_null(spec);
    check_spec(0, spec);
    for (size_t i = 0; i < api_routes_n; i++) {
        if (!is_our_own(api_routes[i]->path))
            continue;
        rows++;
        assert_int_equal(api_routes[i]->versions, 0);
        assert_non_null(service_of[i]->may);
        const json_t *op = spec_operation(spec, api_routes[i]->operation_id);
        if (!op)
            fail_msg("%s is not in " OWN_DOCUMENT, api_routes[i]->operation_id);
        /* "security": [] is how a document says that anybody may. */
        assert_int_equal((api_routes[i]->flags & ROUTE_OPEN) != 0,
                         json_object_get(op, "security") != NULL);
    }
    json_object_foreach(json_object_get(spec, "paths"), path, methods) {
        rows -= json_object_size(methods);
    }
    assert_int_equal(rows, 0);
    json_decref(spec);
}

/* One version's operation ids name one route each, and so do ARM's own: or one handler, which also
 * answers HEAD, or has another path for the same. */
TEST(operation_ids_are_unique)
{
    for (size_t i = 0; i < api_routes_n; i++)
        for (size_t k = i + 1; k < api_routes_n; k++) {
            bool together = (api_routes[i]->versions & api_routes[k]->versions) ||
                            api_routes[i]->versions == api_routes[k]->versions;
            if (together && service_of[i] == service_of[k] &&
                (api_routes[i]->handler != api_routes[k]->handler ||
                 api_routes[i]->data != api_routes[k]->data) &&
                strcmp(api_routes[i]->operation_id, api_routes[k]->operation_id) == 0)
                fail_msg("%s is there twice", api_routes[i]->operation_id);
        }
}

TEST(no_version_is_served_by_two_rows)
{
    static char paths[sizeof api_routes / sizeof *api_routes][512];
    for (size_t i = 0; i < api_routes_n; i++)
        canonical(api_routes[i]->path, paths[i], sizeof paths[i]);
    for (size_t i = 0; i < api_routes_n; i++)
        for (size_t k = i + 1; k < api_routes_n; k++)
            if (service_of[i] == service_of[k] &&
                (api_routes[i]->versions & api_routes[k]->versions) &&
                strcmp(paths[i], paths[k]) == 0)
                assert_string_not_equal(api_routes[i]->method, api_routes[k]->method);
}

TEST(every_route_says_how_versions_count)
{
    for (size_t i = 0; i < api_routes_n; i++) {
        bool listed_here = service_of[i]->versions == VERSIONS_LISTED &&
                           !(api_routes[i]->flags & ROUTE_ANY_VERSION);
        assert_int_equal(api_routes[i]->versions != 0, listed_here);
    }
}

/* ---- errors ---- */

/* That each kind has a row is the compiler's to check. */
TEST(every_service_says_each_kind_of_error_as_a_failure)
{
    for (size_t i = 0; i < API_SERVICES; i++) {
        const struct service *s = api_service(i);
        assert_non_null(s->words);
        for (int kind = ERR_NONE + 1; kind < ERR_CODES; kind++) {
            struct error_words words = s->words(kind);
            if (words.status < 400 || words.status > 599 || !*words.code)
                fail_msg("%s answers %s with %d '%s'", s->name, err_code_name(kind), words.status,
                         words.code);
        }
    }
}

TEST(a_providers_own_kinds_follow_those_of_arm)
{
    assert_string_equal(batchai_words(ARM_PROVIDER_NOT_FOUND).code, "InvalidResourceNamespace");
    assert_string_equal(batchai_words(BATCHAI_CLUSTER_QUOTA).code, "ClusterQuotaReached");
    assert_string_equal(batchai_words(BATCHAI_IMMUTABLE_PROPERTY).code, "PropertyChangeNotAllowed");
}

TEST(anothers_own_kind_is_a_fault_of_ours)
{
    for (size_t i = 0; i < API_SERVICES; i++)
        assert_int_equal(api_service(i)->words(ERR_OWN + 900).status, 500);
    assert_int_equal(aad_service.words(BATCHAI_CLUSTER_QUOTA).status, 500);
}

int main(void)
{
    return run_all_tests(collect, forget);
}
