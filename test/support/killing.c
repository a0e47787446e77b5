/* SPDX-License-Identifier: MIT
 *
 * Preloaded into a daemon: it is killed, as by kill -9, just before one of its calls that change a
 * file or make it last. KILLING_FILE is mapped: {int64_t left, seen}. Each call counts `seen` up;
 * while `left` is above 0 it counts that down, and the call with which it becomes 0 is not made.
 * Only the daemon itself: what it starts goes on undisturbed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    _Atomic int64_t left, seen;
} * shared;

__attribute__((constructor)) static void set_up(void)
{
    const char *file = getenv("KILLING_FILE");
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

static void step(void)
{
    if (!shared)
        return;
    atomic_fetch_add(&shared->seen, 1);
    if (atomic_load(&shared->left) > 0 && atomic_fetch_sub(&shared->left, 1) == 1)
        syscall(SYS_kill, getpid(), SIGKILL);
}

static void step_of(int fd)
{
    struct stat st;
    int error = errno;
    if (shared && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        step();
    errno = error;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define ON_FILE(type, name, parameters, arguments)                                                 \
    type name parameters                                                                           \
    {                                                                                              \
        step_of(fd);                                                                               \
        return NEXT(name) arguments;                                                               \
    }
#define ON_NAME(name, parameters, arguments)                                                       \
    int name parameters                                                                            \
    {                                                                                              \
        step();                                                                                    \
        return NEXT(name) arguments;                                                               \
    }

ON_FILE(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n))
ON_FILE(ssize_t, pwrite64, (int fd, const void *data, size_t n, off64_t at), (fd, data, n, at))
ON_FILE(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
ON_FILE(int, ftruncate, (int fd, off_t n), (fd, n))
ON_FILE(int, ftruncate64, (int fd, off64_t n), (fd, n))
ON_FILE(int, futimens, (int fd, const struct timespec t[2]), (fd, t))
ON_FILE(int, fallocate, (int fd, int how, off_t at, off_t n), (fd, how, at, n))
ON_FILE(int, fallocate64, (int fd, int how, off64_t at, off64_t n), (fd, how, at, n))
ON_NAME(fdatasync, (int fd), (fd))
ON_NAME(fsync, (int fd), (fd))
ON_NAME(syncfs, (int fd), (fd))
ON_NAME(unlinkat, (int dir, const char *name, int flags), (dir, name, flags))
ON_NAME(renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
ON_NAME(renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
        (a, from, b, to, flags))
ON_NAME(linkat, (int a, const char *from, int b, const char *to, int flags),
        (a, from, b, to, flags))
ON_NAME(mkdirat, (int dir, const char *name, mode_t mode), (dir, name, mode))
