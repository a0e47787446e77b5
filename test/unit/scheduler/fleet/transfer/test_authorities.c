/* SPDX-License-Identifier: MIT
 *
 * The file of authorities: a given one, or the first that is there.
 */
#include "scheduler/fleet/transfer/authorities.h"
#include "test/unit/support/tests.h"

TEST(test_a_given_file_counts_even_if_it_is_not_there)
{
    static const char *const files[] = {"/dev/null", NULL};
    assert_string_equal(authorities_choose("/nowhere/ca.pem", files), "/nowhere/ca.pem");
    assert_string_equal(authorities_choose("", files), "/dev/null");
}

TEST(test_the_first_file_that_is_there_counts)
{
    static const char *const files[] = {"/nowhere/ca.pem", "/dev/null", "/dev/zero", NULL};
    static const char *const none[] = {"/nowhere/ca.pem", NULL};
    assert_string_equal(authorities_choose(NULL, files), "/dev/null");
    assert_null(authorities_choose(NULL, none));
}
