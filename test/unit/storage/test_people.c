/* SPDX-License-Identifier: MIT
 *
 * The directory and role assignments: names, credentials, and what goes with somebody who goes.
 */
#include "test/unit/storage/fixture.h"

static int64_t add(struct fx *f, enum identity_kind kind, const char *object_id, const char *app_id,
                   const char *name)
{
    const struct identity i = {.object_id = object_id,
                               .app_id = app_id,
                               .kind = kind,
                               .name = name,
                               .display = "Somebody",
                               .created_us = T0,
                               .created_by = "me"};
    int64_t id;
    ok(f, st_identity_insert(f->st, &i, &id, &f->e));
    return id;
}

DB_TEST(a_name_belongs_to_one_user)
{
    add(f, IDENTITY_USER, "o1", NULL, "ada@lab");
    add(f, IDENTITY_SERVICE, "o2", "a2", "ada@lab"); /* display names may be alike */
    const struct identity again = {.object_id = "o3",
                                   .kind = IDENTITY_USER,
                                   .name = "ADA@lab",
                                   .display = "Ada",
                                   .created_us = T0};
    int64_t id;
    refused(f, st_identity_insert(f->st, &again, &id, &f->e), ERR_CONFLICT);
    struct identity i;
    found(f, st_identity_user(f->st, &f->a, "Ada@LAB", &i, &f->e));
    assert_string_equal(i.object_id, "o1");
    assert_null(i.app_id);
    found(f, st_identity_get(f->st, &f->a, "O2", &i, &f->e));
    assert_int_equal(i.kind, IDENTITY_SERVICE);
    assert_string_equal(i.created_by, "me");
    assert_int_equal(st_identity_user(f->st, &f->a, "bob@lab", &i, &f->e), 0);
}

DB_TEST(an_application_and_its_service_principal_share_an_id_and_secrets)
{
    struct credential c = {.identity_id = add(f, IDENTITY_APPLICATION, "o1", "app", "tool"),
                           .key_id = "k1",
                           .hint = "abc",
                           .hash = "h1",
                           .starts_us = T0,
                           .ends_us = T0 + 1};
    ok(f, st_credential_insert(f->st, &c, &f->e));
    c.identity_id = add(f, IDENTITY_SERVICE, "o2", "APP", "tool");
    c.key_id = "k2";
    ok(f, st_credential_insert(f->st, &c, &f->e));
    struct credential *rows;
    size_t n;
    int gone;
    ok(f, st_credential_of_app(f->st, &f->a, "app", &rows, &n, &f->e));
    assert_int_equal(n, 2);
    ok(f, st_credential_remove(f->st, c.identity_id, "k1", &gone, &f->e)); /* the other's */
    assert_int_equal(gone, 0);
    ok(f, st_credential_remove(f->st, c.identity_id, "K2", &gone, &f->e));
    assert_int_equal(gone, 1);
    ok(f, st_credential_list(f->st, &f->a, c.identity_id, &rows, &n, &f->e));
    assert_int_equal(n, 0);
    struct identity i;
    found(f, st_identity_by_app(f->st, &f->a, IDENTITY_APPLICATION, "APP", &i, &f->e));
    assert_string_equal(i.object_id, "o1");
}

static struct role_assignment assignment(const char *guid, const char *scope, const char *principal)
{
    return (struct role_assignment){
        .guid = guid, .scope = scope, .role = "reader", .principal = principal, .created_us = T0};
}

DB_TEST(nothing_of_somebody_who_is_removed_is_left)
{
    const struct credential c = {.identity_id = add(f, IDENTITY_USER, "o1", NULL, "ada@lab"),
                                 .key_id = "k",
                                 .hash = "h",
                                 .starts_us = T0};
    ok(f, st_credential_insert(f->st, &c, &f->e));
    struct role_assignment x = assignment("g1", "/subscriptions/s", "o1");
    struct role_assignment other = assignment("g2", "/subscriptions/s", "o2");
    ok(f, st_role_assignment_insert(f->st, &x, &f->e));
    ok(f, st_role_assignment_insert(f->st, &other, &f->e));
    x.guid = "g3"; /* the same once more */
    refused(f, st_role_assignment_insert(f->st, &x, &f->e), ERR_CONFLICT);

    struct identity i;
    found(f, st_identity_get(f->st, &f->a, "o1", &i, &f->e));
    ok(f, st_identity_remove(f->st, &i, &f->e));
    assert_int_equal(st_identity_get(f->st, &f->a, "o1", &i, &f->e), 0);
    struct role_assignment_rows rows;
    ok(f, st_role_assignment_of(f->st, &f->a, "O1", &rows.items, &rows.n, &f->e));
    assert_int_equal(rows.n, 0);
    ok(f, st_role_assignment_list(f->st, &f->a, PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 1);
    assert_string_equal(rows.items[0].guid, "g2");
    ok(f, st_role_assignment_remove(f->st, rows.items[0].id, &f->e));
    assert_int_equal(st_role_assignment_get(f->st, &f->a, "g2", &x, &f->e), 0);
}

DB_TEST(scripts_find_the_principal_of_batch_ai)
{
    struct identity_rows rows;
    ok(f, st_identity_list(f->st, &f->a, IDENTITY_SERVICE, PAGE(10), &rows, &f->e));
    assert_int_equal(rows.n, 1);
    assert_string_equal(rows.items[0].app_id, "9fcb3732-5f52-4135-8c08-9d4bbaf203ea");
}
