/* SPDX-License-Identifier: MIT
 *
 * What breaks under a running job, and what becomes of it: agents and supervisors killed, node
 * roots gone, agents that cannot start. Ends that need no process are in test_endings.c.
 */
#include "world.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/strbuf.h"
#include "scheduler/run/runs.h"

/* The process of this name that serves a node's root. */
static pid_t find_process(struct world *w, const char *name, const char *node)
{
    pid_t found = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; !found && (e = readdir(d));) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        char file[300], text[1024] = "", comm[32] = "";
        snprintf(file, sizeof file, "/proc/%s/cmdline", e->d_name);
        FILE *f = fopen(file, "r");
        size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        if (f)
            fclose(f);
        snprintf(file, sizeof file, "/proc/%s/comm", e->d_name);
        if ((f = fopen(file, "r"))) {
            if (!fgets(comm, sizeof comm, f))
                comm[0] = '\0';
            fclose(f);
        }
        comm[strcspn(comm, "\n")] = '\0';
        if (strcmp(comm, name) == 0 && memmem(text, n, w->dir, strlen(w->dir)) &&
            memmem(text, n, node, strlen(node)))
            found = (pid_t)atoi(e->d_name);
    }
    closedir(d);
    return found;
}

static pid_t agent_pid(struct world *w, const char *node)
{
    return find_process(w, "batchai-node", node);
}

static pid_t kill_agent(struct world *w, const char *node)
{
    pid_t pid = agent_pid(w, node);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    return pid;
}

WORLD_TEST(test_agent_killed, world_new(2))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB(UNTIL_GO "; exit 4"));
    WAIT(w, strcmp(out_of(w, j), "begin\n") == 0);
    const char *name = node_row(w, c, 0).name;
    for (int i = 0; i < 3; i++) {
        pid_t pid = kill_agent(w, name), next = 0;
        WAIT(w, (next = agent_pid(w, name)) > 0 && next != pid);
    }
    go(w);
    WAIT(w, job_ended(w, j));
    assert_int_equal(job_row(w, j).exit_code, 4);
    assert_int_equal(job_row(w, j).attempt, 1);
    assert_string_equal(out_of(w, j), "begin\nend\n");
    WAIT(w, counts(w, c).idle == 1);
}

WORLD_TEST(test_root_wiped, world_new(2))
{
    struct err e = {0};
    int64_t c = add_cluster_of(w, "c", 2);
    int64_t j = add_job(w, c, "j", JOB(UNTIL_GO, .nodes = 2));
    WAIT(w, strcmp(out_of(w, j), "begin\n") == 0);
    const char *name = node_row(w, c, 1).name;
    ok(fs_remove_tree(path(w, arena_printf(&w->a, "nodes/%s", name)), &e), &e);
    WAIT(w, job_row(w, j).attempt == 2); /* its agent ended by itself */
    go(w);
    assert_ends(w, j, EXEC_SUCCEEDED);
    WAIT(w, counts(w, c).idle == 2); /* the node healed */
    assert_null(cluster_row(w, c).errors);
}

static const char *incarnation_of(struct world *w, const char *root)
{
    return read_text(w, arena_printf(&w->a, "%s/incarnation", root));
}

/* Its agent ends by itself, and the node is prepared again before any job comes. */
WORLD_TEST(test_root_wiped_under_an_idle_agent, world_new(1))
{
    struct err e = {0};
    struct stat st;
    int64_t c = idle_cluster(w, 1);
    const char *root = path(w, arena_printf(&w->a, "nodes/%s", node_row(w, c, 0).name));
    const char *first = incarnation_of(w, root);
    ok(fs_remove_tree(root, &e), &e);
    int64_t j = add_job(w, c, "j", JOB("echo well"));
    assert_ends(w, j, EXEC_SUCCEEDED);
    assert_string_equal(out_of(w, j), "well\n");
    WAIT(w, counts(w, c).idle == 1);
    assert_null(cluster_row(w, c).errors);
    assert_string_not_equal(incarnation_of(w, root), first);
    const char *mount = arena_printf(&w->a, "%s/mounts/share", root);
    assert_int_equal(lstat(mount, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

WORLD_TEST(test_node_lost, world_new(2))
{
    struct err e = {0};
    int64_t c = cluster_of(w, 1, DEALLOC_TERMINATE);
    int64_t j = add_job(w, c, "j", JOB(UNTIL_GO));
    WAIT(w, strcmp(out_of(w, j), "begin\n") == 0);
    /* The supervisor has written what it writes at the start, and the agent sees nothing of what
     * follows: nobody makes the path anew. */
    WAIT(w, strstr(log_of(w, j), "started on"));
    /* A file where the node's directory was: no agent can serve it. */
    const char *root = path(w, arena_printf(&w->a, "nodes/%s", node_row(w, c, 0).name));
    assert_int_equal(kill(agent_pid(w, root), SIGSTOP), 0);
    assert_int_equal(rename(root, path(w, "away")), 0);
    ok(fs_write_atomic(root, "", 0, 0644, &e), &e);
    kill_agent(w, root);
    assert_ends(w, j, EXEC_FAILED);
    job_says(w, j, "NodeLost");
    WAIT(w, counts(w, c).unusable == 1);
    cluster_will_say(w, c, "NodeLost");
    WAIT(w, node_row(w, c, 0).live == 0);
    assert_int_equal(unlink(root), 0);
    go(w);
    /* The next resize tries the node again. */
    resize_by(w, c, 2, DEALLOC_TERMINATE);
    WAIT(w, counts(w, c).idle == 2);
    assert_null(cluster_row(w, c).errors);
    /* What ran on in the directory that was moved away sees the volumes again, and ends. */
    WAIT(w, strcmp(out_of(w, j), "begin\nend\n") == 0);
}

static void lose_supervisor(struct world *w, int64_t cluster, int64_t job)
{
    WAIT(w, strcmp(out_of(w, job), "begin\n") == 0);
    WAIT(w, strstr(log_of(w, job), "started on"));
    pid_t pid = find_process(w, "batchai-task", node_row(w, cluster, 0).name);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
}

WORLD_TEST(test_supervisor_killed, world_new(2))
{
    int64_t requeue = add_cluster_of(w, "requeue", 1);
    int64_t again = add_job(w, requeue, "again", JOB(UNTIL_GO));
    lose_supervisor(w, requeue, again);
    WAIT(w, job_row(w, again).attempt == 2);
    int64_t fails = add_cluster(
        w, "fails", (struct cluster_wish){.scale = {.target = 1, .dealloc = DEALLOC_TERMINATE}});
    int64_t once = add_job(w, fails, "once", JOB(UNTIL_GO));
    lose_supervisor(w, fails, once);
    assert_ends_in(w, once, EXEC_FAILED, 1);
    job_says(w, once, "NodeLost", "vanished");
    go(w);
    assert_ends(w, again, EXEC_SUCCEEDED);
    WAIT(w, counts(w, requeue).idle == 1 && counts(w, fails).idle == 1);
}

WORLD_TEST(test_agent_that_cannot_start, world_new(2))
{
    world_stop(w);
    char agent[sizeof w->agent];
    memcpy(agent, w->agent, sizeof agent);
    snprintf(w->agent, sizeof w->agent, "/bin/false");
    world_start(w);
    int64_t c = add_cluster_of(w, "c", 1);
    WAIT(w, counts(w, c).unusable == 1);
    WAIT(w, cluster_row(w, c).errors != NULL);
    memcpy(w->agent, agent, sizeof agent);
    restart(w);
    resize(w, c, 2);
    WAIT(w, counts(w, c).idle == 2);
}
