/* SPDX-License-Identifier: MIT
 *
 * For tests of what a task may ask for: a specification with the usual paths, and, where the test
 * is root, accounts that are seen by this process and its agents alone.
 */
#ifndef TEST_TASK_FIXTURE_H
#define TEST_TASK_FIXTURE_H

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/strbuf.h"
#include "test/unit/nodeagent-proto/link/fixture.h"

#define TEST_USER  "batchai-test"
#define TEST_UID   54321
#define TEST_GID   54322
#define TEST_GROUP 54323 /* a further one that it is in */

/* Runs it until its command exists or could not be made. */
static inline void run_spec(struct fixture *f, const struct task_spec *s)
{
    f->run_answers = 0;
    node_run(f->link, s, on_run, f);
    WAIT(f, f->run_answers == 1);
    assert_string_equal(f->why.msg, "");
}

static inline void append_in(const char *dir, const char *name, const char *more)
{
    char *path = fs_join(dir, name);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fs_write_all(fd, more, strlen(more)), 0);
    close(fd);
    free(path);
}

static inline void copy_etc(const char *to)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        execlp("cp", "cp", "-a", "/etc/.", to, (char *)NULL);
        _exit(127);
    }
    /* Files that programs of other tests make there for a moment may be gone when it comes to them.
     */
    assert_true(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) <= 1);
}

/* Once per test program: from now on the test account is in what this process sees as /etc, a copy
 * in memory. (A file that is mounted over /etc/passwd alone would go as soon as anybody makes an
 * account: a rename takes away what is mounted there, in all namespaces.) False if that cannot be
 * done: no root, or no namespaces. */
static inline bool make_test_account(void)
{
    char dir[] = "/tmp/batchai-test-etc-XXXXXX";
    if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
        mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0)
        return false;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(mount("none", dir, "tmpfs", 0, "mode=0755"), 0);
    copy_etc(dir);
    append_in(dir, "passwd", TEST_USER ":x:54321:54322:a test:/tmp:/bin/sh\n");
    append_in(dir, "group", "batchai-own:x:54322:\nbatchai-more:x:54323:root," TEST_USER "\n");
    assert_int_equal(mount(dir, "/etc", NULL, MS_MOVE, NULL), 0);
    assert_int_equal(rmdir(dir), 0);
    return true;
}

/* The node root of a machine is open to all. */
static inline int setup_open_root(void **state)
{
    setup(state);
    struct fixture *f = *state;
    assert_int_equal(chmod(f->root, 0755), 0);
    return 0;
}

#define OPEN_ROOT_TEST(name) TEST_IN(name, struct fixture *f, *state, setup_open_root, teardown)

/* What a slip says (agent/small_record.h); "" if there is none. Not inlined: see slurp(). */
static __attribute__((noinline, unused)) char *slip_text(const char *path)
{
    char *text = NULL, *line, *end;
    if (fs_read(path, 2 * PATH_MAX, &text, NULL, NULL) < 0)
        return xstrdup("");
    line = strchr(text, '\n');
    end = line ? strchr(line + 1, '\n') : NULL;
    char *said = end ? strndup(line + 1, (size_t)(end - line - 1)) : xstrdup("");
    free(text);
    return said;
}

/* The user of an account that the node has given out; 0: nobody's. */
static inline uid_t uid_of(struct fixture *f, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/accounts/%s", f->root, name);
    char *said = slip_text(path);
    uid_t uid = (uid_t)strtoul(said, NULL, 10);
    free(said);
    return uid;
}

#endif
