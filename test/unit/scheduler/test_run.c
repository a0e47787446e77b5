/* SPDX-License-Identifier: MIT
 *
 * Jobs and clusters against real storage and real nodes. Where only a decision counts, the nodes
 * are fake and time is virtual.
 */
#include "scheduler/run/runs.h"
#include "virtual.h"

#include <dirent.h>
#include <signal.h>

WORLD_TEST(test_job_runs, world_new(4))
{
    int64_t c = idle_cluster(w, 2);
    assert_int_equal(cluster_row(w, c).alloc_state, ALLOC_STEADY);
    int64_t j =
        add_job(w, c, "hello",
                JOB("echo hello $GREETED; echo oops >&2; echo m > "
                    "$AZ_BATCHAI_OUTPUT_MODEL/m.bin",
                    .more = "'environmentVariables': [{'name':'GREETED','value':'world'}],"
                            "'outputDirectories': [{'id':'MODEL','pathPrefix':"
                            "'${AZ_BATCHAI_MOUNT_ROOT}/share/logs','pathSuffix':'model'}],"));
    WAIT(w, job_ended(w, j));
    struct job row = job_row(w, j);
    assert_int_equal(row.exec_state, EXEC_SUCCEEDED);
    assert_true(row.has_exit_code);
    assert_int_equal(row.exit_code, 0);
    assert_int_equal(row.attempt, 1);
    assert_true(row.start_us > 0 && row.end_us >= row.start_us && row.end_us == row.exec_us);
    assert_null(row.errors);
    assert_string_equal(out_of(w, j), "hello world\n");
    assert_string_equal(read_text(w, share_file(w, j, "stdouterr/stderr.txt")), "oops\n");
    assert_string_equal(read_text(w, share_file(w, j, "outputs/model/m.bin")), "m\n");
    assert_says(log_of(w, j), "job");
    WAIT(w, counts(w, c).idle == 2);
}

WORLD_TEST(test_failures_explain_themselves, world_new(4))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t bad = add_job(w, c, "bad", JOB("echo gone wrong >&2; exit 3"));
    int64_t killed = add_job(w, c, "killed", JOB("kill -9 $$"));
    int64_t prep = add_job(w, c, "prep", JOB("true", .prep = "echo no >&2; exit 7"));
    WAIT(w, job_ended(w, bad) && job_ended(w, killed) && job_ended(w, prep));
    struct job row = job_row(w, bad);
    assert_int_equal(row.exec_state, EXEC_FAILED);
    assert_int_equal(row.exit_code, 3);
    assert_says(row.errors, "\"code\":\"JobFailed\"", "Job failed with non-zero exit code",
                "gone wrong", "exit 3", "tvm-");
    row = job_row(w, killed);
    assert_int_equal(row.exit_code, 128 + 9);
    assert_says(row.errors, "\"signal\"");
    row = job_row(w, prep);
    assert_int_equal(row.exit_code, 7);
    assert_says(row.errors, "\"code\":\"JobPreparationFailed\"",
                "Job preparation task failed with non-zero exit code");
    assert_string_equal(out_of(w, prep), "(no such file)");
    assert_string_equal(read_text(w, share_file(w, prep, "stdouterr/stderr-job_prep.txt")), "no\n");
    WAIT(w, counts(w, c).idle == 1);
    assert_says(log_of(w, bad), "JobFailed");
}

WORLD_TEST(test_gang_is_prepared_on_every_node, world_new(4))
{
    int64_t c = add_cluster_of(w, "c", 2);
    int64_t j = add_job(w, c, "gang",
                        JOB("cat $AZ_BATCHAI_SHARED_JOB_TEMP/* | sort; "
                            "echo $AZ_BATCH_HOST_LIST",
                            .prep = "echo $AZ_BATCHAI_TASK_INDEX > "
                                    "$AZ_BATCHAI_SHARED_JOB_TEMP/"
                                    "$AZ_BATCHAI_TASK_INDEX; echo prepared",
                            .nodes = 2));
    assert_ends(w, j, EXEC_SUCCEEDED);
    assert_string_equal(out_of(w, j), "0\n1\n127.64.0.1,127.64.0.2\n");
    DIR *d = opendir(share_file(w, j, "stdouterr"));
    assert_non_null(d);
    int preps = 0, logs = 0;
    for (struct dirent *e; (e = readdir(d));) {
        preps += strncmp(e->d_name, "stdout-job_prep-tvm-", 20) == 0;
        logs += strncmp(e->d_name, "execution-tvm-", 14) == 0;
    }
    closedir(d);
    assert_int_equal(preps, 2);
    assert_int_equal(logs, 2);
    WAIT(w, counts(w, c).idle == 2);
}

