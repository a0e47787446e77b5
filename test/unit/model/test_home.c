/* SPDX-License-Identifier: MIT
 *
 * Ids with and without the home workspace, and where files of what lives there are.
 */
#include "model/home.h"
#include "model/spec.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/tests.h"

#define RP "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/"

static void expect(char *got, const char *want)
{
    if (want)
        assert_string_equal(got, want);
    else
        assert_null(got);
    free(got);
}

TEST(short_ids_become_long)
{
    expect(home_long_id(RP "clusters/c"), RP "workspaces/migrated/clusters/c");
    expect(home_long_id(RP "FileServers/f"), RP "workspaces/migrated/FileServers/f");
    expect(home_long_id("/x/Providers/microsoft.batchai/clusters/c"),
           "/x/Providers/microsoft.batchai/workspaces/migrated/clusters/c");
    expect(home_long_id(RP "workspaces/w/clusters/c"), NULL);
    expect(home_long_id("/providers/Other/clusters/c"), NULL);
    expect(home_long_id(""), NULL);
}

TEST(long_ids_become_short)
{
    expect(home_short_id(RP "workspaces/migrated/clusters/c"), RP "clusters/c");
    expect(home_short_id(RP "workspaces/Migrated/fileservers/f"), RP "fileservers/f");
    expect(home_short_id(RP "workspaces/migrated/experiments/migrated/jobs/j"), RP "jobs/j");
    expect(home_short_id(RP "workspaces/migrated/experiments/other/jobs/j"), NULL);
    expect(home_short_id(RP "workspaces/migrated2/clusters/c"), NULL);
    expect(home_short_id(RP "workspaces/migrated"), NULL);
    expect(home_short_id(RP "clusters/c"), NULL);
}

TEST(both_paths_of_a_resource_are_one_place)
{
    static const struct {
        const char *path, *outer;
        bool within;
    } rows[] = {
        {"clusters/c", "workspaces/migrated/clusters/c", true},
        {"Clusters/C", "Workspaces/Migrated", true},
        {"workspaces/migrated/clusters/c", "clusters/c", true},
        {"workspaces/migrated/clusters/c/x", "clusters/C", true},
        {"clusters/c/x", "workspaces/migrated/clusters/c", true},
        {"fileServers/f", "workspaces/migrated", true},
        {"workspaces/migrated/fileServers/f", "fileServers/f", true},
        {"jobs/j", "workspaces/migrated/experiments/migrated/jobs/j", true},
        {"jobs/j", "workspaces/migrated/experiments/migrated", true},
        {"jobs/j", "workspaces/migrated", true},
        {"workspaces/migrated/experiments/migrated/jobs/j", "jobs/j", true},
        {"clusters/c", "clusters/c", false},
        {"clusters/c", "workspaces/migrated/clusters/c2", false},
        {"clusters/c2", "workspaces/migrated/clusters/c", false},
        {"clusters/c", "workspaces/migrated/clusters/c/x", false},
        {"clusters/c", "workspaces/migrated2", false},
        {"clusters/c", "workspaces/w/clusters/c", false},
        {"clusters/c", "workspaces/migrated/fileServers/c", false},
        {"workspaces/migrated", "clusters/c", false},
        {"workspaces/migrated/clusters/c2", "clusters/c", false},
        {"workspaces/w/clusters/c", "clusters/c", false},
        {"workspaces/migrated/experiments/other/jobs/j", "jobs/j", false},
        {"workspaces/migrated/experiments/migrated", "jobs/j", false},
        {"jobs/j", "workspaces/migrated/experiments/other", false},
        {"jobs/j", "workspaces/migrated/clusters/j", false},
        {"workspaces/migrated/clusters/j", "jobs/j", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[200], outer[200];
        snprintf(path, sizeof path, RP "%s", rows[i].path);
        snprintf(outer, sizeof outer, RP "%s", rows[i].outer);
        if (home_path_within(path, outer) != rows[i].within)
            fail_msg("%s in %s", rows[i].path, rows[i].outer);
    }
    assert_false(home_path_within(RP "clusters/c", "/subscriptions/s/resourceGroups/h/providers/"
                                                   "Microsoft.BatchAI/workspaces/migrated"));
    assert_false(home_path_within("clusters/c", "workspaces/migrated/clusters/c"));
}

TEST(what_lives_at_home)
{
    struct scope s = {.workspace = "Migrated"};
    assert_true(home_has(&s));
    s.experiment = "migrated";
    assert_true(home_has(&s));
    s.experiment = "mine";
    assert_false(home_has(&s));
    s = (struct scope){.workspace = "mine", .experiment = "migrated"};
    assert_false(home_has(&s));
    assert_false(home_has(&(struct scope){.group = "migrated"}));
}

ARENA_TEST(files_of_what_lives_at_home)
{
    struct job j = {.name = "J", .guid = "G"};
    j.scope = (struct scope){
        .subscription = "S", .group = "RG", .workspace = "migrated", .experiment = "migrated"};
    assert_string_equal(job_path_segment(a, &j), "s/rg/jobs/J/G");
    j.scope.experiment = "e";
    assert_string_equal(job_path_segment(a, &j), "s/rg/workspaces/migrated/experiments/e/jobs/J/G");
    struct cluster c = {.name = "C", .guid = "G"};
    c.scope = (struct scope){.subscription = "S", .group = "RG", .workspace = "migrated"};
    assert_string_equal(cluster_path_segment(a, &c), "s/rg/clusters/C/G");
    c.scope.workspace = "w";
    assert_string_equal(cluster_path_segment(a, &c), "s/rg/workspaces/w/clusters/C/G");
}
