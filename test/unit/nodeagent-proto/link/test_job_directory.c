/* SPDX-License-Identifier: MIT
 *
 * The directory of a job that left nothing in it serves the next one, which finds nothing of the
 * first and of whose processes none gets in; with anything in it, it is removed. Needs root.
 */
#include <sys/stat.h>
#include <sys/xattr.h>

#include "test/unit/nodeagent-proto/link/account_fixture.h"

#define HOSTS "127.0.0.1 slots=1\n"

static char *path_in(struct fixture *f, const char *job, const char *part)
{
    char relative[128];
    snprintf(relative, sizeof relative, "jobs/%s%s", job, part);
    return in_root(f, relative);
}

static struct stat look(struct fixture *f, const char *job, const char *part)
{
    char *path = path_in(f, job, part);
    struct stat st = {.st_ino = 0};
    (void)lstat(path, &st);
    return st;
}

/* As the daemon begins a job. */
static void begin_job(struct fixture *f, const char *job, const char *hosts)
{
    char *shared = path_in(f, job, "/shared"), *file = path_in(f, job, "/hostfile"), as[64];
    const char *paths[] = {shared};
    snprintf(as, sizeof as, "+%s", job);
    take(f, job);
    DONE(f, make_dirs, .paths = paths, .n_paths = 1, .as = as);
    DONE(f, write_file, .path = file, .text = hosts, .mode = 0644, .as = as);
}

static void end(struct fixture *f, const char *job)
{
    DONE(f, remove_tree, .path = path_in(f, job, ""));
    DONE(f, account_release, .name = job);
    assert_int_equal(look(f, job, "").st_ino, 0);
}

static void assert_plain(struct fixture *f, const char *job, const char *hosts)
{
    static const struct {
        const char *part;
        mode_t mode;
    } parts[] = {{"", 0700}, {"/shared", 0777}, {"/hostfile", 0644}};
    char text[64], relative[64];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct stat st = look(f, job, parts[i].part);
        assert_int_equal(st.st_uid, uid_of(f, job));
        assert_int_equal(st.st_gid, FIRST);
        assert_int_equal(st.st_mode & 07777, parts[i].mode);
        assert_int_equal(listxattr(path_in(f, job, parts[i].part), text, sizeof text), 0);
    }
    snprintf(relative, sizeof relative, "jobs/%s/hostfile", job);
    assert_string_equal(slurp(f, relative), hosts);
}

JOB_ACCOUNT_TEST(test_it_serves_the_next_job)
{
    begin_job(f, "one", HOSTS);
    struct stat dir = look(f, "one", ""), hosts = look(f, "one", "/hostfile");
    uid_t one = uid_of(f, "one");
    end(f, "one");
    begin_job(f, "two", HOSTS);
    assert_int_not_equal(uid_of(f, "two"), one);
    assert_int_equal(look(f, "two", "").st_ino, dir.st_ino);
    assert_int_equal(look(f, "two", "/hostfile").st_ino, hosts.st_ino);
    assert_plain(f, "two", HOSTS);
    begin_job(f, "three", HOSTS); /* beside it */
    assert_int_not_equal(look(f, "three", "").st_ino, dir.st_ino);
    assert_plain(f, "three", HOSTS);
    end(f, "two");
    begin_job(f, "four", "another\n");
    assert_int_equal(look(f, "four", "").st_ino, dir.st_ino);
    assert_plain(f, "four", "another\n");
    end(f, "three");
    end(f, "four");
}