WORLD_TEST(test_a_node_has_what_its_agent_says_and_a_run_takes_it_whole, world_new(1))
{
    struct err e = {0};
    int64_t c = idle_cluster(w, 1);
    const struct node nd = node_row(w, c, 0);
    assert_true(nd.has.cores > 0);
    assert_int_equal(nd.has.slots, nd.has.cores);
    assert_true(nd.has.memory > 0);
    assert_non_null(nd.devices);
    add_job(w, c, "j", JOB("sleep 60"));
    WAIT(w, counts(w, c).running == 1);
    struct allocation *live;
    size_t n;
    ok(st_allocation_of_node(w->st, &w->a, nd.id, &live, &n, &e), &e);
    assert_int_equal(n, 1);
    assert_memory_equal(&live[0].takes, &nd.has, sizeof nd.has);
    assert_null(live[0].devices);
}

WORLD_TEST(test_wall_clock, world_new(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "slow", JOB("echo slowly >&2; exec sleep 60", .wall_s = 1));
    WAIT(w, job_ended(w, j));
    struct job row = job_row(w, j);
    assert_int_equal(row.exec_state, EXEC_FAILED);
    assert_int_equal(row.exit_code, 124);
    assert_says(row.errors, "JobTimedOut", "1 seconds");
    /* On which node, how it ended, and its last words. */
    assert_says(row.errors, "tvm-", "\"signal\",\"value\":\"15\"", "slowly");
    WAIT(w, counts(w, c).idle == 1);
}

/* Both answers are read at once: the command, which was asked for without waiting for its
 * directories, did not start because they could not be made. */
WORLD_TEST(test_a_missing_share_is_named_however_late_its_error_is_read, world_new(1))
{
    struct err e = {0};
    int64_t c = idle_cluster(w, 1);
    ok(fs_remove_tree(path(w, "storage/acct/files/share"), &e), &e);
    int64_t j = add_job(w, c, "j", JOB("true"));
    for (int i = 0; i < 400 && !job_ended(w, j); i++) {
        uv_run(&w->loop, UV_RUN_NOWAIT);
        usleep(100000); /* as on a machine that has no time for the loop */
    }
    job_says(w, j, "JobDirectoryFailed");
}

WORLD_TEST(test_terminate, world_new(1))
{
    struct err e = {0};
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "slow", JOB("echo up; sleep 60"));
    int64_t q = add_job(w, c, "queued", JOB("true"));
    WAIT(w, job_state(w, j) == EXEC_RUNNING);
    WAIT(w, strcmp(out_of(w, j), "up\n") == 0);
    assert_int_equal(batchai_terminate(&w->front, q, &e), 1);
    assert_int_equal(job_state(w, q), EXEC_FAILED);
    assert_int_equal(job_row(w, q).start_us, job_row(w, q).end_us);
    assert_int_equal(batchai_terminate(&w->front, j, &e), 1);
    assert_int_equal(job_state(w, j), EXEC_TERMINATING);
    WAIT(w, job_ended(w, j));
    struct job row = job_row(w, j);
    assert_int_equal(row.exec_state, EXEC_FAILED);
    assert_int_equal(row.exit_code, 143);
    assert_says(row.errors, "JobTerminated");
    assert_int_equal(batchai_terminate(&w->front, j, &e), 0);
    WAIT(w, counts(w, c).idle == 1);
}

WORLD_TEST(test_scale_down_requeues, world_new(4))
{
    int64_t c = add_cluster_of(w, "c", 2);
    int64_t j = add_job(w, c, "twice",
                        JOB("test -f $AZ_BATCHAI_MOUNT_ROOT/share/go || "
                            "sleep 60",
                            .nodes = 2));
    WAIT(w, job_state(w, j) == EXEC_RUNNING);
    resize(w, c, 1);
    WAIT(w, job_state(w, j) == EXEC_QUEUED);
    assert_int_equal(job_row(w, j).start_us, 0);
    WAIT(w, rows_of(counts(w, c)) == 1 && counts(w, c).idle == 1);
    assert_int_equal(cluster_row(w, c).alloc_state, ALLOC_STEADY);
    go(w);
    resize(w, c, 2);
    assert_ends_in(w, j, EXEC_SUCCEEDED, 2);
}

WORLD_TEST(test_scale_down_terminates, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB("fake run=60000"));
    WAIT(w, job_state(w, j) == EXEC_RUNNING);
    resize_by(w, c, 0, DEALLOC_TERMINATE);
    WAIT(w, rows_of(counts(w, c)) == 0);
    assert_int_equal(job_state(w, j), EXEC_FAILED);
    job_says(w, j, "NodeDeallocated");
}

