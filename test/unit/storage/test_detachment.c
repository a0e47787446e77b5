/* SPDX-License-Identifier: MIT
 *
 * Groups that go at once, and the changes that are forgotten with them.
 */
#include "storage/changes.h"
#include "storage/detachment.h"
#include "storage/seeding.h"
#include "test/unit/storage/fixture.h"

#define DEMO "/subscriptions/" SUB "/resourceGroups/Demo"

DB_TEST(test_a_name_is_free_before_what_is_in_the_group_is_marked)
{
    struct resource_group g;
    struct workspace w;
    bool more;
    ok(f, st_group_detach(f->st, f->group, T0 + 1, &f->e));
    assert_int_equal(st_group_get(f->st, &f->a, SUB, "Demo", &g, &f->e), 0);
    found(f, st_workspace_by_id(f->st, &f->a, f->workspace, &w, &f->e));
    assert_int_equal(w.prov_state, PROV_SUCCEEDED);
    ok(f, st_detached_mark(f->st, T0 + 2, 100, &more, &f->e));
    assert_false(more);
    found(f, st_workspace_by_id(f->st, &f->a, f->workspace, &w, &f->e));
    assert_int_equal(w.prov_state, PROV_DELETING);
    found(f, st_group_by_id(f->st, &f->a, f->group, &g, &f->e));
    assert_int_equal(g.prov_state, PROV_DELETING);
    assert_string_equal(g.subscription, GROUPS_DETACHED);
}

/* Of a group of the same beginning they go on. */
DB_TEST(test_deletions_in_it_are_over)
{
    const char *keys[] = {SUB "$demo", SUB "$demo$work", SUB "$demo2$work"};
    struct operation op;
    for (int i = 0; i < 3; i++) {
        op = (struct operation){.guid = arena_printf(&f->a, "g%d", i),
                                .subscription = SUB,
                                .location = "eastus",
                                .resource_key = keys[i],
                                .api_version = "2018-05-01",
                                .kind = RES_WORKSPACE,
                                .resource_id = i + 1,
                                .is_delete = true,
                                .status = OP_IN_PROGRESS,
                                .start_us = T0};
        ok(f, st_op_insert(f->st, &op, &f->e));
    }
    ok(f, st_group_detach(f->st, f->group, T0 + 1, &f->e));
    for (int i = 0; i < 3; i++) {
        found(f, st_op_get(f->st, &f->a, arena_printf(&f->a, "g%d", i), &op, &f->e));
        assert_int_equal(op.status, i < 2 ? OP_SUCCEEDED : OP_IN_PROGRESS);
    }
}

DB_TEST(test_groups_are_marked_a_few_at_a_time)
{
    int steps = 0;
    bool more = true;
    ok(f, st_group_detach(f->st, f->group, T0, &f->e));
    for (int i = 0; i < 9; i++) {
        const struct resource_group g = {.subscription = SUB,
                                         .name = arena_printf(&f->a, "g%d", i),
                                         .location = "eastus",
                                         .prov_state = PROV_SUCCEEDED,
                                         .created_us = T0,
                                         .updated_us = T0};
        int64_t id;
        ok(f, st_group_insert(f->st, &g, &id, &f->e));
        ok(f, st_group_detach(f->st, id, T0, &f->e));
    }
    for (; more; steps++)
        ok(f, st_detached_mark(f->st, T0, 5, &more, &f->e));
    assert_in_range(steps, 2, 5);
}

DB_TEST(test_a_group_that_is_made_is_not_one_that_goes)
{
    struct resource_group *rows;
    size_t n;
    ok(f, st_group_making(f->st, f->group, &f->e));
    ok(f, st_group_unmade(f->st, &f->a, &rows, &n, &f->e));
    assert_int_equal(n, 1);
    ok(f, st_group_detach(f->st, f->group, T0, &f->e));
    ok(f, st_group_unmade(f->st, &f->a, &rows, &n, &f->e));
    assert_int_equal(n, 0);
}

/* --- changes ---------------------------------------------------------------------------------- */

static size_t told(struct fx *f)
{
    struct change_rows rows;
    ok(f, st_changes_since(f->st, &f->a, PAGE(1000), &rows, &f->e));
    return rows.n;
}

static void tag(struct fx *f, const char *tags)
{
    ok(f, st_group_update(f->st, f->group, tags, T0, &f->e));
}

static int tag_and_fail(struct storage *st, void *ctx, struct err *e)
{
    (void)st;
    tag(ctx, "{\"lost\": \"1\"}");
    return err_set(e, ERR_INTERNAL, NULL, "It fails.");
}

/* What keeps them is made by the first write, and goes with it. */
DB_TEST(test_changes_are_kept_although_the_first_write_is_undone)
{
    st_turn_end(f->st);
    ok(f, st_changes_keep(f->st, f->tools, &f->e));
    refused(f, st_tx(f->st, "fails", tag_and_fail, f, &f->e), ERR_INTERNAL);
    tag(f, "{\"n\": \"1\"}");
    assert_int_equal(told(f), 1);
    st_turn_end(f->st);
    tag(f, "{\"n\": \"2\"}");
    assert_int_equal(told(f), 2);
}

DB_TEST(test_what_is_forgotten_is_not_seen_and_removed_later)
{
    int gone;
    ok(f, st_changes_keep(f->st, f->tools, &f->e));
    for (int i = 0; i < 5; i++)
        tag(f, arena_printf(&f->a, "{\"n\": \"%d\"}", i));
    assert_int_equal(told(f), 5);
    ok(f, st_changes_forget(f->st, DEMO "x", &f->e));
    assert_int_equal(told(f), 5);
    ok(f, st_changes_forget(f->st, "/subscriptions/" SUB "/RESOURCEGROUPS/demo", &f->e));
    assert_int_equal(told(f), 0);
    tag(f, "{}");
    assert_int_equal(told(f), 1);
    ok(f, st_changes_sweep(f->st, 3, &gone, &f->e));
    assert_int_equal(gone, 3);
    ok(f, st_changes_sweep(f->st, 3, &gone, &f->e));
    assert_int_equal(gone, 2);
    ok(f, st_changes_sweep(f->st, 3, &gone, &f->e));
    assert_int_equal(gone, 0);
    assert_int_equal(told(f), 1);
}

DB_TEST(test_nobody_is_told_of_a_detachment)
{
    bool more;
    ok(f, st_changes_keep(f->st, f->tools, &f->e));
    ok(f, st_group_detach(f->st, f->group, T0, &f->e));
    ok(f, st_detached_mark(f->st, T0, 100, &more, &f->e));
    assert_int_equal(told(f), 0);
}
