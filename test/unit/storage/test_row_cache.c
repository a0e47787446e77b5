/* SPDX-License-Identifier: MIT
 *
 * A row that is found by its names a second time is not read again, and reads as it does now,
 * however it was changed.
 */
#include "test/unit/storage/fixture.h"

#define ROW_TEXT 600

static const struct scope work = {.subscription = SUB, .group = "Demo", .workspace = "Work"};

static int find_x(struct fx *f, const char *name, struct experiment *x)
{
    int rc = st_experiment_find(f->st, &f->a, &work, name, x, &f->e);
    ok(f, rc);
    return rc;
}

static int find_c(struct fx *f, const char *name, struct cluster *c)
{
    int rc = st_cluster_find(f->st, &f->a, &work, name, c, &f->e);
    ok(f, rc);
    return rc;
}

static int64_t statements(const struct fx *f)
{
    return (int64_t)st_counters(f->st)->statements;
}

/* --- as it is now ----------------------------------------------------------------------------- */

static void text_of_x(const struct experiment *x, char out[ROW_TEXT])
{
    snprintf(out, ROW_TEXT, "%lld %s %d %lld %s/%s/%s", (long long)x->id, x->name, x->prov_state,
             (long long)x->prov_us, x->scope.group, x->scope.workspace, x->scope.location);
}

static void text_of_c(const struct cluster *c, char out[ROW_TEXT])
{
    snprintf(out, ROW_TEXT, "%lld %s %s %s %d %d %d %s %s/%s/%s", (long long)c->id, c->name, c->doc,
             c->vm_size, c->prov_state, c->alloc_state, c->scale.target, c->errors ? c->errors : "",
             c->scope.group, c->scope.workspace, c->scope.location);
}

struct cache_rows {
    char x[ROW_TEXT], c[ROW_TEXT]; /* "": it is not found */
};

static struct cache_rows found_by_name(struct fx *f)
{
    struct cache_rows r = {0};
    struct experiment x;
    struct cluster c;
    if (find_x(f, "Exp", &x))
        text_of_x(&x, r.x);
    if (find_c(f, "nc6", &c))
        text_of_c(&c, r.c);
    return r;
}

/* By their ids they are read each time. */
static struct cache_rows read_now(struct fx *f)
{
    struct cache_rows r = {0};
    struct experiment x;
    struct cluster c;
    if (st_experiment_by_id(f->st, &f->a, f->experiment, &x, &f->e) == 1)
        text_of_x(&x, r.x);
    if (st_cluster_by_id(f->st, &f->a, f->cluster, &c, &f->e) == 1)
        text_of_c(&c, r.c);
    return r;
}

static void must_be(struct fx *f, const struct cache_rows *expected)
{
    const struct cache_rows r = found_by_name(f);
    assert_string_equal(r.x, expected->x);
    assert_string_equal(r.c, expected->c);
}

/* --- changes ---------------------------------------------------------------------------------- */

static void write_by_hand(struct fx *f, const char *sql)
{
    ok(f, st_turn_begin(f->st, &f->e));
    ok(f, st_exec(f->st, sql, "by hand", &f->e));
}

static void mark_the_experiment(struct fx *f)
{
    ok(f, st_mark_deleting(f->st, RES_EXPERIMENT, f->experiment, T0 + 1, &f->e));
}

static void resize_the_cluster(struct fx *f)
{
    struct cluster c = fx_cluster(f->workspace, "nc6");
    c.id = f->cluster;
    c.scale.target = 7;
    c.doc = "{\"vmSize\":\"STANDARD_NC6\",\"seven\":7}";
    ok(f, st_cluster_update_scale(f->st, &c, &f->e));
}

static void change_the_document(struct fx *f)
{
    write_by_hand(f, "UPDATE cluster SET doc = '{}'");
}

static void move_the_pool(struct fx *f)
{
    const struct st_pool_move m = {.id = f->cluster,
                                   .kind = RES_CLUSTER,
                                   .from = ALLOC_RESIZING,
                                   .to = ALLOC_STEADY,
                                   .now_us = T0 + 2};
    ok(f, st_pool_move(f->st, &m, &f->e));
}

static void give_the_pool_errors(struct fx *f)
{
    ok(f, st_pool_set_errors(f->st, f->cluster, "[]", &f->e));
}

static int change_and_fail(struct storage *st, void *ctx, struct err *e)
{
    struct fx *f = ctx;
    ok(f, st_pool_set_errors(st, f->cluster, "[1]", e));
    assert_non_null(strstr(found_by_name(f).c, "[1]")); /* somebody reads it as it is now */
    return err_set(e, ERR_INTERNAL, NULL, "no");
}

static void take_back_a_part(struct fx *f)
{
    assert_int_equal(st_tx(f->st, "part", change_and_fail, f, &f->e), -1);
}

