/* SPDX-License-Identifier: MIT
 *
 * Processes that stand still: a supervisor whose node root is to be removed, and an agent whose
 * machine is well. What is decided about tasks that do not die is in test_endings.c.
 */
#include "rack.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/run/runs.h"
#include "test/unit/scheduler/fleet/shell.h"

#include <dirent.h>
#include <signal.h>

static bool has_begun(struct world *w, int64_t job)
{
    return strstr(out_of(w, job), "begin\n") != NULL;
}

/* The number in a record of the only task on a node; 0: there is none. */
static pid_t supervisor_in_record(struct world *w, const char *root)
{
    DIR *d = opendir(arena_printf(&w->a, "%s/tasks", root));
    pid_t pid = 0;
    for (struct dirent *de; d && (de = readdir(d));) {
        const char *dot = strrchr(de->d_name, '.'), *at;
        if (!dot || strcmp(dot, ".start") != 0)
            continue;
        const char *text = read_text(w, arena_printf(&w->a, "%s/tasks/%s", root, de->d_name));
        at = strstr(text, "\"supervisor\":");
        pid = at ? atoi(at + strlen("\"supervisor\":")) : 0;
    }
    if (d)
        closedir(d);
    return pid;
}

/* It writes its record while the command begins. */
static pid_t supervisor_on(struct world *w, const char *root)
{
    pid_t pid = 0;
    WAIT(w, (pid = supervisor_in_record(w, root)) > 1);
    return pid;
}

/* A supervisor that is late writes its log when it goes on, and no root comes back with that. */
WORLD_TEST(test_a_node_root_is_removed_only_when_its_tasks_are_gone, world_new(1))
{
    struct stat st;
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB(ALONE_UNTIL_GO));
    WAIT(w, has_begun(w, j));
    const char *root = arena_strdup(&w->a, node_of(w, c, 0)->root);
    pid_t supervisor = supervisor_on(w, root);
    world_stop(w);
    lose_state(w);
    assert_int_equal(kill(supervisor, SIGSTOP), 0);
    world_start(w);
    int64_t until = time_now_us() + 500000;
    WAIT(w, time_now_us() >= until || stat(root, &st) != 0);
    assert_int_equal(stat(root, &st), 0);
    assert_int_equal(kill(supervisor, SIGCONT), 0);
    WAIT(w, stat(root, &st) != 0);
    assert_false(runs(w));
}

/* --- an agent that stands still --------------------------------------------------------------- */

static pid_t agent_of(struct rack *r)
{
    struct world *w = r->w;
    const char *out = path(w, "pids");
    (void)shell(arena_printf(&w->a, "pgrep -o -f 'agent --root %s'", r->group.node_root), out);
    return atoi(read_text(w, out));
}

static void stop_agent(struct rack *r)
{
    pid_t agent = agent_of(r);
    assert_true(agent > 1);
    assert_int_equal(kill(agent, SIGSTOP), 0);
}

RACK_TEST(test_an_agent_that_hangs_is_replaced_and_its_job_goes_on, 1)
{
    r->site.dead_after_s = 2;
    rack_up(r);
    int64_t c = idle_cluster(w, 1);
    stop_agent(r);
    int64_t j = add_job(w, c, "j", JOB(ALONE_UNTIL_GO));
    WAIT(w, has_begun(w, j));
    go(w);
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_int_equal(job_row(w, j).attempt, 1);
}

RACK_TEST(test_an_agent_that_hangs_while_a_node_is_prepared_is_replaced, 1)
{
    r->site.dead_after_s = 2;
    rack_up(r);
    /* The setup task stops the agent: its end is not told. */
    int64_t c = add_cluster(
        w, "c",
        (struct cluster_wish){
            .scale = {.target = 1},
            .setup = arena_printf(&w->a,
                                  "'setupTask': {'commandLine': 'echo x >>%s; kill -STOP $(pgrep "
                                  "-o -f agent.--root.%s)'}",
                                  path(w, "setups"), r->group.node_root)});
    WAIT(w, counts(w, c).idle == 1);
    assert_string_equal(read_text(w, path(w, "setups")), "x\n");
}
