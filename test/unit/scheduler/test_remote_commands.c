/* SPDX-License-Identifier: MIT
 *
 * Remote commands as the daemon sees them: how many tasks a run may have on another node by them,
 * and what the node keeps of these. On fake nodes, in virtual time.
 */
#include "scheduler/run/remote.h"
#include "virtual.h"

#include "nodeagent-proto/link/fake_priv.h"
#include "scheduler/fleet/node/node_priv.h"
#include "scheduler/run/terminal.h"
#include "storage/usage.h"

/* A run on two nodes, which asks for far ends on its second. */
struct command_pair {
    struct world *w;
    struct live_run *run;
    struct fake_node *far;
    int exit_code; /* of each far end */
    int64_t lasts_us;
    const struct fake_agent *agent;
    int forgets; /* that were asked of the second node and not answered */
};

static struct command_pair *now_planned; /* by plan_far_end() */

static bool is_far_end(const char *id)
{
    return strstr(id, "ssh") != NULL;
}

static void plan_far_end(void *ctx, const struct fake_node *on, const struct task_spec *spec,
                         struct fake_task *out)
{
    plan_task(ctx, on, spec, out);
    out->exit_code = is_far_end(spec->id) ? now_planned->exit_code : 0;
    out->ignores_term = !is_far_end(spec->id); /* these end before the run */
    out->run_us = is_far_end(spec->id) ? now_planned->lasts_us : 7200 * SECOND;
}

static bool is_prepared(const struct command_pair *p)
{
    return p->run && remote_is_prepared(&p->run->slots[0]) && remote_is_prepared(&p->run->slots[1]);
}

static struct live_run *only_run(struct world *w)
{
    const struct id_map *runs = &sched_runs(w->s)->map;
    return runs->n == 1 ? runs->e[0].p : NULL;
}

static const struct site with_accounts = {
    .first_uid = 3000000, .n_uids = 1000000, .local_accounts = true};

static struct command_pair *pair_new(void)
{
    struct command_pair *p = xcalloc(1, sizeof *p);
    struct world *w = p->w = world_virtual_at(2, &with_accounts);
    now_planned = p;
    virtual_of(w)->fake->c.plan = plan_far_end;
    int64_t c = idle_cluster(w, 2);
    (void)add_job(w, c, "pair", JOB("true", .nodes = 2, .wall_s = 7200));
    WAIT(w, (p->run = only_run(w)) && is_prepared(p));
    const char *name = p->run->slots[1].node_name;
    for (size_t i = 0; i < fake_count(virtual_of(w)->fake); i++)
        if (strstr(fake_name(fake_at(virtual_of(w)->fake, i)), name))
            p->far = fake_at(virtual_of(w)->fake, i);
    assert_non_null(p->far);
    return p;
}

static void pair_free(struct command_pair *p)
{
    world_free(p->w);
    free(p);
}

#define PAIR_TEST(name) FIXTURE_TEST(name, struct command_pair *, p, pair_new(), pair_free)

static int far_ends(const struct command_pair *p)
{
    int n = 0;
    for (const struct fake_node_task *t = p->far->tasks; t; t = t->next)
        n += is_far_end(t->id);
    return n;
}

/* A process on the first node asks for far ends, of sessions with these numbers. */
static void open_far_ends(struct command_pair *p, int first, int n)
{
    for (int i = first; i < first + n; i++) {
        char session[REMOTE_SESSION_MAX];
        snprintf(session, sizeof session, "s%d", i);
        remote_hear(&p->run->slots[0],
                    &(struct remote_msg){.kind = REMOTE_OPEN, .session = session, .host = "1"});
    }
}

PAIR_TEST(test_a_run_has_so_many_far_ends_on_a_node_and_no_more)
{
    p->lasts_us = 60 * SECOND;
    open_far_ends(p, 0, 200);
    pass(w, SECOND);
    open_far_ends(p, 0, 200); /* each near end asks until its far end says something */
    open_far_ends(p, 200, 100);
    pass(w, SECOND);
    assert_int_equal(far_ends(p), 256);
    open_far_ends(p, 200, 100);
    pass(w, 90 * SECOND);
    assert_int_equal(far_ends(p), 0);
    open_far_ends(p, 256, 44);
    pass(w, SECOND);
    assert_int_equal(far_ends(p), 44);
}

static void cut_link(struct command_pair *p)
{
    fake_cut(p->far);
    WAIT(p->w, !is_prepared(p));
    WAIT(p->w, is_prepared(p));
}

PAIR_TEST(test_far_ends_are_counted_anew_over_a_new_link)
{
    p->lasts_us = 600 * SECOND;
    open_far_ends(p, 0, 256);
    pass(w, SECOND);
    cut_link(p);
    open_far_ends(p, 256, 1);
    pass(w, SECOND);
    assert_int_equal(far_ends(p), 257);
}

PAIR_TEST(test_a_node_does_not_remember_all_failed_far_ends)
{
    p->exit_code = 1;
    for (int i = 0; i < 300; i += 100) {
        open_far_ends(p, i, 100);
        pass(w, SECOND);
    }
    assert_int_equal(far_ends(p), 100);
}

