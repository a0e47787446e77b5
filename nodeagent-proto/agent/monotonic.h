/* SPDX-License-Identifier: MIT
 *
 * A clock for deadlines: nobody can set it, and it continues while the machine sleeps.
 */
#ifndef NODEAGENT_PROTO_AGENT_MONOTONIC_H
#define NODEAGENT_PROTO_AGENT_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
