/* SPDX-License-Identifier: MIT
 *
 * A test that cannot run here says why; test/run_checks.py lists it with that reason.
 */
#ifndef TEST_UNIT_SUPPORT_SKIP_H
#define TEST_UNIT_SUPPORT_SKIP_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define skip_because(...)                                                                          \
    do {                                                                                           \
        printf("skip: " __VA_ARGS__);                                                              \
        puts("");                                                                                  \
        fflush(stdout);                                                                            \
        skip();                                                                                    \
    } while (0)

/* Valgrind 3.19 knows no openat2(); elsewhere its absence is a fault to be seen. */
#define skip_without_openat2()                                                                     \
    do {                                                                                           \
        if (getenv("BATCHAID_SLOW_TOOL") && syscall(SYS_openat2, AT_FDCWD, ".", NULL, 0) < 0 &&    \
            errno == ENOSYS)                                                                       \
            skip_because("openat2 is not known to the tool that runs this");                       \
    } while (0)

#endif
