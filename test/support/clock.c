/* SPDX-License-Identifier: MIT
 *
 * Preloaded into a daemon: its clocks are set and moved on while it runs. CLOCK_FILE names a file
 * of two numbers of ns (int64_t, as the machine has them), which are added to the wall clock and to
 * the monotonic one. Files' times are the kernel's, which are not changed. Only the daemon itself:
 * what it starts keeps real time.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static const volatile int64_t *moved; /* NULL: nothing is changed */

__attribute__((constructor)) static void set_up(void)
{
    const char *path = getenv("CLOCK_FILE"), *name = strrchr(program_invocation_name, '/');
    if (!path || strcmp(name ? name + 1 : program_invocation_name, "batchaid") != 0)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 2 * sizeof *moved, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        abort();
    close(fd);
    moved = at;
}

int clock_gettime(clockid_t id, struct timespec *out)
{
    static int (*next)(clockid_t, struct timespec *);
    if (!next)
        next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int rc = next(id, out);
    if (rc < 0 || !moved || id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID)
        return rc;
    int is_wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
    int64_t ns = out->tv_sec * SECOND + out->tv_nsec + moved[is_wall ? 0 : 1];
    *out = (struct timespec){ns / SECOND, ns % SECOND};
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    int rc = clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return rc;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