/* What a job may do to its directory that the next must not find. */
OPEN_ROOT_TEST(test_what_a_job_changed_is_not_the_next_ones)
{
    static const struct {
        const char *command;
        bool is_kept; /* the directory, as it was made */
    } cases[] = {
        {"chmod 777 . shared; chmod 600 hostfile", true},
        {"echo mine >> hostfile", true},
        {"touch left", false},
        {"mkdir shared/left", false},
        {"rmdir shared; ln -s / shared", false},
        {"rm hostfile; mkdir hostfile", false},
        {"rm hostfile", true},
        {"rm -r shared", false},
        {"true # attributes", false},
        {"true # attributes of shared", true},
    };
    NEED_ROOT();
    open_ready(f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char id[16], user[16] = "+one";
        snprintf(id, sizeof id, "t%zu", i);
        begin_job(f, "one", HOSTS);
        ino_t was = look(f, "one", "").st_ino;
        const struct task_spec s = {.id = id,
                                    .command_line = cases[i].command,
                                    .cwd = path_in(f, "one", ""),
                                    .stdout_path = "/dev/null",
                                    .stderr_path = "/dev/null",
                                    .step = "job",
                                    .user = user};
        f->n_ended = 0;
        run_spec(f, &s);
        (void)nth_end(f, 1);
        if (strstr(s.command_line, "attributes")) /* as setfattr(1) does */
            assert_int_equal(
                setxattr(path_in(f, "one", strstr(s.command_line, "shared") ? "/shared" : ""),
                         "user.x", "y", 1, 0),
                0);
        end(f, "one");
        begin_job(f, "two", HOSTS);
        assert_plain(f, "two", HOSTS);
        assert_int_equal(look(f, "two", "").st_ino == was, cases[i].is_kept);
        end(f, "two");
    }
}

/* A host file that somebody could still write to is no other job's. */
JOB_ACCOUNT_TEST(test_an_open_host_file_is_not_the_next_jobs)
{
    begin_job(f, "one", HOSTS);
    struct stat was = look(f, "one", "/hostfile");
    int fd = open(path_in(f, "one", "/hostfile"), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    end(f, "one");
    begin_job(f, "two", HOSTS);
    assert_int_not_equal(look(f, "two", "/hostfile").st_ino, was.st_ino);
    assert_int_equal(pwrite(fd, "evil", 4, 0), 4);
    assert_plain(f, "two", HOSTS);
    end(f, "two");
    close(fd);
}

JOB_ACCOUNT_TEST(test_an_open_shared_directory_is_not_the_next_jobs)
{
    begin_job(f, "one", HOSTS);
    int fd = open(path_in(f, "one", "/shared"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    end(f, "one");
    begin_job(f, "two", HOSTS);
    assert_int_equal(openat(fd, "evil", O_WRONLY | O_CREAT | O_CLOEXEC, 0666), -1);
    assert_int_equal(look(f, "two", "/shared/evil").st_ino, 0);
    assert_plain(f, "two", HOSTS);
    end(f, "two");
    close(fd);
}

static bool is_unchanged(const struct stat *now, const struct stat *was)
{
    return now->st_ino == was->st_ino && now->st_ctim.tv_sec == was->st_ctim.tv_sec &&
           now->st_ctim.tv_nsec == was->st_ctim.tv_nsec;
}

/* Where many tasks have one account, it is taken for each of them. */
JOB_ACCOUNT_TEST(test_to_take_it_again_writes_nothing)
{
    struct stat was, now;
    char record[64];
    begin_job(f, "one", HOSTS);
    snprintf(record, sizeof record, "/run/userdb/batchai-%u.user", uid_of(f, "one"));
    bool named = stat(record, &was) == 0;
    struct stat dir_was = look(f, "one", "");
    take(f, "one");
    struct stat dir = look(f, "one", "");
    assert_true(is_unchanged(&dir, &dir_was));
    assert_true(!named || (stat(record, &now) == 0 && is_unchanged(&now, &was)));
    assert_int_equal(chmod(path_in(f, "one", ""), 0755), 0);
    assert_true(!named || unlink(record) == 0);
    take(f, "one");
    assert_int_equal(look(f, "one", "").st_mode & 07777, 0711); /* others may have to pass */
    assert_true(!named || stat(record, &now) == 0);
    end(f, "one");
}