WORLD_TEST(test_scale_down_waits, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB("fake run=60000"));
    int64_t next = add_job(w, c, "next", JOB("fake run=1000"));
    WAIT(w, job_state(w, j) == EXEC_RUNNING);
    resize_by(w, c, 0, DEALLOC_WAIT_FOR_COMPLETION);
    WAIT(w, cluster_row(w, c).alloc_state == ALLOC_RESIZING);
    assert_int_equal(counts(w, c).running, 1);
    WAIT(w, rows_of(counts(w, c)) == 0);
    assert_int_equal(job_state(w, j), EXEC_SUCCEEDED);
    assert_int_equal(job_state(w, next), EXEC_QUEUED);
    assert_int_equal(cluster_row(w, c).alloc_state, ALLOC_STEADY);
}

WORLD_TEST(test_restart_resumes, world_new(4))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j =
        add_job(w, c, "j",
                JOB("echo begin; until test -f $AZ_BATCHAI_MOUNT_ROOT/share/go; do sleep 0.05; "
                    "done; echo end; exit 5"));
    WAIT(w, strcmp(out_of(w, j), "begin\n") == 0);
    const char *out = share_file(w, j, "stdouterr/stdout.txt");
    world_stop(w);
    go(w);
    WAIT(w, strcmp(read_text(w, out), "begin\nend\n") == 0); /* it goes on without us */
    world_start(w);
    WAIT(w, job_ended(w, j));
    assert_int_equal(job_row(w, j).exit_code, 5);
    assert_int_equal(job_row(w, j).attempt, 1);
    assert_string_equal(read_text(w, out), "begin\nend\n");
    WAIT(w, counts(w, c).idle == 1);
}

WORLD_TEST(test_delete_everything, world_new(4))
{
    struct err e = {0};
    int64_t c = add_cluster_of(w, "c", 2);
    int64_t run = add_job(w, c, "run", JOB("sleep 60", .nodes = 2));
    add_job(w, c, "wait", JOB("true"));
    WAIT(w, job_state(w, run) == EXEC_RUNNING);
    delete_row(w, RES_GROUP, w->group);
    struct resource_group g;
    WAIT(w, st_group_by_id(w->st, &w->a, w->group, &g, &e) == 0);
    DIR *d = opendir(path(w, "nodes"));
    int left = 0;
    for (struct dirent *x; (x = readdir(d));)
        left += x->d_name[0] != '.';
    closedir(d);
    assert_int_equal(left, 0);
}

WORLD_TEST(test_cluster_deleted_under_jobs, world_virtual(1))
{
    struct err e = {0};
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t run = add_job(w, c, "run", JOB("fake run=60000"));
    int64_t wait = add_job(w, c, "wait", JOB("fake run=1000"));
    WAIT(w, job_state(w, run) == EXEC_RUNNING);
    delete_row(w, RES_CLUSTER, c);
    struct cluster row;
    WAIT(w, st_cluster_by_id(w->st, &w->a, c, &row, &e) == 0);
    assert_int_equal(job_state(w, run), EXEC_FAILED);
    assert_int_equal(job_state(w, wait), EXEC_FAILED);
    job_says(w, run, "ClusterDeleted");
    job_says(w, wait, "ClusterDeleted");
}

WORLD_TEST(test_capacity_is_shared, world_virtual(2))
{
    int64_t one = add_cluster_of(w, "one", 2);
    WAIT(w, counts(w, one).idle == 2);
    int64_t two = add_cluster_of(w, "two", 1);
    cluster_will_say(w, two, "NodeCapacityReached");
    assert_int_equal(cluster_row(w, two).alloc_state, ALLOC_RESIZING);
    resize(w, one, 1);
    WAIT(w, counts(w, two).idle == 1);
    assert_null(cluster_row(w, two).errors);
    assert_int_equal(cluster_row(w, two).alloc_state, ALLOC_STEADY);
}

WORLD_TEST(test_automatic_scaling, world_virtual(4))
{
    int64_t c = add_cluster(
        w, "c", (struct cluster_wish){.scale = {.kind = SCALE_AUTO, .minimum = 0, .maximum = 2}});
    WAIT(w, cluster_row(w, c).alloc_state == ALLOC_STEADY);
    assert_int_equal(rows_of(counts(w, c)), 0);
    int64_t j = add_job(w, c, "j", JOB("fake run=1000", .nodes = 2));
    assert_ends(w, j, EXEC_SUCCEEDED);
    WAIT(w, rows_of(counts(w, c)) == 0);
    WAIT(w, cluster_row(w, c).alloc_state == ALLOC_STEADY);
}

