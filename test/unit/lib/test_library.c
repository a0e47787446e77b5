/* SPDX-License-Identifier: MIT
 *
 * Libraries that are loaded when they are needed: what is missing is named.
 */
#include <string.h>
#include <zlib.h>

#include "lib/library.h"
#include "test/unit/support/says.h"
#include "test/unit/support/tests.h"

#define ZLIB "libz.so.1"

#define FUNCTIONS(X)                                                                               \
    X(crc32)                                                                                       \
    X(zlibVersion)

struct functions {
    FUNCTIONS(LIBRARY_MEMBER)
};

#define ROW(name) LIBRARY_ROW(struct functions, name)
static const struct library_function wanted[] = {FUNCTIONS(ROW)};
enum { N = sizeof wanted / sizeof wanted[0] };

TEST(test_functions_of_a_library)
{
    struct functions f, again;
    struct err e;
    assert_int_equal(library_load(ZLIB, wanted, N, &f, &e), 0);
    assert_int_equal(f.crc32(0, (const unsigned char *)"123456789", 9), 0xcbf43926);
    assert_int_equal(f.zlibVersion()[0], '1');
    assert_int_equal(library_load(ZLIB, wanted, N, &again, &e), 0);
    assert_memory_equal(&f, &again, sizeof f);
}

TEST(test_what_is_missing_is_named)
{
    static const struct library_function other[] = {{"crc32", 0}, {"no_such_function", 8}};
    void *table[2];
    struct err e;
    assert_int_equal(library_load("libno-such.so.7", wanted, N, table, &e), -1);
    assert_says(e.msg, "libno-such.so.7 cannot be loaded");
    assert_int_equal(library_load(ZLIB, other, 2, table, &e), -1);
    assert_string_equal(e.msg, ZLIB " has no no_such_function");
}
