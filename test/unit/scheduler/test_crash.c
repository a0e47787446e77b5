/* SPDX-License-Identifier: MIT
 *
 * kill -9 at random moments: a child process runs the scheduler, the parent kills it, again and
 * again. Afterwards every job that was inserted has ended, each ran exactly once (or, when its
 * nodes were taken away meanwhile, at most once per attempt), and no node holds anything.
 * CRASH_ROUNDS and CRASH_SEED vary it.
 */
#include "scheduler/run/runs.h"
#include "world.h"

#include <dirent.h>
#include <sys/wait.h>
#include <time.h>

#define JOBS 60

static int number(const char *name, int fallback)
{
    const char *v = getenv(name);
    return v ? atoi(v) : fallback;
}

/* A command that notes that it ran, some with a preparation, some on two nodes, some failing. */
static void add_numbered(struct world *w, int64_t cluster, int i)
{
    struct arena *a = &w->a;
    const struct job_wish wish = {
        .command = arena_printf(a, "echo main %d >> $AZ_BATCHAI_MOUNT_ROOT/share/ran; exit %d", i,
                                i % 5 == 0 ? 3 : 0),
        .prep = i % 3 == 0 ? arena_printf(a, "echo prep %d >> $AZ_BATCHAI_MOUNT_ROOT/share/ran", i)
                           : NULL,
        .nodes = i % 4 == 0 ? 2 : 1};
    add_job(w, cluster, arena_printf(a, "j%d", i), wish);
}

static void run_for_ever(struct world *w)
{
    world_start(w);
    for (;;)
        uv_run(&w->loop, UV_RUN_ONCE);
}

/* A child has its own handles: nothing of the parent's loop may be used after the fork. */
static void child(const char *dir, unsigned seed)
{
    struct world *w = world_bare(dir);
    (void)seed;
    w->local_nodes = 4;
    run_for_ever(w);
}

static void kill_after(pid_t pid, long ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL); /* the moment is the input of this test, not a wait for something */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static int lines(const char *text, const char *line)
{
    int n = 0;
    size_t len = strlen(line);
    for (const char *p = text; (p = strstr(p, line)); p += len)
        n += p[len] == '\n' && (p == text || p[-1] == '\n');
    return n;
}

static void check_job(struct world *w, int64_t id, int i, const char *ran)
{
    struct job j = job_row(w, id);
    bool bad = i % 5 == 0;
    if (j.exec_state != (bad ? EXEC_FAILED : EXEC_SUCCEEDED) || j.exit_code != (bad ? 3 : 0) ||
        j.attempt != 1)
        fail_msg("job %d: state %d, exit code %d, attempt %d, errors %s", i, (int)j.exec_state,
                 j.exit_code, j.attempt, j.errors ? j.errors : "none");
    int mains = lines(ran, arena_printf(&w->a, "main %d", i));
    int preps = lines(ran, arena_printf(&w->a, "prep %d", i));
    int want_preps = i % 3 ? 0 : i % 4 ? 1 : 2;
    if (mains != 1 || preps != want_preps)
        fail_msg("job %d ran %d times, was prepared %d times", i, mains, preps);
}

static bool all_ended(struct world *w, int64_t first)
{
    for (int i = 0; i < JOBS; i++)
        if (!job_ended(w, first + i))
            return false;
    return true;
}

/* A cluster of four nodes with all jobs, whose daemons are killed one after the other. */
static int64_t cluster_of_killed(struct world *w, void (*daemon)(const char *dir, unsigned seed))
{
    unsigned seed = (unsigned)number("CRASH_SEED", (int)time(NULL));
    int64_t c = add_cluster_of(w, "c", 4);
    for (int i = 0; i < JOBS; i++)
        add_numbered(w, c, i);
    world_stop(w);
    srand(seed);
    print_message("CRASH_SEED=%u\n", seed);
    for (int i = 0; i < number("CRASH_ROUNDS", 12); i++) {
        pid_t pid = fork();
        if (pid == 0)
            daemon(w->dir, seed + (unsigned)i);
        assert_true(pid > 0);
        kill_after(pid, 5 + rand() % 250);
    }
    world_start(w);
    return c;
}

WORLD_TEST(test_killed_at_random, world_new(4))
{
    int64_t c = cluster_of_killed(w, child);
    WAIT(w, all_ended(w, 1) && counts(w, c).idle == 4);
    const char *ran = read_text(w, path(w, "storage/acct/files/share/ran"));
    for (int i = 0; i < JOBS; i++)
        check_job(w, 1 + i, i, ran);
}

/* --- and users who change their minds meanwhile ----------------------------------------------- */

static void change_something(struct world *w)
{
    struct err e = {0};
    int64_t id = 1 + rand() % JOBS;
    struct job j;
    if (st_job_by_id(w->st, &w->a, id, &j, &e) != 1)
        return;
    switch (rand() % 4) {
    case 0:
        terminate(w, id);
        break;
    case 1:
        delete_row(w, RES_JOB, id);
        break;
    default:
        set_scale(w, 1,
                  (struct scale){
                      .kind = SCALE_MANUAL, .target = 1 + rand() % 4, .dealloc = DEALLOC_REQUEUE});
    }
}

static void restless_child(const char *dir, unsigned seed)
{
    struct world *w = world_bare(dir);
    w->local_nodes = 4;
    srand(seed);
    world_start(w);
    uv_timer_start(&w->tick, on_tick, 7, 7);
    for (;;) {
        uv_run(&w->loop, UV_RUN_ONCE);
        if (rand() % 8 == 0)
            change_something(w);
    }
}

static void check_attempts(struct world *w, int64_t id, int i, const char *ran)
{
    struct job j = job_row(w, id);
    int mains = lines(ran, arena_printf(&w->a, "main %d", i));
    if (j.id != 0 && mains > j.attempt)
        fail_msg("job %d ran %d times in %d attempts", i, mains, j.attempt);
    if (j.exec_state == EXEC_SUCCEEDED && mains == 0)
        fail_msg("job %d succeeded without having run", i);
}

static bool all_settled(struct world *w)
{
    for (int i = 0; i < JOBS; i++) {
        enum exec_state x = job_state(w, 1 + i); /* 0: deleted */
        if (x != 0 && x != EXEC_SUCCEEDED && x != EXEC_FAILED)
            return false;
    }
    return true;
}

static int node_roots(struct world *w)
{
    int n = 0;
    DIR *d = opendir(path(w, "nodes"));
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

WORLD_TEST(test_killed_while_things_change, world_new(4))
{
    int64_t c = cluster_of_killed(w, restless_child);
    resize(w, c, 3);
    WAIT(w, all_settled(w) && counts(w, c).idle == 3 && rows_of(counts(w, c)) == 3);
    WAIT(w, node_roots(w) == 3);
    assert_int_equal(cluster_row(w, c).alloc_state, ALLOC_STEADY);
    const char *ran = read_text(w, path(w, "storage/acct/files/share/ran"));
    for (int i = 0; i < JOBS; i++)
        check_attempts(w, 1 + i, i, ran);
}
