/* SPDX-License-Identifier: MIT
 *
 * The machine's registry of numbers of jobs' accounts, as agents keep it when they start: what
 * nobody needs is forgotten, what is taken is noted. Needs root.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "test/unit/nodeagent-proto/link/account_fixture.h"

/* A job has one number on all nodes of a machine: this is of no other run of this test. */
static char job[24];

#define REGISTRY "/var/lib/batchai-node/accounts"
#define FAR_AWAY (FIRST + COUNT - 10) /* given to no other test */

/* Notes a number as that of a root. Returns the entry; caller frees. */
static char *note(const char *name, const char *incarnation, uid_t uid, const char *root)
{
    char entry[256], text[PATH_MAX];
    struct err e;
    assert_int_equal(fs_mkdirs(REGISTRY, 0700, &e), 0);
    snprintf(entry, sizeof entry, REGISTRY "/%s-%d@%s", name, (int)getpid(), incarnation);
    snprintf(text, sizeof text, "%u %s", uid, root);
    assert_int_equal(symlink(text, entry), 0);
    return strdup(entry);
}

static bool is_noted(const char *entry)
{
    struct stat st;
    return lstat(entry, &st) == 0;
}

static bool runs_as(pid_t pid, uid_t uid)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return stat(path, &st) == 0 && st.st_uid == uid;
}

static bool forgetting_is_over(void)
{
    int fd = open(REGISTRY "/.forgetting", O_RDWR | O_CLOEXEC);
    bool over = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    return over;
}

/* As after a folder of nodes was removed by hand. */
JOB_ACCOUNT_TEST(test_numbers_of_roots_that_are_gone_are_forgotten)
{
    struct err e;
    take(f, job);
    close_link(f);
    char *other = in_root(f, "other"), *file = joined(f, other, "incarnation");
    assert_int_equal(fs_mkdirs(other, 0755, &e), 0);
    assert_int_equal(fs_write_atomic(file, "alive\n", 6, 0644, &e), 0);
    char *gone = note("gone", "an-incarnation", FAR_AWAY, "/no/such/root");
    char *ending = note("ending", "an-incarnation~", FAR_AWAY, "/no/such/root");
    char *anew = note("anew", "before", FAR_AWAY, other);
    char *alive = note("alive", "alive", FAR_AWAY, other);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60); /* should nobody else end it */
        if (setresuid(FAR_AWAY + 2, FAR_AWAY + 2, FAR_AWAY + 2) == 0)
            pause();
        _exit(1);
    }
    WAIT(f, runs_as(pid, FAR_AWAY + 2));
    /* Not before: agents of other tests forget what is gone, too. */
    char *runs = note("runs", "an-incarnation", FAR_AWAY + 2, "/no/such/root");
    open_ready(f);
    WAIT(f, !is_noted(gone) && !is_noted(ending) && !is_noted(anew) && forgetting_is_over());
    assert_true(is_noted(alive) && is_noted(runs));
    assert_true(uid_of(f, job) > 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    unlink(alive);
    unlink(runs);
    free(runs);
    free(alive);
    free(anew);
    free(ending);
    free(gone);
}

/* As if its root was away when another agent looked. */
JOB_ACCOUNT_TEST(test_what_is_taken_is_noted_again)
{
    take(f, job);
    uid_t one = uid_of(f, job);
    char *path = in_root(f, "incarnation"), *incarnation, entry[256];
    assert_int_equal(fs_read(path, 256, &incarnation, NULL, NULL), 0);
    snprintf(entry, sizeof entry, REGISTRY "/%s@%.*s", job, (int)strcspn(incarnation, "\n"),
             incarnation);
    close_link(f);
    assert_int_equal(unlink(entry), 0);
    open_ready(f);
    WAIT(f, is_noted(entry));
    assert_int_equal(uid_of(f, job), one);
    release(f, job);
    assert_false(is_noted(entry));
    free(incarnation);
}

/* Another node of the job makes it at the same time, and gives it away next. */
JOB_ACCOUNT_TEST(test_a_directory_just_made_is_of_no_job_before)
{
    struct stat st;
    struct err e;
    char *jobs = in_root(f, "jobs"), *dir = joined(f, jobs, job);
    assert_int_equal(fs_mkdirs(jobs, 0755, &e), 0);
    assert_int_equal(mkdir(dir, 0700), 0);
    take(f, job);
    assert_true(uid_of(f, job) > FIRST);
    assert_int_equal(lstat(dir, &st), 0);
    assert_int_equal(st.st_uid, uid_of(f, job));
    release(f, job);
}

