/* SPDX-License-Identifier: MIT
 *
 * Machines of the inventory, and the nodes that claim them.
 */
#include "test/unit/storage/fixture.h"

static int64_t put(struct fx *f, const char *name)
{
    int64_t id = 0;
    ok(f, st_machine_put(f->st, name, &id, &f->e));
    assert_true(id > 0);
    return id;
}

static struct machine_row *list(struct fx *f, size_t *n)
{
    struct machine_row *rows;
    ok(f, st_machine_list(f->st, &f->a, &rows, n, &f->e));
    return rows;
}

static int claim(struct fx *f, int64_t cluster, int ordinal, int64_t machine, int64_t *id)
{
    const struct node nd = {.pool_id = cluster,
                            .name = arena_printf(&f->a, "tvm-%d", ordinal),
                            .ordinal = ordinal,
                            .state = NODE_PREPARING,
                            .state_us = T0,
                            .created_us = T0,
                            .machine_id = machine};
    return st_node_insert(f->st, &nd, id, &f->e);
}

DB_TEST(test_a_name_is_one_machine)
{
    int64_t one = put(f, "gpu01.rack1"), two = put(f, "[fd00::2]:2222");
    assert_int_not_equal(one, two);
    assert_int_equal(put(f, "GPU01.Rack1"), one);
    size_t n;
    const struct machine_row *rows = list(f, &n);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].id, one);
    assert_string_equal(rows[0].name, "gpu01.rack1");
    assert_false(rows[0].drained);
    assert_null(rows[0].reason);
    assert_null(rows[0].facts);
    assert_int_equal(rows[0].contact_us, 0);
    assert_string_equal(rows[1].name, "[fd00::2]:2222");
}

DB_TEST(test_drained_and_contact_are_kept)
{
    int64_t id = put(f, "gpu01");
    ok(f, st_machine_set_drained(f->st, id, true, "fan is loud", &f->e));
    ok(f, st_machine_set_contact(f->st, id, T0 + 5, "{\"cpus\":4}", &f->e));
    fx_reopen(f);
    size_t n;
    const struct machine_row *rows = list(f, &n);
    assert_int_equal(n, 1);
    assert_true(rows[0].drained);
    assert_string_equal(rows[0].reason, "fan is loud");
    assert_string_equal(rows[0].facts, "{\"cpus\":4}");
    assert_int_equal(rows[0].contact_us, T0 + 5);
    /* The reason goes with what it was for. */
    ok(f, st_machine_set_drained(f->st, id, false, "no reason", &f->e));
    rows = list(f, &n);
    assert_false(rows[0].drained);
    assert_null(rows[0].reason);
    refused(f, st_machine_set_drained(f->st, id + 1, true, NULL, &f->e), ERR_RESOURCE_NOT_FOUND);
    refused(f, st_machine_set_contact(f->st, id + 1, T0, NULL, &f->e), ERR_RESOURCE_NOT_FOUND);
}

DB_TEST(test_a_machine_is_claimed_once)
{
    int64_t machine = put(f, "gpu01"), other = fx_add_cluster(f, f->workspace, "other"), id, second;
    ok(f, claim(f, f->cluster, 1, machine, &id));
    struct node nd;
    found(f, st_node_by_id(f->st, &f->a, id, &nd, &f->e));
    assert_int_equal(nd.machine_id, machine);
    refused(f, claim(f, other, 1, machine, &second), ERR_CONFLICT);
    /* Any number of nodes have none. */
    ok(f, claim(f, f->cluster, 2, 0, &second));
    ok(f, claim(f, f->cluster, 3, 0, &second));
    int64_t local;
    ok(f, st_node_local_total(f->st, NULL, &local, &f->e));
    assert_int_equal(local, 2);
    /* Free again with the node's end. */
    ok(f, st_node_remove(f->st, id, &f->e));
    ok(f, claim(f, other, 1, machine, &second));
}

DB_TEST(test_a_claimed_machine_stays)
{
    int64_t machine = put(f, "gpu01"), id;
    ok(f, claim(f, f->cluster, 1, machine, &id));
    refused(f, st_machine_remove(f->st, machine, &f->e), ERR_CONFLICT);
    assert_int_equal(claim(f, f->cluster, 2, machine + 1, &id), -1); /* nor one that is not there */
    assert_int_equal(f->e.code, ERR_CONFLICT);
    size_t n;
    list(f, &n);
    assert_int_equal(n, 1);
    struct node *rows;
    ok(f, st_node_list(f->st, &f->a, f->cluster, &rows, &n, &f->e));
    assert_int_equal(n, 1);
    ok(f, st_node_remove(f->st, rows[0].id, &f->e));
    ok(f, st_machine_remove(f->st, machine, &f->e));
    list(f, &n);
    assert_int_equal(n, 0);
}

DB_TEST(test_uses_of_nodes)
{
    int64_t machine = put(f, "gpu01"), job = fx_add_job(f, "Train"), id, local;
    ok(f, claim(f, f->cluster, 1, machine, &id));
    ok(f, claim(f, f->cluster, 2, 0, &local));
    struct st_node_move m = {.id = id, .from = NODE_PREPARING, .to = NODE_IDLE, .now_us = T0};
    ok(f, st_node_move(f->st, &m, &f->e));
    fx_hold(f, job, 0, id);
    struct node_use *uses;
    size_t n;
    ok(f, st_node_uses(f->st, &f->a, &uses, &n, &f->e));
    assert_int_equal(n, 2);
    assert_int_equal(uses[0].node_id, id);
    assert_int_equal(uses[0].pool_id, f->cluster);
    assert_int_equal(uses[0].machine_id, machine);
    assert_string_equal(uses[0].node, "tvm-1");
    assert_string_equal(uses[0].pool, "nc6");
    assert_string_equal(uses[0].workspace, "Work");
    assert_string_equal(uses[0].runs, "Train");
    assert_int_equal(uses[0].state, NODE_IDLE);
    assert_int_equal(uses[0].live, 1);
    assert_false(uses[0].unused);
    assert_int_equal(uses[0].vm_priority, VM_DEDICATED);
    assert_null(uses[0].why);
    assert_int_equal(uses[1].node_id, local);
    assert_int_equal(uses[1].machine_id, 0);
    assert_null(uses[1].runs);
    assert_true(uses[1].unused);
}
