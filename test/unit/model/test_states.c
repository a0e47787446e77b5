/* SPDX-License-Identifier: MIT
 *
 * Every state and event of both machines against a list written down a second time, and the string
 * tables of the states.
 */
#include "model/states.h"
#include "test/unit/support/tests.h"

struct expectation {
    const char *state, *event, *next;
};

static const struct expectation node_expected[] = {
    {"preparing", "prepared", "idle"},  {"preparing", "failed", "unusable"},
    {"preparing", "leave", "leaving"},  {"idle", "failed", "unusable"},
    {"idle", "leave", "leaving"},       {"leaving", "failed", "leaving"},
    {"unusable", "failed", "unusable"}, {"unusable", "retry", "preparing"},
    {"unusable", "leave", "leaving"},   {"idle", "restart", "preparing"},
};
static const struct expectation run_expected[] = {
    {"waiting", "allocated", "allocated"}, {"waiting", "ended", "over"},
    {"allocated", "ended", "releasing"},   {"allocated", "requeued", "waiting"},
    {"allocated", "released", "over"},     {"releasing", "released", "over"},
};
static const struct expectation allocation_expected[] = {
    {"held", "released", "released"},
    {"held", "lost", "lost"},
};
static const struct expectation hold_expected[] = {
    {"not", "wait", "waits"},     {"waits", "met", "not"}, {"waits", "broken", "broken"},
    {"turn", "broken", "broken"}, {"turn", "turn", "not"},
};
static const struct expectation prov_expected[] = {
    {"creating", "made", "succeeded"},    {"creating", "failed", "failed"},
    {"creating", "deleted", "deleting"},  {"updating", "deleted", "deleting"},
    {"succeeded", "deleted", "deleting"}, {"failed", "deleted", "deleting"},
    {"deleting", "deleted", "deleting"},
};
static const struct expectation pool_expected[] = {
    {"steady", "resize", "resizing"},
    {"resizing", "settled", "steady"},
};
static const struct expectation job_expected[] = {
    {"queued", "allocated", "running"},   {"queued", "failed", "failed"},
    {"queued", "terminate", "failed"},    {"running", "succeeded", "succeeded"},
    {"running", "failed", "failed"},      {"running", "terminate", "terminating"},
    {"running", "requeue", "queued"},     {"terminating", "failed", "failed"},
    {"terminating", "stopped", "failed"},
};

static const char *expected_next(const struct expectation *list, size_t n, const char *state,
                                 const char *event)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].state, state) == 0 && strcmp(list[i].event, event) == 0)
            return list[i].next;
    return "unknown"; /* what enum_to_name() says of 0 */
}

/* Walks all pairs; `next` maps 1-based state and event to the next state. */
static void walk(const struct sm *m, const struct expectation *list, size_t n,
                 const struct enum_name *names, int (*next)(int state, int event))
{
    size_t legal = 0;
    for (int s = 0; s < m->states; s++)
        for (int ev = 0; ev < m->events; ev++) {
            const char *want = expected_next(list, n, m->state_names[s], m->event_names[ev]);
            const char *got = enum_to_name(names, next(s + 1, ev));
            if (strcmp(want, got) != 0)
                fail_msg("%s: %s + %s is %s, not %s", m->name, m->state_names[s],
                         m->event_names[ev], got, want);
            legal += sm_step(m, s, ev) != NULL;
        }
    assert_int_equal(legal, n);
}

static int next_node(int state, int event)
{
    return (int)node_next((enum node_state)state, (enum node_event)event);
}

static int next_job(int state, int event)
{
    return (int)job_next((enum exec_state)state, (enum job_event)event);
}

static int next_run(int state, int event)
{
    return (int)run_next((enum run_state)state, (enum run_event)event);
}

static int next_allocation(int state, int event)
{
    return (int)allocation_next((enum allocation_state)state, (enum allocation_event)event);
}

static int next_hold(int state, int event)
{
    return (int)hold_next((enum run_hold)state, (enum hold_event)event);
}

static int next_prov(int state, int event)
{
    return (int)prov_next((enum prov_state)state, (enum prov_event)event);
}

static int next_pool(int state, int event)
{
    return (int)pool_next((enum alloc_state)state, (enum pool_event)event);
}

