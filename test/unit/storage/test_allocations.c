/* SPDX-License-Identifier: MIT
 *
 * Pools, runs, allocations, epochs and events.
 */
#include <sqlite3.h>

#include "model/failure.h"
#include "test/unit/storage/fixture.h"

static struct allocation of(const struct run *r, int rank, int64_t node)
{
    return (struct allocation){.run_id = r->id,
                               .attempt = r->attempt,
                               .rank = rank,
                               .node_id = node,
                               .node_name = "tvm",
                               .takes = {.slots = 1},
                               .state = ALLOCATION_HELD,
                               .term = 7,
                               .task_prefix = "g-1-7.x-0-",
                               .created_us = T0};
}

static struct node node_of(struct fx *f, int64_t id)
{
    struct node nd;
    found(f, st_node_by_id(f->st, &f->a, id, &nd, &f->e));
    return nd;
}

DB_TEST(test_a_cluster_has_the_id_of_its_pool)
{
    struct pool p;
    found(f, st_pool_by_id(f->st, &f->a, f->cluster, &p, &f->e));
    assert_string_equal(p.vm_size, "STANDARD_NC6");
    assert_int_equal(p.scale.target, 2);
    assert_true(p.is_new);
    struct st_pool_move m = {.id = p.id,
                             .kind = RES_CLUSTER,
                             .from = ALLOC_RESIZING,
                             .to = ALLOC_STEADY,
                             .now_us = T0 + 1};
    ok(f, st_pool_move(f->st, &m, &f->e));
    struct cluster c;
    found(f, st_cluster_by_id(f->st, &f->a, f->cluster, &c, &f->e));
    assert_int_equal(c.alloc_state, ALLOC_STEADY);
    assert_false(c.is_new);
    ok(f, st_mark_deleting(f->st, RES_CLUSTER, f->cluster, T0, &f->e));
    ok(f, st_remove(f->st, RES_CLUSTER, f->cluster, T0, &f->e));
    assert_int_equal(st_pool_by_id(f->st, &f->a, f->cluster, &p, &f->e), 0);
    assert_true(fx_add_cluster(f, f->workspace, "next") > f->cluster);
}

DB_TEST(test_a_failed_insert_leaves_nothing)
{
    struct cluster c = fx_cluster(f->workspace, "NC6"); /* there is one */
    struct pool p;
    int64_t id;
    refused(f, st_cluster_insert(f->st, &c, NULL, &id, &f->e), ERR_CONFLICT);
    assert_int_equal(st_pool_by_id(f->st, &f->a, f->cluster + 1, &p, &f->e), 0);
}

DB_TEST(test_an_idle_node_with_an_allocation_runs)
{
    int64_t node = fx_add_node(f, f->cluster, 1, NODE_IDLE), job = fx_add_job(f, "j");
    assert_int_equal(node_of(f, node).idle_us, T0);
    struct run r = fx_run_of(f, job);
    struct allocation al = of(&r, 0, node), *rows;
    size_t n;
    ok(f, st_allocation_insert(f->st, &al, 1, &f->e));
    struct node nd = node_of(f, node);
    assert_int_equal(nd.live, 1);
    assert_int_equal(nd.idle_us, 0);
    assert_string_equal(node_state_shown(nd.state, nd.live), "running");
    refused(f, st_node_remove(f->st, node, &f->e), ERR_CONFLICT);
    ok(f, st_mark_deleting(f->st, RES_JOB, job, T0, &f->e));
    refused(f, st_remove(f->st, RES_JOB, job, T0, &f->e), ERR_CONFLICT);
    struct allocation over = al;
    over.state = ALLOCATION_LOST;
    assert_int_equal(fx_release(f, &over, ALLOCATION_RELEASED, T0 + 2), -1);
    ok(f, st_allocation_of_node(f->st, &f->a, node, &rows, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].state, ALLOCATION_HELD);
    ok(f, fx_release(f, &rows[0], ALLOCATION_RELEASED, T0 + 3));
    nd = node_of(f, node);
    assert_int_equal(nd.idle_us, T0 + 3);
    assert_string_equal(node_state_shown(nd.state, nd.live), "idle");
    ok(f, st_node_remove(f->st, node, &f->e));
    ok(f, st_allocation_of_run(f->st, &f->a, r.id, 0, &rows, &n, &f->e));
    assert_int_equal(n, 1); /* the name stays for as long as the run */
    assert_int_equal(rows[0].node_id, 0);
    assert_string_equal(rows[0].node_name, "tvm");
    ok(f, st_remove(f->st, RES_JOB, job, T0, &f->e));
    ok(f, st_allocation_of_run(f->st, &f->a, r.id, 0, &rows, &n, &f->e));
    assert_int_equal(n, 0);
}

