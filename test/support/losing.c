/* SPDX-License-Identifier: MIT
 *
 * Preloaded into a daemon: the disk is full for one of its writes to the log of a database, so that
 * the commit is lost, or a commit takes long. LOSING_FILE is mapped: {int64_t left, held, waits}.
 * While `left` is above 0 each such write counts it down, and the one with which it becomes 0
 * fails. While `held` is 1 each sync of the log waits; if it is 2 the next sync of a directory
 * waits, and makes it 3. `waits` says that one does, until `held` is 0. Only the daemon itself.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    _Atomic int64_t left, held, waits;
} * shared;

__attribute__((constructor)) static void set_up(void)
{
    const char *file = getenv("LOSING_FILE");
    const char *name = strrchr(program_invocation_name, '/');
    if (!file || strcmp(name ? name + 1 : program_invocation_name, "batchaid") != 0)
        return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC);
    void *at =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        abort();
    shared = at;
}

static bool is_log(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path);
    return n > 4 && memcmp(path + n - 4, "-wal", 4) == 0;
}

static bool fails(int fd)
{
    int error = errno;
    bool is_lost = shared && atomic_load(&shared->left) > 0 && is_log(fd) &&
                   atomic_fetch_sub(&shared->left, 1) == 1;
    errno = is_lost ? ENOSPC : error;
    return is_lost;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    return fails(fd) ? -1 : NEXT(pwrite64)(fd, data, n, at);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    return fails(fd) ? -1 : NEXT(pwrite)(fd, data, n, at);
}

static void wait_for_it(void)
{
    atomic_store(&shared->waits, 1);
    while (atomic_load(&shared->held))
        usleep(1000);
    atomic_store(&shared->waits, 0);
}

int fdatasync(int fd)
{
    if (shared && atomic_load(&shared->held) == 1 && is_log(fd))
        wait_for_it();
    return NEXT(fdatasync)(fd);
}

int fsync(int fd)
{
    struct stat st;
    int64_t next = 2;
    if (shared && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) &&
        atomic_compare_exchange_strong(&shared->held, &next, 3))
        wait_for_it();
    return NEXT(fsync)(fd);
}
