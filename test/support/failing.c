/* SPDX-License-Identifier: MIT
 *
 * Preloaded into a daemon: the n-th of its calls of one kind fails, once.
 *   FAILING_CALL=write|sync|fork|connect  which kind; of writes, only those to files
 *   FAILING_AT=N                           which of them; 0: none
 *   FAILING_COUNT=FILE                     gets a byte for each
 * Only the daemon itself: what it starts inherits the environment, and goes on undisturbed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long seen;
static long fail_at;
static char kind;
static int count_fd = -1;

__attribute__((constructor)) static void set_up(void)
{
    const char *call = getenv("FAILING_CALL"), *at = getenv("FAILING_AT");
    const char *count = getenv("FAILING_COUNT");
    const char *name = strrchr(program_invocation_name, '/');
    if (!call || !at || !count ||
        strcmp(name ? name + 1 : program_invocation_name, "batchaid") != 0)
        return;
    fail_at = atol(at);
    kind = call[0];
    count_fd =
        (int)syscall(SYS_openat, AT_FDCWD, count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static bool fails(char what)
{
    if (what != kind || count_fd < 0)
        return false;
    syscall(SYS_write, count_fd, ".", 1);
    return atomic_fetch_add(&seen, 1) + 1 == fail_at;
}

static bool write_fails(int fd)
{
    struct stat st;
    return kind == 'w' && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && fails('w');
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define REFUSE(error)                                                                              \
    do {                                                                                           \
        errno = (error);                                                                           \
        return -1;                                                                                 \
    } while (0)

ssize_t write(int fd, const void *data, size_t n)
{
    if (write_fails(fd))
        REFUSE(EIO);
    return NEXT(write)(fd, data, n);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    if (write_fails(fd))
        REFUSE(EIO);
    return NEXT(pwrite64)(fd, data, n, at);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    if (write_fails(fd))
        REFUSE(EIO);
    return NEXT(pwrite)(fd, data, n, at);
}

int fdatasync(int fd)
{
    if (fails('s'))
        REFUSE(EIO);
    return NEXT(fdatasync)(fd);
}

int fsync(int fd)
{
    if (fails('s'))
        REFUSE(EIO);
    return NEXT(fsync)(fd);
}

pid_t fork(void)
{
    if (fails('f'))
        REFUSE(EAGAIN);
    return NEXT(fork)();
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
    if (fails('f'))
        return EAGAIN;
    return NEXT(posix_spawn)(pid, path, actions, attributes, argv, env);
}

int connect(int fd, const struct sockaddr *to, socklen_t n)
{
    if (fails('c'))
        REFUSE(ECONNREFUSED);
    return NEXT(connect)(fd, to, n);
}
