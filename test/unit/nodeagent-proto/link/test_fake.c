/* SPDX-License-Identifier: MIT
 *
 * Fake nodes keep what PROTOCOL.md promises ("What holds", "What survives what"), so that what is
 * proven beside them holds beside real agents. In virtual time; some tests run under many seeds, as
 * what they look at depends on which message overtakes which.
 */
#include "test/unit/nodeagent-proto/link/fake_world.h"

#define SEEDS 50

/* --- once ----------------------------------------------------------------------------------- */

FAKE_TEST(test_an_id_starts_one_command_however_often_it_is_asked_for, 1)
{
    connect_at(w, d, 1);
    struct heard_answer first = run(w, d, "t1", "fake run=60000 exit=3");
    struct heard_answer again = run(w, d, "t1", "fake run=1");
    assert_int_equal(w->started, 1);
    assert_int_equal(first.status.state, TASK_RUNNING);
    assert_int_equal(again.status.state, TASK_RUNNING);
    assert_int_equal(again.status.started_us, first.status.started_us);
    fake_cut(node(w));
    connect_again(w, d, 2);
    assert_int_equal(run(w, d, "t1", "fake run=1").status.state, TASK_RUNNING);
    pass(w, 60 * SECOND);
    again = run(w, d, "t1", "fake run=1");
    assert_int_equal(again.status.state, TASK_EXITED);
    assert_int_equal(again.status.exit_code, 3);
    assert_int_equal(w->started, 1);
}

TEST(test_a_request_that_is_lost_may_have_been_carried_out)
{
    int carried_out = 0, lost = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fake_world w;
        struct fake_end d;
        struct heard_answer a;
        world_open(&w, seed);
        connect_at(&w, &d, 1);
        ask_run(&d, "t1", "fake run=60000", &a);
        fake_cut(node(&w));
        pass(&w, SECOND);
        assert_true(a.is_there && a.code == ERR_NODE_LOST && d.down);
        *(w.started ? &carried_out : &lost) += 1;
        hang_up(&w, &d);
        connect_at(&w, &d, 1);
        assert_int_equal(run(&w, &d, "t1", "fake run=60000").status.state, TASK_RUNNING);
        assert_int_equal(w.started, 1);
        hang_up(&w, &d);
        world_close(&w);
    }
    assert_true(carried_out > 0 && lost > 0);
}

/* --- ends ----------------------------------------------------------------------------------- */

FAKE_TEST(test_an_end_is_told_on_every_link_until_it_is_forgotten, 2)
{
    connect_at(w, d, 1);
    (void)run(w, d, "t1", "fake run=200 exit=7");
    assert_int_equal(d->ends, 0);
    assert_int_equal(forget(w, d, "t1"), ERR_CONFLICT); /* it runs */
    pass(w, SECOND);
    assert_int_equal(d->ends, 1);
    assert_string_equal(d->last_id, "t1");
    assert_int_equal(d->last.state, TASK_EXITED);
    assert_int_equal(d->last.exit_code, 7);
    (void)run(w, d, "t1", "fake"); /* once per link */
    assert_int_equal(d->ends, 1);
    connect_again(w, d, 2);
    assert_int_equal(d->ends, 1);
    assert_int_equal(tasks(w, d).n_tasks, 1);
    assert_int_equal(forget(w, d, "t1"), ERR_NONE);
    assert_int_equal(forget(w, d, "t1"), ERR_NONE);
    assert_int_equal(tasks(w, d).n_tasks, 0);
    connect_again(w, d, 3);
    assert_int_equal(d->ends, 0);
}

TEST(test_no_end_is_told_before_the_answer_to_its_run)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fake_world w;
        struct fake_end d;
        struct heard_answer a;
        world_open(&w, seed);
        connect_at(&w, &d, 1);
        ask_run(&d, "t1", "fake run=0", &a);
        pass(&w, SECOND);
        assert_true(a.is_there);
        assert_int_equal(a.ends_before, 0);
        assert_int_equal(d.ends, 1);
        hang_up(&w, &d);
        world_close(&w);
    }
}

/* Of `run` alone may the answer be overtaken. */
TEST(test_answers_come_in_the_order_of_the_requests)
{
    int overtaken = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fake_world w;
        struct fake_end d;
        struct heard_answer a[3];
        bool seen = false;
        world_open(&w, seed);
        connect_at(&w, &d, 1);
        ask_run(&d, "t1", "fake run=60000", &a[0]);
        for (int i = 1; i < 3; i++) {
            a[i] = (struct heard_answer){.end = &d};
            node_ask(d.link, BARE_REQUEST(ping), take_done, &a[i]);
        }
        while (!a[2].is_there) {
            pass(&w, 1);
            assert_true(a[1].is_there || !a[2].is_there);
            seen = seen || (a[2].is_there && !a[0].is_there);
        }
        overtaken += seen;
        pass(&w, SECOND);
        assert_true(a[0].is_there);
        hang_up(&w, &d);
        world_close(&w);
    }
    assert_true(overtaken > 0 && overtaken < SEEDS);
}

