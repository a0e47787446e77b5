/* SPDX-License-Identifier: MIT
 *
 * An account of its own for each job, given out by the real agent: who it is, what it reaches, and
 * that nothing of it is left when it is given back, whoever is killed meanwhile. Needs root.
 */
#include <linux/fs.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>

#include "test/unit/nodeagent-proto/link/account_fixture.h"

static bool is_there(struct fixture *f, const char *relative)
{
    char *path = in_root(f, relative);
    struct stat st;
    bool there = lstat(path, &st) == 0;
    return there;
}

OPEN_ROOT_TEST(test_a_job_is_a_number_of_its_own)
{
    char wanted[128];
    mode_t mode;
    NEED_ROOT();
    open_ready(f);
    take(f, "one");
    take(f, "two");
    uid_t one = uid_of(f, "one"), two = uid_of(f, "two");
    assert_true(one > FIRST && one < FIRST + COUNT);
    assert_true(two > FIRST && two < FIRST + COUNT && two != one);
    assert_int_equal(owner_of(f, "jobs/one", &mode), one);
    assert_int_equal(mode, 0700);
    assert_int_equal(exit_of(f, "t1", "one", "id -u; id -g; id -G; echo $USER $HOME"), 0);
    snprintf(wanted, sizeof wanted, "%u\n%u\n%u\nbatchai-%u %s\n", one, FIRST, FIRST, one,
             dir_of(f, "one"));
    assert_true(file_has(f, "jobs/one/out.txt", wanted));
}

static bool has_records(void)
{
    char *text = NULL, *line;
    bool has = fs_read("/etc/nsswitch.conf", 65536, &text, NULL, NULL) == 0 &&
               (line = strstr(text, "\npasswd:")) &&
               (line[strcspn(line + 1, "\n") + 1] = '\0', 1) && strstr(line, "systemd");
    free(text);
    return has;
}

OPEN_ROOT_TEST(test_programs_know_it_by_name_as_long_as_it_is_taken)
{
    char wanted[128], record[64];
    NEED_ROOT();
    if (!has_records())
        skip_because("passwd of nsswitch.conf has no systemd");
    open_ready(f);
    take(f, "one");
    uid_t one = uid_of(f, "one");
    char *home = dir_of(f, "one");
    assert_int_equal(exit_of(f, "t1", "one", "whoami; getent passwd $(id -u); ssh -G h | head -1"),
                     0);
    snprintf(wanted, sizeof wanted, "batchai-%u\nbatchai-%u:x:%u:%u:", one, one, one, FIRST);
    assert_true(file_has(f, "jobs/one/out.txt", wanted));
    assert_true(file_has(f, "jobs/one/out.txt", home));
    assert_true(file_has(f, "jobs/one/out.txt", "\nuser batchai-") ||
                file_has(f, "jobs/one/out.txt", "\nhost h"));
    take(f, "one");
    release(f, "one");
    struct stat st;
    snprintf(record, sizeof record, "/run/userdb/%u.user", one);
    assert_int_equal(lstat(record, &st), -1);
    snprintf(record, sizeof record, "/run/userdb/batchai-%u.user", one);
    assert_int_equal(lstat(record, &st), -1);
}

JOB_ACCOUNT_TEST(test_taken_again_it_is_the_same)
{
    take(f, "one");
    uid_t one = uid_of(f, "one");
    take(f, "one");
    assert_int_equal(uid_of(f, "one"), one);
    close_link(f);
    open_ready(f);
    take(f, "one");
    assert_int_equal(uid_of(f, "one"), one);
    release(f, "one");
    take(f, "two");
    assert_true(uid_of(f, "two") != one); /* its number comes again as late as can be */
}

JOB_ACCOUNT_TEST(test_another_job_is_out_of_reach)
{
    char command[256];
    take(f, "one");
    take(f, "two");
    begin(f, "t1", "one", "echo secret >mine; echo $$ >pid; chmod 0644 mine; exec sleep 1000");
    WAIT(f, read_pid(f, "jobs/one/pid") > 0);
    snprintf(command, sizeof command,
             "cat ../one/mine; kill -9 %ld; cat /proc/%ld/environ; ls %s/tasks",
             read_pid(f, "jobs/one/pid"), read_pid(f, "jobs/one/pid"), f->root);
    assert_true(exit_of(f, "t2", "two", command) != 0);
    assert_false(file_has(f, "jobs/two/out.txt", "secret"));
    assert_false(file_has(f, "jobs/two/out.txt", "BATCHAI"));
    assert_false(file_has(f, "jobs/two/out.txt", "claim"));
    assert_false(gone(read_pid(f, "jobs/one/pid")));
    ASKED(f, signal, .task = "t1", .signal = SIGKILL);
    WAIT(f, f->n_ended == 2);
}

