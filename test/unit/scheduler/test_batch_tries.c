/* SPDX-License-Identifier: MIT
 *
 * What stays of the tries of Azure Batch's tasks on their node. On fake nodes, in virtual time.
 */
#include "test/unit/scheduler/batch_work.h"

#include "scheduler/run/run_priv.h"
#include "scheduler/sched_priv.h"

#define RETRIES 20

/* A task that takes 3 s, fails, and is tried again. */
static struct batch_task add_failing_task(struct world *w)
{
    const struct batch_waits nothing = {0};
    add_slots(w, "p", 1);
    struct batch_job j = add_work(w, "j", "");
    struct batch_task t = add_command_task(w, &j, "t0", "fake run=3000 exit=3", RETRIES, &nothing);
    batch_job_has_more(&w->batch, j.id);
    return t;
}

WORLD_TEST(test_a_node_forgets_every_try_of_a_task, world_virtual(1))
{
    struct batch_task t = add_failing_task(w);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_int_equal(virtual_of(w)->started, 1 + RETRIES);
    WAIT(w, tasks_known(the_node(w)) == 0);
}

/* The link breaks after each try, each time a little later. */
WORLD_TEST(test_a_node_whose_links_break_forgets_every_try_of_a_task, world_virtual(1))
{
    struct batch_task t = add_failing_task(w);
    const struct virtual_world *v = virtual_of(w);
    for (int i = 1; i <= RETRIES; i++) {
        WAIT(w, v->ended == i);
        pass(w, i * 1000);
        fake_cut(the_node(w));
    }
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_int_equal(v->started, 1 + RETRIES);
    WAIT(w, tasks_known(the_node(w)) == 0);
}

#define OUTPUT                                                                                     \
    "'outputFiles':[{'filePattern':'*','destination':{'container':{'containerUrl':"                \
    "'https://acct.blob.core.windows.net/c?sig=s'}},"                                              \
    "'uploadOptions':{'uploadCondition':'taskCompletion'}}],"

/* As if the daemon served the URL. */
static int is_own_url(void *ctx, struct arena *a, const char *url, const char **out, struct err *e)
{
    (void)ctx, (void)a, (void)e;
    *out = url;
    return 1;
}

/* A task that fails, is tried again once, and whose output is uploaded after each try. */
static struct batch_task add_output_task(struct world *w, const struct batch_job *j)
{
    const struct batch_waits nothing = {0};
    return add_task_of(w, j, "t0", OUTPUT "'commandLine':'fake run=3000 exit=3'", 1, &nothing);
}

/* Whether the output of the one run is being uploaded. */
static bool uploads(struct world *w)
{
    const struct id_map *runs = &w->s->runs->map;
    struct err e = {0};
    int64_t *ids;
    size_t n;
    ok(st_run_live_ids(w->st, &w->a, &ids, &n, &e), &e);
    const struct live_run *run = n == 1 ? id_map_find(runs, ids[0]) : NULL;
    return run && run->phase == RUN_SAVING;
}

/* Also if its node is lost during the upload of a try's output. */
WORLD_TEST(test_a_failed_try_is_followed_by_another_when_its_node_is_lost, world_virtual(1))
{
    add_slots(w, "p", 1);
    struct batch_job j = add_work(w, "j", "");
    w->batch.blobs.home = is_own_url;
    struct batch_task t = add_output_task(w, &j);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, uploads(w));
    fake_wipe(the_node(w));
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_int_equal(virtual_of(w)->started, 2);
}