static void take_back_a_turn(struct fx *f)
{
    fx_flush(f);
    ok(f, st_pool_set_errors(f->st, f->cluster, "[2]", &f->e));
    assert_non_null(strstr(found_by_name(f).c, "[2]"));
    f->st->turn_doomed = true; /* as by a disk that is full */
    assert_true(fx_flush(f).failed);
}

static void spell_the_group_otherwise(struct fx *f)
{
    write_by_hand(f, "UPDATE resource_group SET name = 'DEMO'");
}

static void move_the_workspace(struct fx *f)
{
    write_by_hand(f, "UPDATE workspace SET location = 'here'");
}

static void remove_the_experiment(struct fx *f)
{
    ok(f, st_remove(f->st, RES_EXPERIMENT, f->experiment, T0 + 3, &f->e));
}

static void remove_the_cluster(struct fx *f)
{
    ok(f, st_remove(f->st, RES_CLUSTER, f->cluster, T0 + 3, &f->e));
}

static const struct {
    const char *what;
    void (*make)(struct fx *f);
    bool taken_back;
} changes[] = {
    {"experiment marked", mark_the_experiment, false},
    {"cluster resized", resize_the_cluster, false},
    {"document changed", change_the_document, false},
    {"pool moved", move_the_pool, false},
    {"errors of a pool", give_the_pool_errors, false},
    {"part taken back", take_back_a_part, true},
    {"turn taken back", take_back_a_turn, true},
    {"group spelled otherwise", spell_the_group_otherwise, false},
    {"workspace moved", move_the_workspace, false},
    {"experiment removed", remove_the_experiment, false},
    {"cluster removed", remove_the_cluster, false},
};

/* --- tests ------------------------------------------------------------------------------------ */

DB_TEST(each_change_is_seen)
{
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const struct cache_rows before = found_by_name(f);
        must_be(f, &before);
        changes[i].make(f);
        const struct cache_rows after = read_now(f);
        bool same = strcmp(before.x, after.x) == 0 && strcmp(before.c, after.c) == 0;
        if (same != changes[i].taken_back)
            fail_msg("%s: it %s", changes[i].what, same ? "changed nothing" : "was not taken back");
        must_be(f, &after);
    }
}

/* Builds for tests look up each row once more, to compare it. */
DB_TEST(it_is_read_once)
{
    struct experiment x;
    struct cluster c;
    found(f, find_x(f, "Exp", &x));
    found(f, find_c(f, "nc6", &c));
    int64_t before = statements(f);
    found(f, find_x(f, "Exp", &x));
    found(f, find_c(f, "nc6", &c));
    fx_add_job(f, "j1");
    found(f, find_x(f, "Exp", &x));
    assert_string_equal(x.name, "Exp");
    assert_string_equal(c.doc, "{\"vmSize\":\"STANDARD_NC6\"}");
#ifdef __SANITIZE_ADDRESS__
    before += 3;
#endif
    assert_int_equal(statements(f), before + 3); /* the inserts of the job, its run and its event */
}

DB_TEST(names_are_told_apart)
{
    struct experiment x;
    struct cluster c;
    enum { MANY = 200 }; /* more than are kept */
    int64_t id[MANY];
    char name[16];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "x%d", i);
        id[i] = fx_add_experiment(f, f->workspace, name);
    }
    for (int i = 0; i < 2 * MANY; i++) {
        snprintf(name, sizeof name, "%c%d", i < MANY ? 'x' : 'X', i % MANY);
        found(f, find_x(f, name, &x));
        assert_int_equal(x.id, id[i % MANY]);
    }
    assert_int_equal(find_x(f, "x", &x), 0);
    assert_int_equal(find_c(f, "Exp", &c), 0); /* of the other kind */
    assert_int_equal(find_x(f, "nc6", &x), 0);
}

/* What is not there is asked for each time. */
DB_TEST(one_that_is_made_is_found)
{
    struct cluster c;
    assert_int_equal(find_c(f, "new", &c), 0);
    int64_t id = fx_add_cluster(f, f->workspace, "new");
    found(f, find_c(f, "new", &c));
    assert_int_equal(c.id, id);
}

DB_TEST(a_long_row_is_not_kept)
{
    struct cluster c = fx_cluster(f->workspace, "long"), now;
    char *doc = calloc(1, 100001);
    memset(doc, ' ', 100000);
    c.doc = doc;
    ok(f, st_cluster_insert(f->st, &c, NULL, NULL, &f->e));
    for (int i = 0; i < 2; i++) {
        int64_t before = statements(f);
        found(f, find_c(f, "long", &now));
        assert_string_equal(now.doc, doc);
        assert_int_equal(statements(f), before + 1);
    }
    free(doc);
}