DB_TEST(test_allocations_come_all_or_none)
{
    int64_t node = fx_add_node(f, f->cluster, 1, NODE_IDLE), job = fx_add_job(f, "j");
    struct run r = fx_run_of(f, job);
    const struct allocation twice[] = {of(&r, 0, node), of(&r, 1, node)};
    struct allocation *rows;
    size_t n;
    refused(f, st_allocation_insert(f->st, twice, 2, &f->e), ERR_CONFLICT);
    ok(f, st_allocation_of_node(f->st, &f->a, node, &rows, &n, &f->e));
    assert_int_equal(n, 0);
    enum { MANY = 1000 };
    struct allocation *many = arena_alloc(&f->a, MANY * sizeof *many);
    for (int i = 0; i < MANY; i++)
        many[i] = of(&r, i, fx_add_node(f, f->cluster, i + 2, NODE_IDLE));
    ok(f, st_allocation_insert(f->st, many, MANY, &f->e));
    ok(f, st_allocation_of_run(f->st, &f->a, r.id, r.attempt, &rows, &n, &f->e));
    assert_int_equal(n, MANY);
}

static int try_to_take(struct fx *f, int64_t node, int job, struct capacity what)
{
    struct run r = fx_run_of(f, fx_add_job(f, arena_printf(&f->a, "j%d", job)));
    struct allocation al = of(&r, 0, node);
    al.takes = what;
    al.devices = ""; /* a part */
    return st_allocation_insert(f->st, &al, 1, &f->e);
}

DB_TEST(test_no_more_is_allocated_than_there_is)
{
    int64_t node = fx_add_node(f, f->cluster, 1, NODE_IDLE);
    const struct capacity has = {.slots = 3, .gpus = 2, .cores = 8, .memory = 1000},
                          part = {.slots = 1, .gpus = 1, .cores = 4, .memory = 500};
    ok(f, st_node_set_capacity(f->st, node, &has, NULL, &f->e));
    struct capacity more = has;
    more.gpus = 3;
    refused_saying(f, try_to_take(f, node, 1, more), ERR_CONFLICT,
                   "has less left than 3 slots, 3 GPUs, 8 cores");
    ok(f, try_to_take(f, node, 2, part));
    assert_int_equal(try_to_take(f, node, 3, has), -1);
    ok(f, try_to_take(f, node, 4, part));
    assert_int_equal(node_of(f, node).live, 2);
    assert_int_equal(try_to_take(f, node, 5, part), -1); /* a slot is left, and no GPU */
    ok(f, try_to_take(f, node, 6, (struct capacity){.slots = 1}));
    assert_int_equal(try_to_take(f, node, 7, (struct capacity){.slots = 1}), -1);
    int64_t away = fx_add_node(f, f->cluster, 2, NODE_LEAVING);
    assert_int_equal(try_to_take(f, away, 8, (struct capacity){.slots = 1}), -1);
}

static void attempt(struct fx *f, struct run *r, int number, enum run_state to)
{
    const struct st_run_move m = {
        .id = r->id, .from = r->state, .to = to, .attempt = number, .failure = -1};
    ok(f, st_run_move(f->st, &m, &f->e));
    r->state = to;
    r->attempt = number;
}

static void take(struct fx *f, const struct run *r, int rank, int64_t node)
{
    struct allocation al = of(r, rank, node);
    al.devices = ""; /* a part */
    ok(f, st_allocation_insert(f->st, &al, 1, &f->e));
}

DB_TEST(test_nodes_that_runs_of_an_owner_used_last)
{
    const struct capacity many = {.slots = 4};
    int64_t job = fx_add_job(f, "j"), nodes[3];
    for (int i = 0; i < 3; i++) {
        nodes[i] = fx_add_node(f, f->cluster, i, NODE_IDLE);
        ok(f, st_node_set_capacity(f->st, nodes[i], &many, NULL, &f->e));
    }
    struct run first = fx_run_of(f, job), second = first, waits = first;
    second.idx = 1;
    waits.idx = 2;
    ok(f, st_run_insert(f->st, &second, &second.id, &f->e));
    ok(f, st_run_insert(f->st, &waits, &waits.id, &f->e));
    attempt(f, &second, 1, RUN_ALLOCATED);
    take(f, &second, 0, nodes[1]);
    take(f, &second, 1, nodes[0]);
    attempt(f, &first, 1, RUN_ALLOCATED);
    take(f, &first, 0, nodes[0]);
    attempt(f, &first, 2, RUN_WAITING);
    attempt(f, &first, 2, RUN_ALLOCATED);
    take(f, &first, 0, nodes[1]);
    take(f, &waits, 0, nodes[2]);
    int64_t *used;
    size_t n;
    ok(f, st_node_ids_used_by(f->st, &f->a, RES_JOB, job, &used, &n, &f->e));
    assert_int_equal(n, 2);
    assert_int_equal(used[0], nodes[1]);
    assert_int_equal(used[1], nodes[0]);
}

