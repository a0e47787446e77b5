/* SPDX-License-Identifier: MIT
 *
 * An ordinary user's programs begin with 1,024 descriptors and may have more if they ask.
 */
#ifndef TEST_UNIT_SUPPORT_DESCRIPTORS_H
#define TEST_UNIT_SUPPORT_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/resource.h>

#include "test/unit/support/skip.h"

/* Whether this process may have so many open; asks for them if need be. */
static inline bool may_open(rlim_t n)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return false;
    if (r.rlim_cur >= n)
        return true;
    r.rlim_cur = n;
    return r.rlim_max >= n && setrlimit(RLIMIT_NOFILE, &r) == 0;
}

#define skip_unless_may_open(n)                                                                    \
    do {                                                                                           \
        if (!may_open(n))                                                                          \
            skip_because("not allowed to open %d descriptors", (int)(n));                          \
    } while (0)

#endif
