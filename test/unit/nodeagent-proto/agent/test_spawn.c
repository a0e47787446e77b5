/* SPDX-License-Identifier: MIT
 *
 * A child in its parent's memory. Where that cannot be had (another machine, AddressSanitizer)
 * spawn() says so, and the tests are skipped.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent-proto/agent/spawn.h"
#include "test/unit/support/skip.h"
#include "test/unit/support/tests.h"

struct spawn_told {
    int value;     /* by the child */
    int fd, *code; /* the child closes the descriptor, and reads the code from the parent's stack */
    uintptr_t misaligned;
};

static pid_t run(void (*fn)(void *arg), void *arg)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    pid_t pid = spawn(&args, fn, arg);
    if (pid < 0)
        assert_int_equal(errno, ENOSYS);
    if (pid < 0)
        skip_because("the kernel does not know clone3()");
    return pid;
}

static int status_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void tell_and_exit(void *arg)
{
    struct spawn_told *t = arg;
    _Alignas(16) char aligned[16];
    t->misaligned = (uintptr_t)aligned % sizeof aligned;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    t->value = 42;
    close(t->fd);
    _exit(*t->code);
}

TEST(test_the_parent_sees_what_the_child_wrote_once_it_is_gone)
{
    int code = 7;
    struct spawn_told t = {.fd = open("/dev/null", O_RDONLY | O_CLOEXEC), .code = &code};
    pid_t pid = run(tell_and_exit, &t);
    assert_int_equal(t.value, 42);
    assert_int_equal(t.misaligned, 0);
    assert_int_equal(WEXITSTATUS(status_of(pid)), 7);
    assert_int_equal(close(t.fd), 0); /* the parent's own */
}

/* Uses more stack than the parent has at hand, and then executes. */
static void execute(void *arg)
{
    volatile char much[65536];
    for (size_t i = 0; i < sizeof much; i++)
        much[i] = 1;
    char *argv[] = {arg, (char *)(uintptr_t) "-c", (char *)(uintptr_t) "kill -TERM $$", NULL};
    execv(argv[0], argv);
    _exit(much[0]);
}

TEST(test_the_parent_goes_on_when_the_child_has_executed_a_program)
{
    for (int i = 0; i < 100; i++) {
        int kept = i;
        pid_t pid = run(execute, (char *)(uintptr_t) "/bin/sh");
        assert_int_equal(kept, i);
        int status = status_of(pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    }
}

TEST(test_a_child_that_cannot_be_made_is_said)
{
    struct clone_args args = {.flags = CLONE_INTO_CGROUP, .cgroup = 1000000};
    assert_int_equal(spawn(&args, tell_and_exit, NULL), -1);
    assert_true(errno == EBADF || errno == EINVAL || errno == ENOSYS);
}
