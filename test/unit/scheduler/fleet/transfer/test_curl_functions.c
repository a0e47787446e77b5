/* SPDX-License-Identifier: MIT
 *
 * libcurl is loaded when it is needed; what is missing is named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "scheduler/fleet/transfer/curl_functions.h"

static void test_functions_of_a_library(void **state)
{
    (void)state;
    struct curl_functions f, again;
    struct err e;
    assert_int_equal(curl_functions_load(&f, &e), 0);
    assert_string_equal(f.curl_easy_strerror(CURLE_OK), "No error");
    assert_int_equal(curl_functions_load(&again, &e), 0);
    assert_memory_equal(&f, &again, sizeof f);
}

static void test_what_is_missing_is_named(void **state)
{
    (void)state;
    struct curl_functions f;
    struct err e;
    assert_int_equal(curl_functions_load_from("libno-such.so.7", &f, &e), -1);
    assert_non_null(strstr(e.msg, "libno-such.so.7 cannot be loaded"));
    assert_int_equal(curl_functions_load_from("libz.so.1", &f, &e), -1);
    assert_string_equal(e.msg, "libz.so.1 has no curl_global_init");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_of_a_library),
        cmocka_unit_test(test_what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