/* --- signals -------------------------------------------------------------------------------- */

FAKE_TEST(test_a_signal_ends_a_task_unless_the_task_ignores_it, 3)
{
    connect_at(w, d, 1);
    (void)run(w, d, "meek", "fake run=60000");
    assert_int_equal(send_signal(w, d, "meek", SIGTERM), ERR_NONE);
    assert_int_equal(d->ends, 1);
    assert_int_equal(d->last.signal, SIGTERM);
    assert_int_equal(d->last.exit_code, -1);
    (void)run(w, d, "hard", "fake run=60000 stubborn");
    assert_int_equal(send_signal(w, d, "hard", SIGTERM), ERR_NONE);
    assert_int_equal(d->ends, 1);
    assert_true(fake_runs(node(w), "hard"));
    assert_int_equal(send_signal(w, d, "hard", SIGKILL), ERR_NONE);
    assert_int_equal(d->ends, 2);
    assert_int_equal(d->last.signal, SIGKILL);
    assert_int_equal(send_signal(w, d, "hard", SIGKILL), ERR_NONE); /* it runs no more */
    assert_int_equal(send_signal(w, d, "nobody", SIGKILL), ERR_NONE);
    assert_int_equal(d->ends, 2);
}

/* --- what survives what ----------------------------------------------------------------------- */

FAKE_TEST(test_a_task_goes_on_without_a_link_and_without_a_daemon, 4)
{
    connect_at(w, d, 1);
    (void)run(w, d, "t1", "fake run=20000");
    fake_cut(node(w));
    pass(w, SECOND);
    assert_true(d->down && fake_runs(node(w), "t1"));
    connect_again(w, d, 1);
    fake_provider_cut_off(w->provider); /* the daemon is killed: nobody is told */
    pass(w, 5 * SECOND);
    assert_true(!d->down && fake_runs(node(w), "t1"));
    hang_up(w, d);
    pass(w, 20 * SECOND);
    assert_int_equal(d->ends, 0);
    connect_at(w, d, 2);
    assert_int_equal(d->ends, 1);
}

FAKE_TEST(test_a_node_that_hangs_is_noticed_and_goes_on_where_it_was, 5)
{
    struct heard_answer a;
    connect_at(w, d, 1);
    (void)run(w, d, "t1", "fake run=60000");
    fake_set_hung(node(w), true);
    ask_run(d, "t2", "fake run=60000", &a);
    pass(w, 15 * SECOND);
    assert_false(a.is_there || d->down);
    pass(w, 30 * SECOND);
    assert_true(a.is_there && a.code == ERR_NODE_LOST && d->down);
    assert_says(d->why_down.msg, "has not answered for 30 s");
    assert_true(fake_runs(node(w), "t1"));
    assert_int_equal(w->started, 1);
    hang_up(w, d);
    fake_set_hung(node(w), false);
    connect_at(w, d, 1);
    assert_true(tasks(w, d).n_tasks >= 1);
    assert_int_equal(run(w, d, "t2", "fake run=60000").status.state, TASK_RUNNING);
    assert_int_equal(w->started, 2);
}

FAKE_TEST(test_a_node_that_is_down_cannot_be_reached, 6)
{
    connect_at(w, d, 1);
    (void)run(w, d, "t1", "fake run=600000");
    fake_set_down(node(w), true, 3 * SECOND);
    pass(w, 2 * SECOND);
    assert_false(d->down);
    pass(w, 2 * SECOND);
    assert_true(d->down);
    hang_up(w, d);
    begin(w, d, 1);
    pass(w, SECOND);
    assert_true(d->down && !d->ready);
    hang_up(w, d);
    fake_set_down(node(w), false, 0);
    connect_at(w, d, 1);
    assert_true(fake_runs(node(w), "t1"));
}

FAKE_TEST(test_a_restart_loses_tasks_and_says_so, 7)
{
    struct fake_end before;
    connect_at(w, d, 1);
    (void)run(w, d, "done", "fake run=1 exit=4");
    (void)run(w, d, "t1", "fake run=60000");
    fake_restart(node(w));
    pass(w, SECOND);
    assert_true(d->down);
    hang_up(w, d);
    before = *d;
    connect_at(w, d, 1);
    assert_string_equal(d->incarnation, before.incarnation);
    assert_string_not_equal(d->boot_id, before.boot_id);
    assert_int_equal(d->ends, 2);
    assert_int_equal(run(w, d, "done", "fake").status.exit_code, 4);
    struct heard_answer lost = run(w, d, "t1", "fake");
    assert_int_equal(lost.status.state, TASK_LOST);
    assert_int_equal(lost.status.exit_code, -1);
    assert_int_equal(w->started, 2);
}

