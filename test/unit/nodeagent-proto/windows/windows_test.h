/* SPDX-License-Identifier: MIT
 *
 * Runs command lines of Windows in a folder of the test's own, each in a process of its own.
 */
#ifndef TEST_UNIT_WINDOWS_WINDOWS_TEST_H
#define TEST_UNIT_WINDOWS_WINDOWS_TEST_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fs.h"
#include "nodeagent-proto/windows/windows.h"
#include "test/unit/support/tests.h"

struct windows_place {
    char dir[64]; /* has wd, in which command lines run */
};

static inline int make_place(void **state)
{
    static struct windows_place place;
    char wd[96];
    snprintf(place.dir, sizeof place.dir, "/tmp/batchaid-windows-XXXXXX");
    if (!mkdtemp(place.dir))
        return -1;
    snprintf(wd, sizeof wd, "%s/wd", place.dir);
    setenv("AZ_BATCH_NODE_ROOT_DIR", place.dir, 1);
    *state = &place;
    return mkdir(wd, 0755) < 0 || chdir(wd) < 0 ? -1 : 0;
}

static inline int remove_place(void **state)
{
    struct err e;
    const struct windows_place *place = *state;
    return chdir("/") < 0 ? -1 : fs_remove_tree(place->dir, &e);
}

#define PLACE_TEST(name)                                                                           \
    TEST_IN(name, const struct windows_place *place, *state, make_place, remove_place)

static inline char *whole_file(const char *path)
{
    char *text = NULL;
    struct err e;
    if (fs_read(path, 1 << 20, &text, NULL, &e) < 0)
        fail_msg("%s: %s", path, e.msg);
    return text;
}

static inline void write_file(const char *path, const char *text, mode_t mode)
{
    struct err e;
    if (fs_write_atomic(path, text, strlen(text), mode, &e) < 0)
        fail_msg("%s", e.msg);
}

static inline void into(int fd, const char *path)
{
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(to, fd);
    close(to);
}

/* The exit code; what was said is in ../out and ../err. */
static inline int run_windows(const char *line)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int in = open("/dev/null", O_RDONLY);
        dup2(in, 0);
        into(STDOUT_FILENO, "../out");
        into(STDERR_FILENO, "../err");
        int code = windows_run(line);
        fflush(stdout);
        _exit(code);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static inline void assert_says(const char *line, int code, const char *out, const char *err)
{
    int got = run_windows(line);
    char *said = whole_file("../out"), *complained = whole_file("../err");
    if (got != code || strcmp(said, out) != 0 || (err && strcmp(complained, err) != 0))
        fail_msg("%s: %d\n%s%s", line, got, said, complained);
    free(said);
    free(complained);
}

static inline void assert_prints(const char *line, const char *out)
{
    assert_says(line, 0, out, "");
}

#endif
