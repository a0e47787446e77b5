/* SPDX-License-Identifier: MIT
 *
 * The routes of the testing service. Only clients with the key that the daemon created for
 * --testing may use them.
 */
#include <sodium.h>
#include <string.h>
#include <strings.h>

#include "api/testing/errors.h"
#include "api/testing/routes.h"
#include "api/testing/testing.h"

#define BASE       "/batchaid/testing"
#define CLOCK      "/batchaid/clock"
#define KEY_HEADER "x-batchaid-testing-key"

static const struct route routes[] = {
    {"GET", BASE "/requests", 0, 0, seen_list, "Testing_Requests"},
    {"DELETE", BASE "/requests", 0, 0, seen_forget, "Testing_ForgetRequests"},
    {"POST", BASE "/requests/expect", 0, ROUTE_JSON_OPTIONAL, seen_expect, "Testing_Expect"},
    {"GET", BASE "/unknown", 0, 0, unknown_list, "Testing_Unknown"},
    {"DELETE", BASE "/unknown", 0, 0, unknown_remove, "Testing_ForgetUnknown"},
    {"GET", BASE "/faults", 0, 0, faults_list, "Testing_Faults"},
    {"POST", BASE "/faults", 0, ROUTE_JSON, faults_add, "Testing_AddFault"},
    {"DELETE", BASE "/faults", 0, 0, faults_remove_all, "Testing_RemoveFaults"},
    {"DELETE", BASE "/faults/{fault}", 0, 0, faults_remove, "Testing_RemoveFault"},
    {"POST", BASE "/faults/{fault}/release", 0, 0, faults_release, "Testing_Release"},
    {"GET", CLOCK, 0, 0, clock_show, "Testing_Clock"},
    {"POST", CLOCK, 0, ROUTE_JSON, clock_change, "Testing_ChangeClock"},
    {"GET", BASE "/rules", 0, 0, rules_list, "Testing_Rules"},
    {"POST", BASE "/rules", 0, ROUTE_JSON, rules_add, "Testing_AddRules"},
    {"DELETE", BASE "/rules", 0, 0, rules_remove_all, "Testing_RemoveRules"},
    {"DELETE", BASE "/rules/{rule}", 0, 0, rules_remove, "Testing_RemoveRule"},
    {"POST", BASE "/rules/{rule}/release", 0, 0, rules_release, "Testing_ReleaseRule"},
    {"GET", BASE "/strict", 0, 0, strict_show, "Testing_Strict"},
    {"POST", BASE "/strict", 0, ROUTE_JSON, strict_set, "Testing_SetStrict"},
    {"DELETE", BASE "/strict", 0, 0, strict_remove, "Testing_RemoveStrict"},
    {"POST", BASE "/reset", 0, ROUTE_JSON_OPTIONAL, testing_reset, "Testing_Reset"},
    {"POST", BASE "/seed", 0, ROUTE_BYTES | ROUTE_BODY_KIB(64 * 1024), testing_seed,
     "Testing_Seed"},
    {"GET", BASE "/dump", 0, 0, testing_dump, "Testing_Dump"},
    {"GET", BASE "/events", 0, 0, events_follow, "Testing_Events"},
};

static const char *const paths[] = {BASE "/{rest*}", CLOCK, NULL};

/* The query parameters of each handler; a handler that is not listed takes none. Other parameters
 * are refused: with a misspelt filter, a removal would remove everything. */
static const struct {
    api_handler handler;
    const char *names[7];
} queries[] = {
    {seen_list, {"after", "max", "method", "operation", "path", "subscription", "status"}},
    {seen_forget, {"subscription"}},
    {unknown_list, {"subscription"}},
    {unknown_remove, {"subscription"}},
    {faults_list, {"subscription"}},
    {faults_remove_all, {"subscription"}},
    {rules_list, {"subscription"}},
    {rules_remove_all, {"subscription"}},
    {strict_show, {"subscription"}},
    {strict_remove, {"subscription"}},
    {testing_seed, {"subscription"}},
    {testing_dump, {"subscription", "resourceGroup"}},
    {events_follow, {"subscription", "after", "max", "timeoutSeconds"}},
};
enum { N_QUERIES = sizeof queries / sizeof queries[0], N_NAMES = 7 };

static const char *const *names_of(const struct request *r)
{
    static const char *const none[N_NAMES];
    for (size_t i = 0; i < N_QUERIES; i++)
        if (queries[i].handler == r->route->handler)
            return queries[i].names;
    return none;
}

static bool is_among(const char *const *names, const char *name)
{
    for (size_t i = 0; i < N_NAMES && names[i]; i++)
        if (strcasecmp(names[i], name) == 0)
            return true;
    return strcasecmp(name, "api-version") == 0;
}

static int check_query(struct request *r, struct err *e)
{
    size_t n;
    const struct named_value *given = request_parameters(r, &n);
    const char *const *names = names_of(r);
    for (size_t i = 0; i < n; i++) {
        if (is_among(names, given[i].name))
            continue;
        const char *known = "none, because its parameters are in the body";
        for (size_t k = 0; k < N_NAMES && names[k]; k++)
            known = k ? arena_concat(&r->arena, known, ", ", names[k]) : names[k];
        return err_set(e, ERR_INVALID_QUERY, given[i].name,
                       "The query parameter '%.60s' is not known here; there are: %s.",
                       given[i].name, known);
    }
    return 0;
}

static int may(struct request *r, struct err *e)
{
    const char *key = testing_of(r)->key, *given = request_header(r, KEY_HEADER);
    if (!key)
        return err_set(
            e, TESTING_OFF, NULL,
            "This daemon accepts no requests of tests: it was started without --testing.");
    if (given && strlen(given) == strlen(key) && sodium_memcmp(given, key, strlen(key)) == 0)
        return check_query(r, e);
    return err_set(e, TESTING_NO_KEY, NULL,
                   given ? "The header " KEY_HEADER
                           " has not the key of this daemon; `batchaid env` "
                           "prints it as BATCHAID_TESTING_KEY."
                         : "The header " KEY_HEADER " is missing; `batchaid env` prints the key as "
                           "BATCHAID_TESTING_KEY.");
}

struct replied *testing_seed(struct request *r)
{
    return seed_apply(r, &testing_of(r)->seed);
}

struct replied *testing_dump(struct request *r)
{
    return seed_dump(r, &testing_of(r)->seed);
}

ERROR_TABLE(testing_words, ARM_ERRORS, TESTING_OWN)

const struct service testing_service = {
    .name = "testing",
    .deps = "testing",
    .deps_begin_with_arm = true,
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .may = may,
    .body_max = REQUEST_BODY_MAX,
    .words = testing_words,
    .unwatched = true,
};