FAKE_TEST(test_a_node_that_was_wiped_knows_nothing, 8)
{
    struct fake_end before;
    connect_at(w, d, 9);
    (void)run(w, d, "t1", "fake run=60000");
    fake_wipe(node(w));
    pass(w, SECOND);
    assert_true(d->down && !fake_runs(node(w), "t1"));
    hang_up(w, d);
    before = *d;
    connect_at(w, d, 3); /* nor which daemon it worked for */
    assert_string_not_equal(d->incarnation, before.incarnation);
    assert_string_equal(d->boot_id, before.boot_id);
    assert_int_equal(d->ends, 0);
    assert_int_equal(tasks(w, d).n_tasks, 0);
    assert_int_equal(run(w, d, "t2", "fake run=60000").code, ERR_NONE);
}

/* --- refusals ------------------------------------------------------------------------------- */

FAKE_TEST(test_what_is_refused_has_not_happened, 9)
{
    connect_at(w, d, 1);
    (void)run(w, d, "t0", "fake run=60000");
    fake_set_refusals(node(w), 1000);
    assert_int_equal(run(w, d, "t1", "fake run=60000").code, ERR_IO);
    assert_int_equal(send_signal(w, d, "t0", SIGKILL), ERR_IO);
    assert_int_equal(w->started, 1);
    assert_true(fake_runs(node(w), "t0"));
    connect_again(w, d, 1); /* hello is not refused */
    fake_set_refusals(node(w), 0);
    assert_int_equal(run(w, d, "t1", "fake run=60000").status.state, TASK_RUNNING);
    assert_int_equal(w->started, 2);
}

static void cannot_start(void *ctx, const struct fake_node *n, const struct task_spec *spec,
                         struct fake_task *out)
{
    (void)ctx;
    (void)n;
    (void)spec;
    *out = (struct fake_task){.start_fails = "no shell"};
}

FAKE_TEST(test_a_command_that_cannot_be_started_has_a_status_and_an_end, 10)
{
    fake_provider_free(w->provider);
    fake_nodes_free(w->fake);
    const struct fake_config c = {.loop = w->nodes_loop,
                                  .log = &w->log,
                                  .seed = 1,
                                  .delay_min_us = 100,
                                  .delay_max_us = 200,
                                  .plan = cannot_start,
                                  .watch = {.started = on_started, .ctx = w}};
    w->fake = fake_nodes_create(&c);
    w->provider = fake_provider_new(w->fake, w->loop);
    connect_at(w, d, 1);
    struct heard_answer a = run(w, d, "t1", "anything");
    assert_int_equal(a.code, ERR_NONE);
    assert_int_equal(a.status.state, TASK_FAILED_TO_START);
    assert_int_equal(d->ends, 1);
    assert_string_equal(d->last_why, "no shell");
    assert_int_equal(w->started, 0);
}

/* --- epochs --------------------------------------------------------------------------------- */

FAKE_TEST(test_a_daemon_that_is_not_the_newest_only_looks, 11)
{
    connect_at(w, d, 5);
    (void)run(w, d, "new", "fake run=60000");
    connect_again(w, d, 4);
    assert_int_equal(tasks(w, d).n_tasks, 1);
    assert_int_equal(run(w, d, "old", "fake run=60000").code, ERR_CONFLICT);
    assert_int_equal(send_signal(w, d, "new", SIGKILL), ERR_CONFLICT);
    assert_int_equal(forget(w, d, "new"), ERR_CONFLICT);
    assert_true(fake_runs(node(w), "new"));
    assert_int_equal(w->started, 1);
    hang_up(w, d);
    fake_restart(node(w)); /* it is on disk */
    connect_at(w, d, 4);
    assert_int_equal(forget(w, d, "new"), ERR_CONFLICT);
    connect_again(w, d, 5);
    assert_int_equal(forget(w, d, "new"), ERR_NONE);
}

FAKE_TEST(test_a_newer_daemon_finds_and_ends_what_it_does_not_know, 12)
{
    connect_at(w, d, 5);
    (void)run(w, d, "of-an-older-epoch", "fake run=60000");
    connect_again(w, d, 6);
    struct heard_answer a = tasks(w, d);
    assert_int_equal(a.n_tasks, 1);
    assert_int_equal(a.status.state, TASK_RUNNING);
    assert_int_equal(send_signal(w, d, "of-an-older-epoch", SIGKILL), ERR_NONE);
    assert_int_equal(d->ends, 1);
    assert_string_equal(d->last_id, "of-an-older-epoch");
    assert_int_equal(forget(w, d, "of-an-older-epoch"), ERR_NONE);
    assert_int_equal(tasks(w, d).n_tasks, 0);
}

/* Its daemon opens another while the first is still there: the agent that served it ends. */
TEST(test_a_new_link_ends_the_one_before)
{
    struct fake_world w;
    struct fake_end first, second;
    world_open(&w, 13);
    connect_at(&w, &first, 1);
    (void)run(&w, &first, "t1", "fake run=500");
    connect_at(&w, &second, 2);
    assert_true(first.down);
    assert_int_equal(second.ends, 1);
    assert_int_equal(first.ends, 0);
    hang_up(&w, &first);
    hang_up(&w, &second);
    world_close(&w);
}
