/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/nearest.h"

static const char *near(const char *given)
{
    static const char *const names[] = {"serve", "seed",     "nodes", "check-config",
                                        "az",    "az-login", "env"};
    struct nearest n = nearest_to(given);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        nearest_offer(&n, names[i]);
    return n.name ? n.name : "-";
}

static void test_a_letter_too_many_too_few_wrong_or_swapped(void **state)
{
    (void)state;
    static const struct {
        const char *given, *meant;
    } cases[] = {{"servee", "serve"},
                 {"srve", "serve"},
                 {"sarve", "serve"},
                 {"esrve", "serve"},
                 {"nods", "nodes"},
                 {"NODES", "nodes"},
                 {"chekc-cofnig", "check-config"},
                 {"envv", "env"},
                 {"az-logn", "az-login"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(near(cases[i].given), cases[i].meant);
}

static void test_what_is_far_from_all_is_near_to_none(void **state)
{
    (void)state;
    char endless[300];
    memset(endless, 's', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    static const char *const far[] = {"", "x", "zz", "kubernetes", "sx", "queue"};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        assert_string_equal(near(far[i]), "-");
    assert_string_equal(near(endless), "-");
}

static void test_the_words_of_an_error_have_the_name_or_are_empty(void **state)
{
    (void)state;
    char out[NEAREST_SIZE];
    struct nearest n = nearest_to("sate-dir");
    assert_string_equal(nearest_words(&n, "--", out), "");
    nearest_offer(&n, "state-dir");
    assert_string_equal(nearest_words(&n, "--", out), " (did you mean --state-dir?)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_letter_too_many_too_few_wrong_or_swapped),
        cmocka_unit_test(test_what_is_far_from_all_is_near_to_none),
        cmocka_unit_test(test_the_words_of_an_error_have_the_name_or_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