/* What a job starts so that no task knows it any more. */
static void escape(struct fixture *f, const char *name)
{
    struct err e;
    static const char text[] = "trap '' TERM; echo $$ >\"$1/pid\"; exec sleep 1000\n";
    assert_int_equal(
        fs_write_atomic(in_root(f, "jobs/one/escape.sh"), text, sizeof text - 1, 0644, &e), 0);
    char *dir = dir_of(f, name), cmd[256];
    uid_t uid = uid_of(f, name);
    snprintf(cmd, sizeof cmd, "exec env -i setsid sh %s/escape.sh %s >/dev/null 2>&1", dir, dir);
    pid_t pid = fork();
    if (pid == 0) {
        if (setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0)
            execl("/bin/sh", "sh", "-c", cmd, (char *)NULL);
        _exit(1);
    }
    WAIT(f, read_pid(f, "jobs/one/pid") > 0);
}

JOB_ACCOUNT_TEST(test_given_back_nothing_of_it_is_left)
{
    struct err e;
    take(f, "one");
    uid_t one = uid_of(f, "one");
    char left[64], *others = in_root(f, "others"), *linked = in_root(f, "jobs/one/linked");
    snprintf(left, sizeof left, "/dev/shm/batchai-test-left-%d", (int)getpid());
    assert_int_equal(fs_write_atomic(others, "x", 1, 0644, &e), 0);
    assert_int_equal(chown(others, 12345, 12345), 0);
    assert_int_equal(link(others, linked), 0);
    char command[256];
    snprintf(command, sizeof command,
             "mkdir -p a/b; echo x >a/b/c; ln -s /etc/passwd a/l; mkdir -p %s/deep; umask 077; "
             "chmod u+s a/b/c; chmod 0 a/b",
             left);
    assert_int_equal(exit_of(f, "t1", "one", command), 0);
    escape(f, "one");
    long pid = read_pid(f, "jobs/one/pid");
    int shm = shmget(IPC_PRIVATE, 4096, 0600);
    struct shmid_ds ds;
    assert_int_equal(shmctl(shm, IPC_STAT, &ds), 0);
    ds.shm_perm.uid = one;
    assert_int_equal(shmctl(shm, IPC_SET, &ds), 0);

    release(f, "one");
    assert_true(gone(pid));
    assert_int_equal(uid_of(f, "one"), 0);
    assert_int_equal(owner_of(f, "jobs/one", NULL), 0);
    assert_int_equal(owner_of(f, "jobs/one/a/b/c", NULL), 0);
    assert_int_equal(owner_of(f, "jobs/one/a/l", NULL), 0);
    assert_int_equal(owner_of(f, "jobs/one/linked", NULL), 12345);
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(shmctl(shm, IPC_STAT, &ds), -1);
    struct stat st;
    assert_int_equal(stat("/etc/passwd", &st), 0);
    assert_int_equal(st.st_uid, 0);
    release(f, "one"); /* done already */
    release(f, NULL);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

static void *tick(void *fd)
{
    while (write(*(int *)fd, "", 1) == 1)
        usleep(1000);
    return NULL;
}

/* Its first thread ends: a zombie is all that is seen of the process. */
static _Noreturn void go_on_as_a_thread(uid_t uid, int fd)
{
    static int to; /* what is on this stack goes with it */
    pthread_t thread;
    to = fd;
    alarm(60); /* should nobody else end it */
    if (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0 ||
        pthread_create(&thread, NULL, tick, &to) != 0)
        _exit(1);
    pthread_exit(NULL);
}

static bool is_zombie(pid_t pid)
{
    char path[64], *text, *at;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (fs_read(path, 4096, &text, NULL, NULL) < 0)
        return false;
    at = strrchr(text, ')');
    bool is = at && at[2] == 'Z';
    free(text);
    return is;
}

/* More directories, one in the other, than a path may have bytes or a process open files. */
#define DEPTH 3000

/* Returns the deepest directory, open. */
static int make_deep(struct fixture *f, const char *job, uid_t uid)
{
    int at = open(dir_of(f, job), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(at, "a-directory-with-a-name-of-some-length", 0700), 0);
        int next = openat(at, "a-directory-with-a-name-of-some-length",
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        assert_int_equal(fchown(next, uid, FIRST), 0);
        if (i == 0) { /* the walk comes back here */
            assert_int_equal(mkdirat(next, "beside", 0700), 0);
            assert_int_equal(fchownat(next, "beside", uid, FIRST, 0), 0);
        }
        close(at);
        at = next;
    }
    return at;
}

JOB_ACCOUNT_TEST(test_given_back_a_tree_of_any_depth_is_the_agents)
{
    struct stat st;
    take(f, "one");
    int deepest = make_deep(f, "one", owner_of(f, "jobs/one", NULL));
    release(f, "one");
    assert_int_equal(fstat(deepest, &st), 0);
    assert_int_equal(st.st_uid, 0);
    close(deepest);
    assert_int_equal(owner_of(f, "jobs/one/a-directory-with-a-name-of-some-length/beside", NULL),
                     0);
    assert_int_equal(owner_of(f, "jobs/one", NULL), 0);
    start(f, "tidy", arena_printf(&f->texts, "rm -rf %s", dir_of(f, "one")));
    (void)nth_end(f, 1);
}

static bool fix_file(const char *path, bool fixed)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), flags = 0;
    bool done = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;
    flags = fixed ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
    done = done && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