/* Older agents kept what they gave in symbolic links, those before them in files. */
OPEN_ROOT_TEST(test_a_job_keeps_what_an_older_agent_gave)
{
    char name[64], in_jobs[64];
    struct stat st;
    NEED_ROOT();
    snprintf(name, sizeof name, "accounts/%s", job);
    snprintf(in_jobs, sizeof in_jobs, "jobs/%s", job);
    char *record = in_root(f, name), *dir = in_root(f, in_jobs);
    for (int links = 0; links < 2; links++) {
        open_ready(f);
        take(f, job);
        uid_t uid = uid_of(f, job);
        char *text = slip_text(record);
        assert_true(uid > 0);
        assert_int_equal(unlink(record), 0);
        if (links)
            assert_int_equal(symlink(text, record), 0);
        else
            assert_int_equal(fs_write_atomic(record, text, strlen(text), 0600, &f->why), 0);
        close_link(f);
        open_ready(f);
        take(f, job);
        assert_int_equal(lstat(record, &st), 0);
        assert_int_equal(S_ISLNK(st.st_mode), links);
        assert_int_equal(lstat(dir, &st), 0);
        assert_int_equal(st.st_uid, uid);
        release(f, job);
        assert_int_equal(lstat(record, &st), -1);
        assert_int_equal(lstat(dir, &st), 0);
        assert_int_equal(st.st_uid, 0);
        assert_int_equal(fs_remove_tree(dir, &f->why), 0);
        close_link(f);
        free(text);
    }
    open_ready(f);
}

/* After a power cut a record may have its name already, and still the text of before. */
OPEN_ROOT_TEST(test_what_a_power_cut_takes_the_directory_tells)
{
    static const char *const left[] = {"", "another\n2000000000 2000000000 /x\n"};
    char name[64];
    NEED_ROOT();
    snprintf(name, sizeof name, "accounts/%s", job);
    char *record = in_root(f, name);
    open_ready(f);
    take(f, job);
    uid_t uid = uid_of(f, job);
    assert_true(uid > 0);
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        close_link(f);
        assert_int_equal(fs_write_atomic(record, left[i], strlen(left[i]), 0600, &f->why), 0);
        open_ready(f);
        take(f, job);
        char *dir = joined(f, f->root, "jobs"), *own = joined(f, dir, job);
        struct stat st;
        assert_int_equal(lstat(own, &st), 0);
        assert_int_equal(st.st_uid, uid);
    }
    release(f, job);
}

static void take_in(struct fixture *f, const char *name, char *dir)
{
    ASKED(f, account_take, .name = name, .dir = dir, .first = FIRST, .count = COUNT);
}

/* A job may make a directory where another job's will be, as if a power cut had left it there. */
JOB_ACCOUNT_TEST(test_no_job_gets_the_number_of_another)
{
    struct err e;
    const char *other = "noted-other";
    char *open = in_root(f, "open"), *jobs = in_root(f, "jobs"), *dir = joined(f, open, other),
         *own = joined(f, jobs, other);
    take(f, job);
    uid_t uid = uid_of(f, job);
    assert_true(fs_mkdirs(open, 0777, &e) == 0 && chmod(open, 0777) == 0);
    char *in[] = {dir, own};
    for (size_t i = 0; i < sizeof in / sizeof in[0]; i++) {
        assert_int_equal(mkdir(in[i], 0700), 0);
        assert_int_equal(chown(in[i], uid, FIRST), 0);
        take_in(f, other, in[i]);
        assert_string_equal(f->why.msg, "");
        assert_true(uid_of(f, other) > FIRST && uid_of(f, other) != uid);
        release(f, other);
    }
    /* Nor one that nobody has, where anybody can make directories. */
    release(f, job);
    assert_int_equal(chown(dir, uid, FIRST), 0);
    char *planted = joined(f, dir, "planted");
    assert_int_equal(mkdir(planted, 0700), 0);
    take_in(f, other, dir);
    assert_int_equal(f->why.code, ERR_CONFLICT);
    release(f, other);
}

int main(void)
{
    snprintf(job, sizeof job, "noted-%d", (int)getpid());
    return run_all_tests(NULL, NULL);
}