WORLD_TEST(test_setup_task, world_new(4))
{
    int64_t good = add_cluster(
        w, "good",
        (struct cluster_wish){.scale = {.target = 1},
                              .setup = SHARE
                              ",'setupTask': {'commandLine': 'echo $WHO', 'environmentVariables': "
                              "[{'name':'WHO','value':'me'}], 'stdOutErrPathPrefix': "
                              "'$AZ_BATCHAI_MOUNT_ROOT/share/setup'}"});
    int64_t bad =
        add_cluster(w, "bad",
                    (struct cluster_wish){
                        .scale = {.target = 1},
                        .setup = "'setupTask': {'commandLine': 'echo not here >&2; exit 9'}"});
    WAIT(w, counts(w, good).idle == 1 && counts(w, bad).unusable == 1);
    WAIT(w, cluster_row(w, bad).errors != NULL);
    const char *errors = cluster_row(w, bad).errors;
    assert_says(errors, "NodeSetupFailed", "not here", "exit 9");
    struct cluster row = cluster_row(w, good);
    assert_string_equal(
        read_text(
            w, path(w, arena_printf(&w->a, "storage/acct/files/share/setup/%s/stdout-%s.txt",
                                    cluster_path_segment(&w->a, &row), node_row(w, good, 0).name))),
        "me\n");
}

#define JOB_SHARE                                                                                  \
    "'mountVolumes': {'azureBlobFileSystems': [{'accountName': 'acct', 'containerName': 'data', "  \
    "'relativeMountPath': 'data'}]},"

WORLD_TEST(test_job_level_mounts, world_new(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j =
        add_job(w, c, "j",
                JOB("cat $AZ_BATCHAI_JOB_MOUNT_ROOT/data/in; echo "
                    "$AZ_BATCHAI_JOB_TEMP",
                    .prep = "echo 1 > $AZ_BATCHAI_JOB_MOUNT_ROOT/data/in", .more = JOB_SHARE));
    assert_ends(w, j, EXEC_SUCCEEDED);
    WAIT(w, counts(w, c).idle == 1);
    assert_string_equal(read_text(w, path(w, "storage/acct/blobs/data/in")), "1\n");
    /* The job's own directory is gone, the container is not. */
    char *out = arena_strdup(&w->a, out_of(w, j));
    assert_memory_equal(out, "1\n", 2);
    out[strcspn(out + 2, "\n") + 2] = '\0';
    assert_int_not_equal(access(out + 2, F_OK), 0);
}

WORLD_TEST(test_mounts_that_fail, world_new(2))
{
    struct err e = {0};
    int64_t c = add_cluster_of(w, "c", 1);
    ok(fs_mkdirs(path(w, "storage/acct"), 0755, &e), &e);
    ok(fs_write_atomic(path(w, "storage/acct/blobs"), "", 0, 0644, &e), &e);
    int64_t j = add_job(w, c, "j", JOB("true", .more = JOB_SHARE));
    assert_ends(w, j, EXEC_FAILED);
    job_says(w, j, "BFSMountError", "acct/data");
    /* It never ran. */
    assert_string_equal(out_of(w, j), "(no such file)");
    int64_t bad = add_cluster(
        w, "bad",
        (struct cluster_wish){
            .scale = {.target = 1},
            .setup = "'mountVolumes': {'azureBlobFileSystems': [{'accountName': 'acct', "
                     "'containerName': 'data', 'relativeMountPath': 'data'}]}"});
    WAIT(w, cluster_row(w, bad).errors != NULL);
    assert_int_equal(counts(w, bad).unusable, 1);
    cluster_says(w, bad, "BFSMountError");
}

WORLD_TEST(test_refused_jobs_make_way, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t refused =
        add_job(w, c, "referring",
                JOB("fake run=1000",
                    .more = "'secrets': [{'name': 'T', 'valueSecretReference': {'sourceVault': "
                            "{'id': 'v'}, 'secretUrl': 'https://v/s'}}],"));
    int64_t next = add_job(w, c, "next", JOB("fake run=1000"));
    WAIT(w, job_ended(w, refused) && job_ended(w, next));
    assert_int_equal(job_state(w, refused), EXEC_FAILED);
    job_says(w, refused, "KeyVaultSecretNotRead");
    assert_int_equal(job_row(w, refused).attempt, 0);
    assert_int_equal(job_state(w, next), EXEC_SUCCEEDED);
}

WORLD_TEST(test_unknown_variable, world_virtual(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j",
                        JOB("fake run=1000", .more = "'inputDirectories': [{'id':'I','path':"
                                                     "'$NOT_THERE/x'}],"));
    assert_ends(w, j, EXEC_FAILED);
    job_says(w, j, "NOT_THERE");
    WAIT(w, counts(w, c).idle == 1);
}
