/* SPDX-License-Identifier: MIT
 *
 * Roles: which actions their patterns fit, at which scopes they count, and which action a request
 * is.
 */
#include <string.h>

#include "api/access/access.h"
#include "test/unit/support/tests.h"

#define SUB   "/subscriptions/s"
#define GROUP SUB "/resourceGroups/g"
#define WS    GROUP "/providers/Microsoft.BatchAI/workspaces/w"

TEST(patterns_fit_any_text_in_any_case)
{
    static const struct {
        const char *pattern, *action;
        bool fits;
    } rows[] = {
        {"*", "A/b/write", true},
        {"*", "", true},
        {"*/read", "A/b/read", true},
        {"*/read", "A/b/READ", true},
        {"*/read", "read", false},
        {"*/read", "A/b/read/action", false},
        {"*/read", "A/read/b/read", true},
        {"A/*/write", "a/x/y/write", true},
        {"A/*/write", "a/write", false},
        {"A/b/*", "A/b/", true},
        {"A/b/*", "A/bc/d", false},
        {"A/b", "A/b", true},
        {"A/b", "A/b/c", false},
        {"A/b", "A/", false},
        {"*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const patterns[] = {"-", rows[i].pattern, NULL};
        if (role_patterns_fit(patterns, rows[i].action) != rows[i].fits)
            fail_msg("%s and %s", rows[i].pattern, rows[i].action);
    }
}

TEST(a_scope_is_within_another_by_whole_names)
{
    assert_true(scope_within(GROUP, ""));
    assert_true(scope_within(GROUP, SUB));
    assert_true(scope_within(GROUP, GROUP));
    assert_true(scope_within("/SUBSCRIPTIONS/S/resourcegroups/G/x", GROUP));
    assert_false(scope_within(GROUP "2", GROUP));
    assert_false(scope_within(SUB, GROUP));
}

static enum verdict verdict(const char *role, const char *at, const char *action, const char *scope)
{
    const struct role_assignment row = {.scope = at, .role = role_by_name(role)->guid};
    const struct grants g = {&row, 1};
    return access_verdict(&g, action, scope);
}

#define JOB "Microsoft.BatchAI/workspaces/experiments/jobs"

TEST(roles_allow_what_they_say)
{
    static const struct {
        const char *role, *action;
        enum verdict verdict;
    } rows[] = {
        {"Owner", "Microsoft.Authorization/roleAssignments/write", ACCESS_YES},
        {"Contributor", "Microsoft.Authorization/roleAssignments/write", ACCESS_NO},
        {"Contributor", "Microsoft.Authorization/roleAssignments/delete", ACCESS_NO},
        {"Contributor", "Microsoft.Authorization/roleAssignments/read", ACCESS_YES},
        {"Contributor", JOB "/terminate/action", ACCESS_YES},
        {"Contributor", "Microsoft.Storage/storageAccounts/listKeys/action", ACCESS_YES},
        {"Reader", JOB "/read", ACCESS_YES},
        {"Reader", JOB "/write", ACCESS_NO},
        {"Reader", "Microsoft.Storage/storageAccounts/listKeys/action", ACCESS_NO},
        {"Reader and Data Access", "Microsoft.Storage/storageAccounts/listKeys/action", ACCESS_YES},
        {"User Access Administrator", "Microsoft.Authorization/roleAssignments/write", ACCESS_YES},
        {"User Access Administrator", JOB "/write", ACCESS_NO},
        {"Network Contributor", JOB "/read", ACCESS_NO},
        {"Batch AI Job Submitter", JOB "/read", ACCESS_YES},
        {"Batch AI Job Submitter", JOB "/write", ACCESS_OWN},
        {"Batch AI Job Submitter", JOB "/terminate/action", ACCESS_OWN},
        {"Batch AI Job Submitter", "Microsoft.BatchAI/jobs/delete", ACCESS_OWN},
        {"Batch AI Job Submitter", "Microsoft.BatchAI/workspaces/clusters/write", ACCESS_NO},
        {"Batch AI Job Submitter", ACTION_RUN_AS_ADMIN, ACCESS_NO},
        {"Azure Batch Job Submitter", ACTION_RUN_AS_ADMIN, ACCESS_NO},
        {"Azure Batch Account Contributor", ACTION_RUN_AS_ADMIN, ACCESS_YES},
        {"Azure Batch Data Contributor", ACTION_RUN_AS_ADMIN, ACCESS_YES},
        {"Contributor", ACTION_RUN_AS_ADMIN, ACCESS_YES},
        {"Batch AI Job Submitter", "Microsoft.Storage/storageAccounts/listKeys/action", ACCESS_NO},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (verdict(rows[i].role, SUB, rows[i].action, WS) != rows[i].verdict)
            fail_msg("%s: %s", rows[i].role, rows[i].action);
    assert_int_equal(verdict("Owner", GROUP, JOB "/read", SUB), ACCESS_NO);
}

TEST(the_best_role_counts)
{
    const struct role_assignment rows[] = {
        {.scope = SUB, .role = ROLE_SUBMITTER},
        {.scope = SUB, .role = "of a newer daemon"},
        {.scope = GROUP, .role = ROLE_OWNER},
    };
    const struct grants g = {rows, 3};
    assert_int_equal(access_verdict(&g, JOB "/write", WS), ACCESS_YES);
    assert_int_equal(access_verdict(&g, JOB "/write", SUB "/resourceGroups/h"), ACCESS_OWN);
    assert_false(access_to_data(&g, "Microsoft.KeyVault/vaults/secrets/getSecret/action", GROUP));
}

static const struct {
    const char *method, *path, *action, *scope;
} targets[] = {
    {"GET", "/subscriptions", NULL, ""},
    {"GET", "/providers/Microsoft.BatchAI/operations", NULL, ""},
    {"GET", SUB, "Microsoft.Resources/subscriptions/read", SUB},
    {"GET", SUB "/resourceGroups", "Microsoft.Resources/subscriptions/resourceGroups/read", SUB},
    {"HEAD", GROUP, "Microsoft.Resources/subscriptions/resourceGroups/read", GROUP},
    {"PUT", GROUP, "Microsoft.Resources/subscriptions/resourceGroups/write", GROUP},
    {"DELETE", GROUP, "Microsoft.Resources/subscriptions/resourceGroups/delete", GROUP},
    {"GET", GROUP "/resources", "Microsoft.Resources/subscriptions/resourceGroups/resources/read",
     GROUP},
    {"POST", SUB "/providers/Microsoft.BatchAI/register", "Microsoft.BatchAI/register/action", SUB},
    {"GET", SUB "/providers/Microsoft.BatchAI", "Microsoft.BatchAI/read", SUB},
    {"GET", SUB "/providers/Microsoft.BatchAI/clusters", "Microsoft.BatchAI/clusters/read", SUB},
    {"GET", SUB "/providers/Microsoft.BatchAI/locations/l/operationresults/1",
     "Microsoft.BatchAI/locations/operationresults/read", SUB},
    {"POST", SUB "/providers/Microsoft.Storage/checkNameAvailability", "Microsoft.Storage/read",
     SUB},
    {"PATCH", WS, "Microsoft.BatchAI/workspaces/write", WS},
    {"GET", WS "/clusters", "Microsoft.BatchAI/workspaces/clusters/read", WS},
    {"POST", WS "/experiments/e/jobs/j/terminate",
     "Microsoft.BatchAI/workspaces/experiments/jobs/terminate/action", WS "/experiments/e/jobs/j"},
    {"POST", WS "/experiments/e/jobs/j/listOutputFiles",
     "Microsoft.BatchAI/workspaces/experiments/jobs/read", WS "/experiments/e/jobs/j"},
    {"GET", WS "/experiments/e/jobs/j/listOutputFiles",
     "Microsoft.BatchAI/workspaces/experiments/jobs/read", WS "/experiments/e/jobs/j"},
    {"PUT", WS "/experiments/providers/jobs/providers",
     "Microsoft.BatchAI/workspaces/experiments/jobs/write",
     WS "/experiments/providers/jobs/providers"},
    {"DELETE", GROUP "/providers/Microsoft.BatchAI/workspaces/providers/clusters/c",
     "Microsoft.BatchAI/workspaces/clusters/delete",
     GROUP "/providers/Microsoft.BatchAI/workspaces/providers/clusters/c"},
    {"GET", SUB "/resourceGroups/providers",
     "Microsoft.Resources/subscriptions/resourceGroups/read", SUB "/resourceGroups/providers"},
    {"POST", GROUP "/providers/Microsoft.Storage/storageAccounts/a/listKeys",
     "Microsoft.Storage/storageAccounts/listKeys/action",
     GROUP "/providers/Microsoft.Storage/storageAccounts/a"},
    {"POST", GROUP "/providers/Microsoft.Storage/storageAccounts/a/listkeys",
     "Microsoft.Storage/storageAccounts/listkeys/action",
     GROUP "/providers/Microsoft.Storage/storageAccounts/a"},
    {"PUT", WS "/providers/Microsoft.Authorization/roleAssignments/1",
     "Microsoft.Authorization/roleAssignments/write",
     WS "/providers/Microsoft.Authorization/roleAssignments/1"},
};

TEST(a_request_is_an_action_at_a_scope)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        struct request r = {.method = targets[i].method};
        struct access_target t;
        char *path = arena_strdup(&r.arena, targets[i].path), *rest = path + 1, *one;
        while ((one = strsep(&rest, "/"))) {
            r.segment_len[r.n_segments] = strlen(one);
            r.segment[r.n_segments++] = one;
        }
        access_target(&r, &t);
        if (!targets[i].action != !t.action ||
            (t.action && strcmp(t.action, targets[i].action) != 0) ||
            strcmp(t.scope, targets[i].scope) != 0)
            fail_msg("%s %s: %s at %s", targets[i].method, targets[i].path, t.action, t.scope);
        arena_free(&r.arena);
    }
}