PAIR_TEST(test_far_ends_take_no_memory_that_stays)
{
    struct run_slot *slot = &p->run->slots[1];
    slot->tenant.node->seen.is_root = true; /* so its runs have accounts of their own */
    assert_non_null(slot_account(slot, &w->a));
    const struct arena_block *before = slot->a.head;
    for (int i = 0; i < 1000; i += 100) {
        open_far_ends(p, i, 100);
        pass(w, SECOND);
    }
    assert_int_equal(far_ends(p), 0);
    assert_ptr_equal(slot->a.head, before);
}

static void restart_with_run(struct command_pair *p)
{
    p->run = NULL;
    restart(p->w);
    WAIT(p->w, (p->run = only_run(p->w)) && is_prepared(p));
}

static void end_terminal(struct command_pair *p, int rank, int64_t user_us)
{
    struct run_slot *slot = &p->run->slots[rank];
    struct arena a;
    arena_init(&a);
    const struct task_status shell = {
        .id = arena_printf(&a, "%s%d-x", remote_task_prefix(slot, &a), REMOTE_DAEMON),
        .state = TASK_EXITED,
        .measured = true,
        .user_us = user_us};
    assert_true(terminal_task_ended(slot, &shell));
    arena_free(&a);
}

/* What the job used on the node of this rank, when it has ended. */
static int64_t used_on(struct command_pair *p, int64_t job, int rank)
{
    struct world *w = p->w;
    struct err e = {0};
    struct usage *rows;
    size_t n;
    assert_ends(w, job, EXEC_FAILED);
    WAIT(w, st_usage_of_owner(w->st, &w->a, RES_JOB, job, &rows, &n, &e) == 0 && n == 2);
    const struct usage *there = &rows[rows[0].rank == rank ? 0 : 1];
    assert_true(there->used.known);
    return there->used.user_us;
}

/* No task of the run works on the second node, so nothing else tells what was used there. */
PAIR_TEST(test_what_remote_commands_used_outlasts_the_daemon)
{
    int64_t job = p->run->row.owner_id;
    virtual_of(w)->user_us = 5000;
    for (int life = 0; life < 3; life++) {
        open_far_ends(p, 10 * life, 10);
        pass(w, SECOND);
        assert_int_equal(far_ends(p), 0);
        end_terminal(p, 1, 70);
        pass(w, SECOND);
        restart_with_run(p);
    }
    terminate(w, job);
    assert_int_equal(used_on(p, job, 1), 3 * (10 * 5000 + 70));
}

/* Also what a signal ends, of which this daemon has started nothing. */
PAIR_TEST(test_what_remote_commands_used_is_counted_if_the_next_daemon_ends_them)
{
    int64_t job = p->run->row.owner_id;
    virtual_of(w)->user_us = 5000;
    p->lasts_us = 7200 * SECOND;
    open_far_ends(p, 0, 10);
    pass(w, SECOND);
    assert_int_equal(far_ends(p), 10);
    restart_with_run(p);
    terminate(w, job);
    assert_int_equal(used_on(p, job, 1), 10 * 5000);
}

/* The row has the use of the run's own tasks by then, and nodes do not tell the next daemon. */
PAIR_TEST(test_a_terminal_that_ends_right_after_its_run_adds_to_what_the_run_used)
{
    int64_t job = p->run->row.owner_id;
    virtual_of(w)->user_us = 5000;
    terminate(w, job);
    while (p->run->phase != RUN_ENDED)
        w->step(w);
    end_terminal(p, 0, 70);
    restart(w);
    assert_int_equal(used_on(p, job, 0), 5000 + 70);
}

static void count_forgets(struct conn *c, json_t *msg)
{
    const char *op = json_string_value(json_object_get(msg, "op"));
    if (op && strcmp(op, "forget") == 0)
        now_planned->forgets++;
    else
        now_planned->agent->request(c, msg);
}

/* Nodes answer everything but requests to forget a task. */
static void answer_no_forget(struct command_pair *p)
{
    static struct fake_agent silent;
    struct fake_nodes *f = virtual_of(p->w)->fake;
    p->agent = f->agent;
    silent = *f->agent;
    silent.request = count_forgets;
    f->agent = &silent;
}

/* The node says that tasks of remote commands whose near end has this rank have ended. */
static void end_tasks(struct command_pair *p, int rank, int n)
{
    struct run_slot *slot = &p->run->slots[1];
    for (int i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        const struct task_status st = {
            .id = arena_printf(&a, "%s%d-x%d", remote_task_prefix(slot, &a), rank, i),
            .state = TASK_EXITED,
            .measured = true,
            .user_us = 1};
        assert_true(terminal_task_ended(slot, &st) || remote_task_ended(slot, &st));
        arena_free(&a);
    }
}

PAIR_TEST(test_a_node_that_forgets_nothing_is_asked_a_limited_number_of_times)
{
    answer_no_forget(p);
    end_tasks(p, REMOTE_DAEMON, 5000);
    pass(w, SECOND);
    assert_int_equal(p->forgets, 1000);
    assert_int_equal(p->run->slots[1].used.user_us, 1000); /* the others are reported again */
    end_tasks(p, 0, 5000);
    pass(w, SECOND);
    assert_int_equal(p->forgets, 1000);
    virtual_of(w)->fake->agent = p->agent;
    cut_link(p);
    end_tasks(p, 0, 1);
    assert_int_equal(p->run->slots[1].forgetting, 1);
    pass(w, SECOND);
    assert_int_equal(p->run->slots[1].forgetting, 0);
}