/* Whatever the node has become since: it may have got more slots. */
DB_TEST(test_whoever_has_the_whole_node_shares_it_with_nobody)
{
    int64_t node = fx_add_node(f, f->cluster, 1, NODE_IDLE),
            shared = fx_add_node(f, f->cluster, 2, NODE_IDLE);
    const struct capacity one = {.slots = 1}, has = {.slots = 4};
    struct run r = fx_run_of(f, fx_add_job(f, "whole")), late = fx_run_of(f, fx_add_job(f, "late"));
    struct allocation whole = of(&r, 0, node), on_shared = of(&late, 0, shared);
    ok(f, st_allocation_insert(f->st, &whole, 1, &f->e));
    ok(f, st_node_set_capacity(f->st, node, &has, NULL, &f->e));
    ok(f, st_node_set_capacity(f->st, shared, &has, NULL, &f->e));
    assert_int_equal(try_to_take(f, node, 1, one), -1);
    ok(f, try_to_take(f, shared, 2, one));
    assert_int_equal(st_allocation_insert(f->st, &on_shared, 1, &f->e), -1);
}

/* It takes nothing, so it is there beside all others, and keeps the node from being idle. */
DB_TEST(test_a_part_without_slots_is_beside_all_others)
{
    struct run whole = fx_run_of(f, fx_add_job(f, "whole")),
               beside = fx_run_of(f, fx_add_job(f, "beside"));
    int64_t node = fx_add_node(f, f->cluster, 1, NODE_IDLE);
    struct allocation first = of(&whole, 0, node), second = of(&beside, 0, node);
    first.devices = second.devices = "";
    second.takes.slots = 0;
    ok(f, st_allocation_insert(f->st, &first, 1, &f->e));
    ok(f, st_allocation_insert(f->st, &second, 1, &f->e));
    struct node nd = node_of(f, node);
    assert_int_equal(nd.live, 2);
    assert_int_equal(nd.aside, 1);
    ok(f, fx_release(f, &first, ALLOCATION_RELEASED, T0 + 5));
    assert_int_equal(node_of(f, node).idle_us, 0);
    ok(f, fx_release(f, &second, ALLOCATION_LOST, T0 + 6));
    nd = node_of(f, node);
    assert_int_equal(nd.aside, 0);
    assert_int_equal(nd.idle_us, T0 + 6);
}

DB_TEST(test_runs_move_by_their_state)
{
    struct run r = fx_run_of(f, fx_add_job(f, "j")), *rows;
    size_t n;
    ok(f, st_run_queue(f->st, &f->a, f->cluster, 1000, 9, &rows, &n, &f->e));
    assert_int_equal(n, 1);
    struct st_run_move m = {.id = r.id,
                            .from = RUN_WAITING,
                            .to = RUN_ALLOCATED,
                            .start_us = T0 + 5,
                            .attempt = 1,
                            .failure = -1};
    ok(f, st_run_move(f->st, &m, &f->e));
    assert_int_equal(st_run_move(f->st, &m, &f->e), -1);
    assert_says(f->e.msg, "cannot go from waiting to allocated: it is allocated");
    int64_t *ids;
    ok(f, st_run_live_ids(f->st, &f->a, &ids, &n, &f->e));
    assert_int_equal(n, 1);
    ok(f, st_run_set_stop(f->st, r.id, STOP_AND_FORGET, &f->e));
    ok(f, st_run_set_stop(f->st, r.id, STOP_RUN, &f->e));
    found(f, st_run_by_id(f->st, &f->a, r.id, &r, &f->e));
    assert_int_equal(r.stop, STOP_AND_FORGET);
    assert_int_equal(r.start_us, T0 + 5);
    assert_int_equal(r.attempt, 1);
}