TEST(a_users_name_is_a_word_at_a_domain)
{
    static const char *const good[] = {"a@b", "ada.l-2_x@lab.example"};
    static const char *const bad[] = {"",      "a",   "@b",   "a@",   "a b@c",  "a@b@c",
                                      "a/b@c", "a\n", ".a@b", "a@b ", "\xff@b", "ada@b\t"};
    struct err e;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(access_check_user_name(good[i], &e), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(access_check_user_name(bad[i], &e), -1);
}

TEST(a_scope_of_ours_is_a_path)
{
    const struct access x = {.subscription_id = "s"};
    static const struct {
        const char *given, *scope; /* NULL: refused */
    } rows[] = {
        {"/", ""},
        {SUB, SUB},
        {SUB "/", SUB},
        {WS, WS},
        {"/Subscriptions/S/x", "/Subscriptions/S/x"},
        {"", NULL},
        {"subscriptions/s", NULL},
        {"/subscriptions/s2", NULL},
        {"/subscriptions", NULL},
        {"/subscriptions/", NULL},
        {"/x", NULL},
        {"//", NULL},
        {SUB "//x", NULL},
        {SUB "/a\nb", NULL},
        {SUB "/a?b", NULL},
        {SUB "/\xff", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena a;
        struct err e;
        const char *scope;
        arena_init(&a);
        int rc = access_check_scope(&x, &a, rows[i].given, &scope, &e);
        if ((rc == 0) != (rows[i].scope != NULL) || (rc == 0 && strcmp(scope, rows[i].scope) != 0))
            fail_msg("%s", rows[i].given);
        arena_free(&a);
    }
}
