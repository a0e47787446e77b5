/* SPDX-License-Identifier: MIT
 *
 * libcurl is loaded when it is needed; what is missing is named.
 */
#include "scheduler/fleet/transfer/curl_functions.h"
#include "test/unit/support/says.h"
#include "test/unit/support/tests.h"

TEST(test_functions_of_a_library)
{
    struct curl_functions f, again;
    struct err e;
    assert_int_equal(curl_functions_load(&f, &e), 0);
    assert_string_equal(f.curl_easy_strerror(CURLE_OK), "No error");
    assert_int_equal(curl_functions_load(&again, &e), 0);
    assert_memory_equal(&f, &again, sizeof f);
}

TEST(test_what_is_missing_is_named)
{
    struct curl_functions f;
    struct err e;
    assert_int_equal(curl_functions_load_from("libno-such.so.7", &f, &e), -1);
    assert_says(e.msg, "libno-such.so.7 cannot be loaded");
    assert_int_equal(curl_functions_load_from("libz.so.1", &f, &e), -1);
    assert_string_equal(e.msg, "libz.so.1 has no curl_global_init");
}