static void add_part(struct fx *f, const char *name, struct capacity need)
{
    int64_t job = fx_add_job(f, name);
    struct run r = fx_run_of(f, job);
    ok(f, st_runs_remove(f->st, RES_JOB, job, &f->e));
    r.need_whole = false;
    r.need = need;
    ok(f, st_run_insert(f->st, &r, NULL, &f->e));
}

static int one_more(void *ctx)
{
    ++*(long *)ctx;
    return 0;
}

/* Steps of SQLite's machine that reading the queue takes. Sets *n to the length of the queue. */
static long cost_of_queue(struct fx *f, size_t *n)
{
    long steps = 0;
    struct run *rows;
    sqlite3_progress_handler(f->st->db, 1, one_more, &steps);
    ok(f, st_run_queue(f->st, &f->a, f->cluster, 1000, 9, &rows, n, &f->e));
    sqlite3_progress_handler(f->st->db, 0, NULL, NULL);
    return steps;
}

DB_TEST(test_runs_that_no_node_fits_cost_the_queue_little_on_any_number_of_nodes)
{
    enum { MANY = 50, STEPS_EACH = 40 };
    const struct capacity has = {.slots = 4}, needs_gpus = {.slots = 1, .gpus = 2};
    size_t n;
    for (int i = 0; i < MANY; i++) {
        int64_t node = fx_add_node(f, f->cluster, i + 1, NODE_IDLE);
        ok(f, st_node_set_capacity(f->st, node, &has, NULL, &f->e));
    }
    add_part(f, "small", (struct capacity){.slots = 1});
    long before = cost_of_queue(f, &n);
    assert_int_equal(n, 1);
    for (int i = 0; i < MANY; i++)
        add_part(f, arena_printf(&f->a, "large%d", i), needs_gpus);
    long after = cost_of_queue(f, &n);
    assert_int_equal(n, 1);
    print_message("%ld and %ld steps\n", before, after);
    assert_true(after - before < MANY * STEPS_EACH);
}

/* What ended runs leave behind is in no index that is asked for the live ones. */
DB_TEST(test_no_run_of_a_marked_job_waits)
{
    int64_t job = fx_add_job(f, "j"), demand;
    ok(f, st_mark_deleting(f->st, RES_JOB, job, T0, &f->e));
    assert_int_equal(fx_run_of(f, job).stop, STOP_AND_FORGET);
    ok(f, st_run_queue_demand(f->st, f->cluster, 1000, &demand, &f->e));
    assert_int_equal(demand, 0);
}

DB_TEST(test_each_start_has_an_epoch_of_its_own)
{
    char random[9];
    int64_t term = st_epoch(f->st)->term, last = term;
    snprintf(random, sizeof random, "%s", st_epoch(f->st)->random);
    assert_int_equal(strlen(random), 8);
    for (int i = 0; i < 3; i++, last = st_epoch(f->st)->term) {
        fx_reopen(f);
        assert_true(st_epoch(f->st)->term > last);
    }
    assert_string_not_equal(st_epoch(f->st)->random, random);
    struct run r = fx_run_of(f, fx_add_job(f, "j"));
    char want[120];
    r.attempt = 2;
    snprintf(want, sizeof want, "aaaaaaaa-0000-4000-8000-000000000001-2-%lld.%s-3-",
             (long long)last, st_epoch(f->st)->random);
    assert_string_equal(st_task_prefix(f->st, &f->a, &r, 3), want);
}

/* It is on disk before st_open() returns: not even a crash right after gives the same one again. */
DB_TEST(test_an_epoch_outlives_a_crash)
{
    fx_flush(f);
    fx_reopen(f);
    int64_t term = st_epoch(f->st)->term;
    static const char *const ends[] = {"", "-wal"};
    for (int i = 0; i < 2; i++) { /* as they are while it is open, before any turn has ended */
        char from[128], to[128], *data;
        size_t len;
        snprintf(from, sizeof from, "%s%s", f->db, ends[i]);
        snprintf(to, sizeof to, "%s/crashed.db%s", f->dir, ends[i]);
        ok(f, fs_read(from, 64 << 20, &data, &len, &f->e));
        ok(f, fs_write_atomic(to, data, len, 0600, &f->e));
        free(data);
    }
    fx_close(f);
    snprintf(f->db, sizeof f->db, "%s/crashed.db", f->dir);
    fx_open(f);
    assert_true(st_epoch(f->st)->term > term);
}