/* The request succeeds, because the number is nobody else's. */
JOB_ACCOUNT_TEST(test_a_file_that_cannot_be_taken_over_keeps_the_number)
{
    char *fixed = in_root(f, "jobs/one/fixed");
    take(f, "one");
    uid_t one = owner_of(f, "jobs/one", NULL);
    assert_int_equal(exit_of(f, "t", "one", "touch a fixed z"), 0);
    if (!fix_file(fixed, true))
        skip_because("files cannot be made immutable here: %s", strerror(errno));
    release(f, "one");
    assert_int_equal(owner_of(f, "jobs/one/fixed", NULL), one);
    assert_int_equal(owner_of(f, "jobs/one/a", NULL), 0);
    assert_int_equal(owner_of(f, "jobs/one/z", NULL), 0);
    take(f, "two");
    assert_int_not_equal(owner_of(f, "jobs/two", NULL), one);
    assert_true(fix_file(fixed, false));
    release(f, "one");
    assert_int_equal(owner_of(f, "jobs/one/fixed", NULL), 0);
}

JOB_ACCOUNT_TEST(test_given_back_its_threads_are_gone_too)
{
    int fds[2], status;
    char byte;
    take(f, "one");
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0)
        go_on_as_a_thread(uid_of(f, "one"), fds[1]);
    close(fds[1]);
    WAIT(f, is_zombie(pid));
    assert_int_equal(read(fds[0], &byte, 1), 1);
    release(f, "one");
    /* It has ended by now: the pipe does too, behind what the thread wrote. */
    assert_int_equal(waitpid(pid, &status, WNOHANG), pid);
    while (read(fds[0], &byte, 1) == 1)
        ;
    close(fds[0]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

#define ROUNDS 100

/* Takes the account of each round for a directory of its own and, if there is one, for the same
 * job's directory below another root. */
static void take_rounds(struct fixture *f, const char *first_root, pthread_barrier_t *both)
{
    for (int i = 0; i < ROUNDS; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", i);
        char *dir = dir_of(f, name), *jobs = first_root ? joined(f, first_root, "jobs") : NULL;
        char *also = jobs ? joined(f, jobs, name) : NULL;
        const struct request_account_take account = {
            .name = name, .dir = dir, .also = also, .first = FIRST, .count = COUNT};
        pthread_barrier_wait(both);
        ASK(f, node_ask(f->link, REQUEST_OF(account_take, account), on_done, f));
        assert_string_equal(f->why.msg, "");
    }
}

/* Both nodes of a job make its directory on the first one, whoever comes first. */
OPEN_ROOT_TEST(test_two_nodes_make_the_same_directory)
{
    void *other;
    int status;
    pthread_barrierattr_t shared;
    pthread_barrier_t *both;
    NEED_ROOT();
    both = mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(both, &shared, 2);
    open_ready(f);
    take(f, "one"); /* so that there is a folder of jobs */
    pid_t pid = fork();
    if (pid == 0) {
        alarm(120);
        setup_open_root(&other);
        open_ready(other);
        take_rounds(other, f->root, both);
        release(other, NULL);
        _exit(teardown(&other));
    }
    alarm(120); /* should the other end early */
    take_rounds(f, NULL, both);
    alarm(0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    release(f, NULL);
    munmap(both, sizeof *both);
}

JOB_ACCOUNT_TEST(test_all_at_once)
{
    take(f, "one");
    take(f, "two");
    release(f, NULL);
    assert_int_equal(uid_of(f, "one"), 0);
    assert_int_equal(uid_of(f, "two"), 0);
}

JOB_ACCOUNT_TEST(test_the_next_agent_gives_back_what_nothing_needs)
{
    struct err e;
    take(f, "one");
    take(f, "two");
    take(f, "three");
    begin(f, "t2", "two", "exec sleep 1000");
    close_link(f);
    char *one = dir_of(f, "one"), *two = dir_of(f, "two");
    assert_int_equal(fs_remove_tree(one, &e), 0);
    assert_int_equal(fs_remove_tree(two, &e), 0);
    open_ready(f);
    assert_int_equal(uid_of(f, "one"), 0);
    assert_true(uid_of(f, "two") > 0);   /* a task runs as it */
    assert_true(uid_of(f, "three") > 0); /* its directory is there */
    ASKED(f, signal, .task = "t2", .signal = SIGKILL);
    WAIT(f, f->n_ended == 1);
}

static size_t n_entries;

static void on_dir(void *ctx, const struct err *why, const struct node_dir *dir)
{
    n_entries = dir->n;
    keep_why(ctx, why);
}

JOB_ACCOUNT_TEST(test_what_it_kept_is_read_and_no_link_out_of_it)
{
    struct err e;
    take(f, "one");
    assert_int_equal(exit_of(f, "t1", "one", "mkdir kept; echo x >kept/file; ln -s /etc out"), 0);
    char *dir = dir_of(f, "one"), *kept = joined(f, dir, "kept"), *out = joined(f, dir, "out");
    char *secret = in_root(f, "secret"), *file = joined(f, secret, "file"),
         *lead = joined(f, dir, "lead");
    assert_int_equal(fs_mkdirs(secret, 0700, &e), 0);
    assert_int_equal(fs_write_atomic(file, "x", 1, 0600, &e), 0);
    assert_int_equal(symlink(secret, lead), 0);
    release(f, "one");
    ASK(f, node_list_dir(f->link, "+one", kept, "", on_dir, f));
    assert_string_equal(f->why.msg, "");
    assert_int_equal(n_entries, 1);
    ASK(f, node_list_dir(f->link, "+one", out, "", on_dir, f));
    assert_true(f->why.code != ERR_NONE);
    ASK(f, node_list_dir(f->link, "+one", lead, "", on_dir, f));
    assert_true(f->why.code != ERR_NONE);
    ASK(f, node_list_dir(f->link, "+one", secret, "", on_dir, f));
    assert_true(f->why.code != ERR_NONE);
}

JOB_ACCOUNT_TEST(test_jobs_write_in_what_others_made_on_a_share)
{
    char *share = in_root(f, "share"), *target = in_root(f, "mounts/data");
    DONE(f, mount_folder, .source = share, .target = target, .shared = true);
    take(f, "one");
    take(f, "two");
    assert_int_equal(exit_of(f, "t1", "one", "mkdir ../../mounts/data/made"), 0);
    assert_int_equal(exit_of(f, "t2", "two", "echo x >../../mounts/data/made/file"), 0);
    assert_int_equal(exit_of(f, "t3", "one", "echo y >>../../mounts/data/made/file"), 0);
    /* Also where the file system has no lists of rights. */
    char *plain = in_root(f, "plain");
    assert_true(mkdir(plain, 0777) == 0 && chmod(plain, 0777) == 0);
    assert_int_equal(
        exit_of(f, "t4", "one", "mkdir ../../plain/made; echo x >../../plain/made/file"), 0);
    assert_int_equal(exit_of(f, "t5", "two", "echo y >>../../plain/made/file"), 0);
}

JOB_ACCOUNT_TEST(test_what_cannot_be_is_refused)
{
    take_from(f, "one", 1000, COUNT);
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    take_from(f, "one", FIRST, 900);
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    struct request_account_take a = {
        .name = "one", .dir = "/tmp/elsewhere", .first = FIRST, .count = COUNT};
    ASK(f, node_ask(f->link, REQUEST_OF(account_take, a), on_done, f));
    assert_int_equal(f->why.code, ERR_INVALID_PATH);
    char *dir = dir_of(f, "x");
    a.name = "../x";
    a.dir = dir;
    ASK(f, node_ask(f->link, REQUEST_OF(account_take, a), on_done, f));
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    struct err e;
    char *file = joined(f, dir, "file");
    take(f, "one");
    assert_int_equal(fs_mkdirs(dir, 0700, &e), 0);
    assert_int_equal(fs_write_atomic(file, "x", 1, 0600, &e), 0);
    take_from(f, "x", FIRST, COUNT);
    assert_int_equal(f->why.code, ERR_CONFLICT); /* somebody has been there */
    assert_true(is_there(f, "jobs/x/file"));
}

JOB_ACCOUNT_TEST(test_who_was_there_before_goes_on_as_it_was)
{
    struct err e;
    char *dir = dir_of(f, "one");
    assert_int_equal(fs_mkdirs(dir, 0755, &e), 0);
    assert_int_equal(chown(dir, TEST_UID, TEST_GID), 0);
    pid_t other = fork();
    if (other == 0) {
        if (setresuid(TEST_UID, TEST_UID, TEST_UID) == 0)
            pause();
        _exit(1);
    }
    take(f, "one");
    assert_int_equal(uid_of(f, "one"), TEST_UID);
    assert_int_equal(exit_of(f, "t1", "one", "id -u"), 0);
    assert_true(file_has(f, "jobs/one/out.txt", "54321\n"));
    release(f, "one");
    assert_int_equal(owner_of(f, "jobs/one", NULL), TEST_UID); /* it is not a job's alone */
    assert_false(gone(other));
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    take(f, "two");
    assert_true(uid_of(f, "two") > FIRST);
}

JOB_ACCOUNT_TEST(test_a_share_is_opened_with_what_is_in_it)
{
    struct err e;
    char *share = in_root(f, "share"), *target = in_root(f, "mounts/data");
    char *deep = in_root(f, "share/old/deep"), *file = in_root(f, "share/old/deep/file");
    char *lead = in_root(f, "share/old/lead"), *outside = in_root(f, "outside");
    assert_int_equal(fs_mkdirs(deep, 0755, &e), 0);
    assert_int_equal(fs_write_atomic(file, "x", 1, 0600, &e), 0);
    assert_int_equal(fs_write_atomic(outside, "x", 1, 0600, &e), 0);
    assert_int_equal(symlink(outside, lead), 0);
    DONE(f, mount_folder, .source = share, .target = target, .shared = true);
    take(f, "one");
    assert_int_equal(
        exit_of(f, "t1", "one", "cd ../../mounts/data/old/deep; mkdir new; echo y >>file"), 0);
    mode_t mode;
    (void)owner_of(f, "outside", &mode);
    assert_int_equal(mode, 0600);
}

/* As a job makes it where others mount later. */
JOB_ACCOUNT_TEST(test_a_link_out_of_a_share_is_not_mounted)
{
    struct err e;
    mode_t mode;
    char *share = in_root(f, "share"), *lead = in_root(f, "share/lead"),
         *outside = in_root(f, "outside"), *deeper = in_root(f, "share/lead/new"),
         *target = in_root(f, "mounts/data"), *here = in_root(f, "share/here"),
         *inner = in_root(f, "share/inner");
    assert_int_equal(fs_mkdirs(share, 0755, &e), 0);
    assert_int_equal(fs_mkdirs(outside, 0700, &e), 0);
    assert_int_equal(chmod(outside, 0700), 0);
    assert_int_equal(symlink(outside, lead), 0);
    ASKED(f, mount_folder, .source = lead, .target = target, .shared = true, .within = share);
    assert_why(f, ERR_INVALID_PATH, lead);
    ASKED(f, mount_folder, .source = deeper, .target = target, .shared = true, .within = share);
    assert_int_equal(f->why.code, ERR_INVALID_PATH);
    DONE(f, open_folder, .path = lead, .within = share);
    assert_int_equal(owner_of(f, "outside", &mode), 0);
    assert_int_equal(mode, 0700);
    assert_false(is_there(f, "outside/new"));
    assert_false(is_there(f, "mounts/data"));
    /* One that stays in it is the share's own matter. */
    assert_int_equal(symlink("here", inner), 0);
    DONE(f, mount_folder, .source = here, .target = target, .shared = true, .within = share);
    DONE(f, mount_folder, .source = inner, .target = target, .shared = true, .within = share);
    (void)owner_of(f, "share/here", &mode);
    assert_int_equal(mode, 0777);
}

LINK_TEST(test_a_way_that_is_closed_is_named)
{
    NEED_ROOT();
    char outer[64];
    snprintf(outer, sizeof outer, "%s", f->root);
    snprintf(f->root + strlen(f->root), sizeof f->root - strlen(f->root), "/in");
    assert_int_equal(mkdir(f->root, 0755), 0);
    open_ready(f);
    take_from(f, "one", FIRST, COUNT);
    assert_why(f, ERR_CONFLICT, outer);
    assert_says(f->why.msg, "chmod o+x");
    close_link(f);
    snprintf(f->root, sizeof f->root, "%s", outer);
}
