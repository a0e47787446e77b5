/* SPDX-License-Identifier: MIT
 *
 * Jobs' accounts of their own, which the real agent of a task fixture gives out. Needs root.
 */
#ifndef TEST_ACCOUNT_FIXTURE_H
#define TEST_ACCOUNT_FIXTURE_H

#include "test/unit/nodeagent-proto/link/task_fixture.h"

/* The range of the accounts' numbers. */
#define FIRST 2100000000
#define COUNT 40000000

/* Needs root, and begins with a link whose agent has said hello. */
#define JOB_ACCOUNT_TEST(name)                                                                     \
    TEST_IN(name, struct fixture *f, made_ready(as_root(*state)), setup_open_root, teardown)

static inline char *dir_of(struct fixture *f, const char *name)
{
    char *jobs = in_root(f, "jobs"), *dir = joined(f, jobs, name);
    return dir;
}

static inline void take_from(struct fixture *f, const char *name, int64_t first, int64_t count)
{
    char *dir = dir_of(f, name);
    const struct request_account_take account = {
        .name = name, .dir = dir, .first = first, .count = count};
    ASK(f, node_ask(f->link, REQUEST_OF(account_take, account), on_done, f));
}

static inline void take(struct fixture *f, const char *name)
{
    take_from(f, name, FIRST, COUNT);
    assert_string_equal(f->why.msg, "");
}

static inline void release(struct fixture *f, const char *name)
{
    ASK(f, node_ask(f->link, REQUEST(account_release, .name = name), on_done, f));
    assert_string_equal(f->why.msg, "");
}

static inline uid_t owner_of(struct fixture *f, const char *relative, mode_t *mode)
{
    char *path = in_root(f, relative);
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    if (mode)
        *mode = st.st_mode & 07777;
    return st.st_uid;
}

/* Runs a command of job `name`; in its own directory, which also gets its output. */
static inline void begin(struct fixture *f, const char *id, const char *name, const char *command)
{
    char as[32], *dir = dir_of(f, name), *out = joined(f, dir, "out.txt"),
                 *no = joined(f, dir, "no.txt");
    snprintf(as, sizeof as, "+%s", name);
    const struct task_spec s = {.id = id,
                                .command_line = command,
                                .cwd = dir,
                                .stdout_path = out,
                                .stderr_path = no,
                                .step = "job",
                                .user = as};
    run_spec(f, &s);
}

static inline int exit_of(struct fixture *f, const char *id, const char *name, const char *command)
{
    f->n_ended = 0;
    begin(f, id, name, command);
    return nth_end(f, 1)->s.exit_code;
}

#endif
