/* SPDX-License-Identifier: MIT
 *
 * The database of one instant, which is read while others write.
 */
#include "storage/instant.h"
#include "test/unit/storage/fixture.h"

static const struct scope work = {.subscription = SUB, .group = "Demo", .workspace = "Work"};

static bool is_there(struct fx *f, const char *cluster)
{
    struct cluster c;
    int rc = st_cluster_find(f->st, &f->a, &work, cluster, &c, &f->e);
    ok(f, rc);
    return rc == 1;
}

static struct st_instant *begin(struct fx *f)
{
    struct st_instant *i = st_instant_begin(f->st, &f->e);
    assert_non_null(i);
    return i;
}

/* How many calls it took. */
static int copy(struct fx *f, struct st_instant *i)
{
    int calls = 0, rc = 0;
    for (; rc == 0; calls++) {
        rc = st_instant_copy(i, &f->e);
        ok(f, rc);
        st_turn_end(f->st);
    }
    return calls;
}

static bool was_there(struct fx *f, struct st_instant *i, const char *cluster)
{
    st_instant_enter(i);
    bool was = is_there(f, cluster);
    st_instant_leave(i);
    return was;
}

static void check_later_writes(struct fx *f)
{
    st_turn_end(f->st);
    assert_false(is_there(f, "new"));
    struct st_instant *i = begin(f);
    copy(f, i);
    fx_add_cluster(f, f->workspace, "new");
    assert_false(was_there(f, i, "new")); /* within the turn that writes */
    assert_true(is_there(f, "new"));
    ok(f, st_remove(f->st, RES_CLUSTER, f->cluster, T0, &f->e));
    st_turn_end(f->st);
    for (int k = 0; k < 2; k++) { /* the second finds what is kept */
        assert_true(was_there(f, i, "nc6"));
        assert_false(was_there(f, i, "new"));
        assert_false(is_there(f, "nc6"));
        assert_true(is_there(f, "new"));
    }
    st_instant_end(i);
    assert_true(is_there(f, "new"));
}

DB_TEST(test_what_is_written_later_is_not_seen)
{
    check_later_writes(f);
}

EMPTY_DB_TEST(test_neither_is_that_in_a_database_that_goes_with_the_daemon)
{
    f->without_sync = true;
    fx_open(f);
    f->group = fx_add_group(f, SUB, "Demo");
    f->workspace = fx_add_workspace(f, f->group, "Work");
    f->cluster = fx_add_cluster(f, f->workspace, "nc6");
    check_later_writes(f);
}

DB_TEST(test_it_waits_for_the_end_of_a_turn_that_has_written)
{
    st_turn_end(f->st);
    struct st_instant *i = begin(f);
    fx_add_cluster(f, f->workspace, "before");
    assert_int_equal(st_instant_copy(i, &f->e), 0);
    st_turn_end(f->st);
    copy(f, i);
    assert_true(was_there(f, i, "before"));
    st_instant_end(i);
}

/* Large rows, so that one call does not copy all of them. */
DB_TEST(test_what_is_written_while_it_is_copied_is_seen)
{
    struct cluster c = fx_cluster(f->workspace, "");
    char *doc = calloc(1, 1000001);
    memset(doc, ' ', 1000000);
    c.doc = doc;
    for (int k = 0; k < 64; k++) {
        c.name = arena_printf(&f->a, "c%d", k);
        ok(f, st_cluster_insert(f->st, &c, NULL, NULL, &f->e));
    }
    free(doc);
    fx_flush(f);
    struct st_instant *i = begin(f);
    assert_int_equal(st_instant_copy(i, &f->e), 0);
    fx_add_cluster(f, f->workspace, "meanwhile");
    st_turn_end(f->st);
    copy(f, i);
    assert_true(was_there(f, i, "meanwhile"));
    assert_true(was_there(f, i, "c63"));
    st_instant_end(i);
}

DB_TEST(test_it_may_end_before_it_is_copied)
{
    st_turn_end(f->st);
    st_instant_end(begin(f));
    fx_add_cluster(f, f->workspace, "new");
    st_turn_end(f->st);
    assert_true(is_there(f, "new"));
}