#define WALK(what)                                                                                 \
    walk(&what##_machine, what##_expected, sizeof what##_expected / sizeof *what##_expected,       \
         what##_state_names, next_##what)

TEST(runs_allocations_and_provisioning)
{
    WALK(run);
    WALK(allocation);
    WALK(prov);
}

TEST(what_holds_a_run)
{
    walk(&hold_machine, hold_expected, sizeof hold_expected / sizeof *hold_expected, run_hold_names,
         next_hold);
}

/* Each end for each who waits for one. */
TEST(what_an_end_means)
{
    static const struct {
        enum after wanted;
        enum ended_how how;
        enum dependency_state next;
    } all[] = {
        {AFTER_SUCCESS, ENDED_WELL, DEPENDENCY_MET},
        {AFTER_SUCCESS, ENDED_BADLY, DEPENDENCY_BROKEN},
        {AFTER_SUCCESS, ENDED_REMOVED, DEPENDENCY_BROKEN},
        {AFTER_FAILURE, ENDED_WELL, DEPENDENCY_BROKEN},
        {AFTER_FAILURE, ENDED_BADLY, DEPENDENCY_MET},
        {AFTER_FAILURE, ENDED_REMOVED, DEPENDENCY_BROKEN},
        {AFTER_END, ENDED_WELL, DEPENDENCY_MET},
        {AFTER_END, ENDED_BADLY, DEPENDENCY_MET},
        {AFTER_END, ENDED_REMOVED, DEPENDENCY_MET},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        assert_int_equal(dependency_next(all[i].wanted, all[i].how), all[i].next);
}

TEST(pools)
{
    walk(&pool_machine, pool_expected, sizeof pool_expected / sizeof *pool_expected,
         alloc_state_names, next_pool);
}

TEST(nodes)
{
    assert_int_equal(node_machine.states, 5);
    assert_int_equal(node_machine.events, 5);
    walk(&node_machine, node_expected, sizeof node_expected / sizeof *node_expected,
         node_state_names, next_node);
}

TEST(jobs)
{
    assert_int_equal(job_machine.states, 5);
    assert_int_equal(job_machine.events, 6);
    walk(&job_machine, job_expected, sizeof job_expected / sizeof *job_expected, exec_state_names,
         next_job);
}

/* An ended job never moves again, whatever happens. */
TEST(ends_are_final)
{
    for (int ev = 0; ev < JOB_EVENTS; ev++) {
        assert_int_equal(job_next(EXEC_SUCCEEDED, (enum job_event)ev), 0);
        assert_int_equal(job_next(EXEC_FAILED, (enum job_event)ev), 0);
    }
}

/* The names in the tables are those on the wire, in the order of the enums. */
TEST(names_agree)
{
    for (int s = 0; s < node_machine.states; s++)
        assert_string_equal(node_machine.state_names[s], enum_to_name(node_state_names, s + 1));
    for (int s = 0; s < job_machine.states; s++)
        assert_string_equal(job_machine.state_names[s], enum_to_name(exec_state_names, s + 1));
}

TEST(enum_tables)
{
    static const struct enum_name *const tables[] = {prov_state_names,
                                                     alloc_state_names,
                                                     node_state_names,
                                                     exec_state_names,
                                                     vm_priority_names,
                                                     dealloc_option_names,
                                                     sched_priority_names,
                                                     tool_type_names,
                                                     run_hold_names,
                                                     after_names,
                                                     dependency_state_names,
                                                     run_state_names,
                                                     allocation_state_names,
                                                     op_status_names,
                                                     resource_kind_names,
                                                     caching_type_names,
                                                     storage_account_type_names};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct enum_name *row = tables[t]; row->name; row++) {
            int gap = (tables[t] == node_state_names && row->value > 2) ||     /* 3 is no state, */
                      (tables[t] == allocation_state_names && row->value > 1); /* nor is 2 */
            assert_int_equal(row->value, row - tables[t] + 1 + gap); /* numbers are in databases */
            assert_int_equal(enum_from_name(tables[t], row->name), row->value);
            assert_string_equal(enum_to_name(tables[t], row->value), row->name);
        }
    assert_int_equal(enum_from_name(dealloc_option_names, "WaitForJobCompletion"),
                     DEALLOC_WAIT_FOR_COMPLETION);
    assert_int_equal(enum_from_name(dealloc_option_names, "wait"), 0);
    assert_int_equal(enum_from_name(dealloc_option_names, ""), 0);
    assert_int_equal(enum_from_name(dealloc_option_names, NULL), 0);
    assert_string_equal(enum_to_name(dealloc_option_names, 77), "unknown");
}

TEST(enum_lists)
{
    char out[64];
    enum_list(vm_priority_names, out, sizeof out);
    assert_string_equal(out, "dedicated or lowpriority");
    enum_list(sched_priority_names, out, sizeof out);
    assert_string_equal(out, "low, normal or high");
    char tiny[6];
    enum_list(sched_priority_names, tiny, sizeof tiny);
    assert_string_equal(tiny, "low, ");
}
