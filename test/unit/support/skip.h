/* SPDX-License-Identifier: MIT
 *
 * A test that cannot run here says why; test/run_checks.py lists it with that reason.
 */
#ifndef TEST_UNIT_SUPPORT_SKIP_H
#define TEST_UNIT_SUPPORT_SKIP_H

#include <stdio.h>

#define skip_because(...)                                                                          \
    do {                                                                                           \
        printf("skip: " __VA_ARGS__);                                                              \
        puts("");                                                                                  \
        fflush(stdout);                                                                            \
        skip();                                                                                    \
    } while (0)

#endif
