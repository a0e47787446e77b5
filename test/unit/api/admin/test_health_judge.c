/* SPDX-License-Identifier: MIT
 *
 * What is well, and what is not.
 */
#include <string.h>

#include "api/admin/health.h"
#include "test/unit/support/tests.h"

static const struct health_facts good = {
    .disk_free = HEALTH_DISK_LOW, .disk_total = HEALTH_DISK_LOW * 2, .nodes = 2, .up_us = 3500000};

static void check(const struct health_facts *f, const char *wrong)
{
    json_t *list = json_array();
    assert_int_equal(health_judge(f, list), *wrong == '\0');
    assert_int_equal(health_judge(f, NULL), *wrong == '\0');
    if (*wrong) {
        assert_int_equal(json_array_size(list), 1);
        assert_string_equal(json_string_value(json_array_get(list, 0)), wrong);
    } else {
        assert_int_equal(json_array_size(list), 0);
    }
    json_t *shown = health_render(f);
    static const char *const parts[] = {"database", "disk", "nodes", "loop"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_int_equal(json_is_true(json_object_get(json_object_get(shown, parts[i]), "healthy")),
                         strcmp(parts[i], wrong) != 0);
    assert_int_equal(json_integer_value(json_object_get(shown, "upSeconds")), 3);
    json_decref(shown);
    json_decref(list);
}

TEST(test_all_is_well)
{
    check(&good, "");
}

TEST(test_the_disk_is_nearly_full_or_cannot_be_looked_at)
{
    struct health_facts f = good;
    f.disk_free--;
    check(&f, "disk");
    f = good;
    err_set(&f.disk, ERR_IO, NULL, "gone");
    check(&f, "disk");
}

TEST(test_nodes)
{
    struct health_facts f = good;
    f.nodes_unusable = 1;
    check(&f, "");
    f.nodes_unusable = 2;
    check(&f, "nodes");
    f.nodes = f.nodes_unusable = 0; /* there may be none */
    check(&f, "");
}

TEST(test_a_late_loop)
{
    struct health_facts f = good;
    f.lag_us = HEALTH_LAG_HIGH_US - 1;
    check(&f, "");
    f.lag_us++;
    check(&f, "loop");
}

TEST(test_the_database_says_why)
{
    struct health_facts f = good;
    err_set(&f.database, ERR_STORAGE, NULL, "database or disk is full");
    check(&f, "database");
    json_t *shown = health_render(&f);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(shown, "database"), "error")),
        "database or disk is full");
    json_decref(shown);
}
