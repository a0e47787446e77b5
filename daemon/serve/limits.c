/* SPDX-License-Identifier: MIT */
#include "daemon/serve/limits.h"

#include <stdlib.h>
#include <sys/resource.h>

/* Enough for thousands of connections. Jobs inherit the limit, and programs that walk all
 * descriptors become slow only far above it. */
#define MAX_DESCRIPTORS 65536

/* Threads of libuv's pool if there is an inventory. */
#define MACHINE_THREADS "32"

void limits_raise_descriptors(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return;
    rlim_t want = r.rlim_max < MAX_DESCRIPTORS ? r.rlim_max : MAX_DESCRIPTORS;
    if (r.rlim_cur >= want)
        return;
    r.rlim_cur = want;
    setrlimit(RLIMIT_NOFILE, &r);
}

/* Names are looked up and logins computed on libuv's pool, where at most half of the threads look
 * up names. With its four threads by default, a dead name server would delay whole racks. */
void limits_size_thread_pool(const struct site *site)
{
    if (site && site->n_machines > 0)
        setenv("UV_THREADPOOL_SIZE", MACHINE_THREADS, 0);
}
