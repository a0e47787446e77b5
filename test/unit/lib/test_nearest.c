/* SPDX-License-Identifier: MIT */
#include "lib/nearest.h"
#include "test/unit/support/tests.h"

static const char *near(const char *given)
{
    static const char *const names[] = {"serve", "seed",     "nodes", "check-config",
                                        "az",    "az-login", "env"};
    struct nearest n = nearest_to(given);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        nearest_offer(&n, names[i]);
    return n.name ? n.name : "-";
}

TEST(test_a_letter_too_many_too_few_wrong_or_swapped)
{
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

TEST(test_what_is_far_from_all_is_near_to_none)
{
    char endless[300];
    memset(endless, 's', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    static const char *const far[] = {"", "x", "zz", "kubernetes", "sx", "queue"};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        assert_string_equal(near(far[i]), "-");
    assert_string_equal(near(endless), "-");
}

TEST(test_the_words_of_an_error_have_the_name_or_are_empty)
{
    char out[NEAREST_SIZE];
    struct nearest n = nearest_to("sate-dir");
    assert_string_equal(nearest_words(&n, "--", out), "");
    nearest_offer(&n, "state-dir");
    assert_string_equal(nearest_words(&n, "--", out), " (did you mean --state-dir?)");
}