DB_TEST(test_what_was_done_is_counted)
{
    struct st_counters before = *st_counters(f->st);
    fx_add_job(f, "j");
    fx_flush(f);
    const struct st_counters *now = st_counters(f->st);
    assert_int_equal(now->commits, before.commits + 1);
    assert_true(now->syncs > before.syncs);
    assert_true(now->statements >= before.statements + 3); /* job, run and event */
    assert_int_equal(now->rollbacks, 0);
}

/* --- events ----------------------------------------------------------------------------------- */

static size_t events_of(struct fx *f, enum resource_kind kind, int64_t id, struct event **rows)
{
    struct event_rows all;
    size_t own = 0;
    ok(f, st_event_since(f->st, &f->a, PAGE(100000), &all, &f->e));
    *rows = arena_alloc(&f->a, (all.n + 1) * sizeof **rows);
    for (size_t i = 0; i < all.n; i++)
        if (all.items[i].kind == kind && all.items[i].resource_id == id)
            (*rows)[own++] = all.items[i];
    return own;
}

DB_TEST(test_changes_of_state_are_kept_with_their_reason)
{
    int64_t job = fx_add_job(f, "j"), node = fx_add_node(f, f->cluster, 1, NODE_IDLE);
    struct st_job_move m = {.id = job,
                            .from = EXEC_QUEUED,
                            .to = EXEC_FAILED,
                            .now_us = T0 + 9,
                            .reason = "ClusterDeleted"};
    struct st_node_move nm = {.id = node,
                              .from = NODE_IDLE,
                              .to = NODE_UNUSABLE,
                              .now_us = T0 + 10,
                              .failure = FAIL_NODE_REFUSED};
    ok(f, st_job_move(f->st, &m, &f->e));
    ok(f, st_node_move(f->st, &nm, &f->e));
    struct event_rows all;
    struct event *rows;
    assert_int_equal(events_of(f, RES_JOB, job, &rows), 2);
    assert_int_equal(rows[0].from, 0);
    assert_int_equal(rows[0].to, EXEC_QUEUED);
    assert_int_equal(rows[1].from, EXEC_QUEUED);
    assert_int_equal(rows[1].to, EXEC_FAILED);
    assert_int_equal(rows[1].at_us, T0 + 9);
    assert_string_equal(rows[1].reason, "ClusterDeleted");
    assert_int_equal(events_of(f, RES_NODE, node, &rows), 2);
    assert_string_equal(rows[1].reason, "NodeRefused"); /* for want of another */
    assert_int_equal(node_of(f, node).failure, FAIL_NODE_REFUSED);
    nm = (struct st_node_move){.id = node, .from = NODE_UNUSABLE, .to = NODE_UNUSABLE};
    ok(f, st_node_move(f->st, &nm, &f->e)); /* lets go of a job */
    assert_int_equal(node_of(f, node).failure, FAIL_NODE_REFUSED);
    assert_int_equal(events_of(f, RES_CLUSTER, f->cluster, &rows), 1);
    ok(f, st_event_since(f->st, &f->a, PAGE_AFTER(rows[0].seq, 1000), &all, &f->e));
    assert_int_equal(all.n, 4); /* one sequence for all */
    for (size_t i = 1; i < all.n; i++)
        assert_true(all.items[i].seq > all.items[i - 1].seq);
    assert_int_equal(st_job_move(f->st, &m, &f->e), -1);
    assert_int_equal(events_of(f, RES_JOB, job, &rows), 2); /* what did not happen has none */
    ok(f, st_mark_deleting(f->st, RES_JOB, job, T0, &f->e));
    ok(f, st_remove(f->st, RES_JOB, job, T0, &f->e));
    ok(f, st_node_remove(f->st, node, &f->e));
    assert_int_equal(events_of(f, RES_JOB, job, &rows), 0);
    assert_int_equal(events_of(f, RES_NODE, node, &rows), 0);
}

DB_TEST(test_the_latest_hundred_are_kept)
{
    int64_t node = fx_add_node(f, f->cluster, 1, NODE_IDLE);
    struct event *rows;
    for (int i = 0; i < 200; i++) {
        struct st_node_move m = {.id = node,
                                 .from = i % 2 ? NODE_UNUSABLE : NODE_IDLE,
                                 .to = i % 2 ? NODE_IDLE : NODE_UNUSABLE,
                                 .now_us = T0 + i};
        ok(f, st_node_move(f->st, &m, &f->e));
    }
    assert_int_equal(events_of(f, RES_NODE, node, &rows), 100);
    assert_int_equal(rows[99].at_us, T0 + 199);
    assert_int_equal(events_of(f, RES_CLUSTER, f->cluster, &rows), 1);
}
