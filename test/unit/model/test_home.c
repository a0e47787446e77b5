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
