/* SPDX-License-Identifier: MIT
 *
 * Real mounts below a node root, made by the test and taken away by the real agent: bind mounts,
 * and sshfs without a network (its "ssh" is a script that becomes sftp-server). Needs root; the
 * tests about sshfs need sshfs too.
 */
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "test/unit/nodeagent-proto/link/fixture.h"

#define SFTP_SERVER "/usr/lib/openssh/sftp-server"

struct mounted_share {
    char path[64], precious[96];
};

static void make_share(struct mounted_share *s)
{
    struct err e;
    snprintf(s->path, sizeof s->path, "/tmp/batchai-node-share-XXXXXX");
    assert_non_null(mkdtemp(s->path));
    snprintf(s->precious, sizeof s->precious, "%s/precious", s->path);
    assert_int_equal(fs_write_atomic(s->precious, "mine", 4, 0400, &e), 0);
    assert_int_equal(chmod(s->path, 0555), 0);
}

static void drop_share(struct mounted_share *s)
{
    struct stat st;
    struct err e;
    assert_int_equal(stat(s->precious, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0400);
    assert_int_equal(stat(s->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0555); /* its mode was not touched either */
    assert_int_equal(fs_remove_tree(s->path, &e), 0);
}

static char *directory(struct fixture *f, const char *relative)
{
    struct err e;
    char *path = in_root(f, relative);
    assert_int_equal(fs_mkdirs(path, 0755, &e), 0);
    return path;
}

static bool is_mounted(const char *path)
{
    char *text, *line;
    size_t n = strlen(path);
    assert_int_equal(fs_read("/proc/self/mountinfo", 1 << 24, &text, NULL, NULL), 0);
    for (line = text; (line = strstr(line, path)) && line[n] != ' '; line++)
        ;
    free(text);
    return line != NULL;
}

static void bind_to(const char *from, const char *to)
{
    assert_int_equal(mount(from, to, NULL, MS_BIND, NULL), 0);
}

ROOT_TEST(test_unmount_takes_stacked_and_nested_mounts_and_the_directory)
{
    struct mounted_share s;
    struct stat st;
    make_share(&s);
    open_ready(f);
    char *target = directory(f, "mnt/with blank\\and more"), *plain = directory(f, "mnt/nested");
    assert_int_equal(mount("none", target, "tmpfs", 0, NULL), 0);
    bind_to(s.path, target);
    bind_to(s.path, target);
    assert_int_equal(mount("none", plain, "tmpfs", 0, NULL), 0);
    char *inner = directory(f, "mnt/nested/inner");
    bind_to(s.path, inner);
    DONE(f, unmount, .target = target);
    assert_int_equal(lstat(target, &st), -1);
    DONE(f, unmount, .target = plain);
    assert_false(is_mounted(inner) || is_mounted(plain));
    assert_int_equal(lstat(plain, &st), -1);
    ASKED(f, unmount, .target = plain); /* nothing there: done already */
    assert_string_equal(f->why.msg, "");
    drop_share(&s);
}

ROOT_TEST(test_a_busy_mount_is_taken_out_of_sight)
{
    struct mounted_share s;
    struct stat st;
    make_share(&s);
    open_ready(f);
    char *target = directory(f, "mnt/busy");
    bind_to(s.path, target);
    int user = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DONE(f, unmount, .target = target);
    assert_int_equal(lstat(target, &st), -1);
    close(user);
    drop_share(&s);
}

READY_TEST(test_unmount_stays_below_the_root_and_leaves_files_alone)
{
    struct stat st;
    char *up = in_root(f, "../x"), *tasks = in_root(f, "tasks"), *file = in_root(f, "data/file"),
         *data = in_root(f, "data");
    const char *refused[] = {"/tmp", f->root, up, tasks, "mnt"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ASKED(f, unmount, .target = refused[i]);
        assert_int_equal(f->why.code, ERR_INVALID_PATH);
    }
    ASKED(f, append, .path = file, .text = "x");
    DONE(f, unmount, .target = file);
    DONE(f, unmount, .target = data);
    assert_int_equal(stat(file, &st), 0);
}

/* The worst that could happen: a job's directory is removed, and with it the share in it. */
ROOT_TEST(test_removing_a_directory_never_reaches_what_is_mounted_in_it)
{
    struct mounted_share s;
    struct stat st;
    make_share(&s);
    open_ready(f);
    char *target = directory(f, "job/deep/mnt"), *job = in_root(f, "job");
    bind_to(s.path, target);
    ASKED(f, remove_tree, .path = job);
    assert_why(f, ERR_CONFLICT, target);
    assert_int_equal(stat(s.precious, &st), 0);
    ASKED(f, remove_tree, .path = target);
    assert_int_equal(f->why.code, ERR_CONFLICT);
    ASKED(f, unmount, .target = target);
    DONE(f, remove_tree, .path = job);
    drop_share(&s);
}

/* Even if something is mounted in what is on its way to being deleted. */
ROOT_TEST(test_emptying_the_trash_never_enters_a_mount)
{
    struct mounted_share s;
    struct stat st;
    make_share(&s);
    char *bind = directory(f, "trash/old/sub/mnt"), *tmpfs = directory(f, "trash/other"),
         *gone = directory(f, "trash/plain/sub/sub");
    bind_to(s.path, bind);
    assert_int_equal(mount("none", tmpfs, "tmpfs", 0, NULL), 0);
    char *kept = directory(f, "trash/other/kept");
    open_ready(f); /* empties the trash */
    pid_t agent = agent_pid(f);
    WAIT(f, lstat(gone, &st) < 0 && !find_child(agent, "batchai-trash"));
    assert_int_equal(stat(s.precious, &st), 0);
    assert_int_equal(stat(kept, &st), 0);
    assert_int_equal(umount2(bind, MNT_DETACH), 0);
    assert_int_equal(umount2(tmpfs, MNT_DETACH), 0);
    close_link(f);
    drop_share(&s);
}

/* ---- sshfs ---- */

static bool no_sshfs(void)
{
    if (geteuid() == 0 && access("/usr/bin/sshfs", X_OK) == 0 && access(SFTP_SERVER, X_OK) == 0 &&
        access("/dev/fuse", R_OK | W_OK) == 0)
        return false;
    print_message("no root, sshfs, sftp-server or /dev/fuse: skipped\n");
    return true;
}

/* Mounts s->path at `target`; the pid of its sshfs, which stays in the foreground. */
static pid_t mount_sshfs(struct fixture *f, const struct mounted_share *s, const char *target)
{
    struct err e;
    char *ssh = in_root(f, "ssh"), from[80], option[128];
    snprintf(from, sizeof from, "nowhere:%s", s->path);
    snprintf(option, sizeof option, "ssh_command=%s", ssh);
    static const char script[] = "#!/bin/sh\nexec " SFTP_SERVER "\n";
    assert_int_equal(fs_write_atomic(ssh, script, strlen(script), 0755, &e), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also one that a test has stopped goes with it */
        execl("/usr/bin/sshfs", "sshfs", "-f", "-o", option, from, target, (char *)NULL);
        _exit(127);
    }
    WAIT(f, is_mounted(target));
    return pid;
}

/* The signal reaches one thread, which stops the others once it is scheduled: until then they
 * serve. */
static void stop(pid_t sshfs)
{
    int status;
    assert_int_equal(kill(sshfs, SIGSTOP), 0);
    assert_int_equal(waitpid(sshfs, &status, WUNTRACED), sshfs);
    assert_true(WIFSTOPPED(status));
}

/* One that has answered is there for a moment yet, and would be taken for the next. */
static void wait_for_no_worker(struct fixture *f, pid_t agent)
{
    WAIT(f, !find_child(agent, "batchai-worker"));
}

static void on_dir(void *ctx, const struct err *why, const struct node_dir *dir)
{
    struct fixture *f = ctx;
    f->n_tasks = dir->n;
    keep_why(f, why);
}

LINK_TEST(test_sshfs_that_hangs_holds_up_nobody_and_is_unmounted_by_force)
{
    struct mounted_share s;
    struct stat st;
    if (no_sshfs())
        skip_because("needs root");
    make_share(&s);
    open_ready(f);
    char *target = directory(f, "mnt/sshfs"), *note = in_root(f, "note");
    pid_t sshfs = mount_sshfs(f, &s, target);
    ASK(f, node_list_dir(f->link, NULL, target, "", on_dir, f));
    assert_string_equal(f->why.msg, "");
    assert_int_equal(f->n_tasks, 1);
    pid_t agent = agent_pid(f);
    wait_for_no_worker(f, agent);
    stop(sshfs); /* the server is gone, and nobody says so */
    int start = f->answers;
    node_list_dir(f->link, NULL, target, "other", on_dir, f);
    WAIT(f, find_child(agent, "batchai-worker"));
    ASKED(f, append, .path = note, .text = "still here");
    assert_int_equal(f->answers, start + 1); /* the listing hangs, the agent does not */
    node_ask(f->link, REQUEST(unmount, .target = target), on_done, f);
    WAIT(f, f->answers == start + 3);
    assert_false(is_mounted(target));
    assert_int_equal(lstat(target, &st), -1);
    kill(sshfs, SIGKILL);
    assert_int_equal(waitpid(sshfs, NULL, 0), sshfs);
    drop_share(&s);
}

/* What leads to a share that hangs waits, and what comes after it in order; the agent itself does
 * not. */
LINK_TEST(test_requests_about_a_share_that_hangs_hold_up_their_successors_alone)
{
    struct mounted_share s;
    if (no_sshfs())
        skip();
    make_share(&s);
    open_ready(f);
    char *target = directory(f, "mnt/sshfs"), *link = in_root(f, "short"),
         *far = in_root(f, "short/deep"), *new = in_root(f, "short/new"),
         *note = in_root(f, "note");
    const char *dirs[] = {far};
    pid_t sshfs = mount_sshfs(f, &s, target), agent = agent_pid(f);
    assert_int_equal(symlink("mnt/sshfs", link), 0);
    start(f, "other", "sleep 1000");
    ASKED(f, make_dirs, .paths = dirs, .n_paths = 1); /* it answers as long as the share does */
    assert_string_equal(f->why.msg, "");
    wait_for_no_worker(f, agent);
    stop(sshfs);
    int begun = f->answers;
    dirs[0] = new; /* what is known of the other, the kernel may still know */
    node_ask(f->link, REQUEST(make_dirs, .paths = dirs, .n_paths = 1), on_done, f);
    WAIT(f, find_child(agent, "batchai-worker"));
    node_ask(f->link, REQUEST(append, .path = note, .text = "after\n"), on_done, f);
    start_with(f, "later", "true", NULL, 0);
    node_ask(f->link, REQUEST(signal, .task = "other", .signal = SIGKILL), on_done, f);
    node_ask(f->link, BARE_REQUEST(ping), on_done, f);
    WAIT(f, f->answers == begun + 2 && f->n_ended == 1); /* signal and ping; the rest waits */
    assert_string_equal(f->ended[0].id, "other");
    assert_false(file_has(f, "note", "after"));
    assert_int_equal(f->run_answers, 0);
    assert_int_equal(kill(sshfs, SIGCONT), 0);
    WAIT(f, f->answers == begun + 5 && f->run_answers == 1 && f->n_ended == 2);
    assert_true(file_has(f, "note", "after"));
    ASKED(f, unmount, .target = target);
    kill(sshfs, SIGKILL);
    assert_int_equal(waitpid(sshfs, NULL, 0), sshfs);
    drop_share(&s);
}

LINK_TEST(test_a_worker_that_is_killed_is_an_error_and_no_silence)
{
    struct mounted_share s;
    if (no_sshfs())
        skip_because("needs root");
    make_share(&s);
    open_ready(f);
    char *target = directory(f, "mnt/sshfs");
    pid_t sshfs = mount_sshfs(f, &s, target), agent = agent_pid(f), worker = 0;
    stop(sshfs);
    int start = f->answers;
    node_list_dir(f->link, NULL, target, "", on_dir, f);
    WAIT(f, (worker = find_child(agent, "batchai-worker")) > 0);
    assert_int_equal(kill(worker, SIGKILL), 0);
    WAIT(f, f->answers == start + 1);
    assert_why(f, ERR_UNAVAILABLE, "list_dir");
    DONE(f, unmount, .target = target);
    kill(sshfs, SIGKILL);
    assert_int_equal(waitpid(sshfs, NULL, 0), sshfs);
    drop_share(&s);
}

/* ---- an agent without root ---- */

#define NOBODY 65534

/* For a process of its own, which cannot be root again. */
static void work_as_nobody(struct fixture *f)
{
    struct request_user_add u = {.name = "batchaid-test-zq"};
    struct mounted_share s;
    open_ready(f);
    assert_says(f->facts, "\"is_root\":false");
    ASK(f, node_ask(f->link, REQUEST_OF(user_add, u), on_done, f));
    assert_why(f, ERR_NOT_SUPPORTED, "needs root");
    ASKED(f, user_remove, .name = u.name);
    assert_int_equal(f->why.code, ERR_NOT_SUPPORTED);
    ASK(f, node_ask(f->link, BARE_REQUEST(reboot), on_done, f));
    assert_int_equal(f->why.code, ERR_NOT_SUPPORTED);
    char *target = directory(f, "mnt/own"), *file = in_root(f, "file");
    ASKED(f, append, .path = file, .text = "x", .as = "root"); /* as itself */
    assert_string_equal(f->why.msg, "");
    make_share(&s);
    pid_t sshfs = mount_sshfs(f, &s, target);
    DONE(f, unmount, .target = target);
    assert_false(is_mounted(target));
    assert_int_equal(waitpid(sshfs, NULL, 0), sshfs);
    assert_int_equal(chmod(s.path, 0755), 0);
    assert_int_equal(unlink(s.precious), 0);
    assert_int_equal(rmdir(s.path), 0);
}

/* In a mount namespace of its own, with a /dev/fuse that everybody may open, as is usual. */
static void become_nobody(void)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", "/mnt", "tmpfs", 0, NULL) < 0 ||
        mknod("/mnt/fuse", S_IFCHR | 0600, makedev(10, 229)) < 0 || chmod("/mnt/fuse", 0666) < 0 ||
        mount("/mnt/fuse", "/dev/fuse", NULL, MS_BIND, NULL) < 0 || setgroups(0, NULL) < 0 ||
        setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
        _exit(2);
}

enum { CLOSED = 3 };

/* Not below /root, for example. */
static bool agent_can_be_reached(void)
{
    const char *agent = getenv("BATCHAI_NODE");
    char *path = realpath(agent ? agent : "build/batchai-node", NULL);
    free(path);
    return path != NULL;
}

TEST(test_without_root_the_agent_refuses_what_needs_it_and_unmounts_its_own)
{
    struct fixture own;
    int status;
    if (no_sshfs())
        skip_because("needs root");
    pid_t pid = fork();
    if (pid == 0) {
        memset(&own, 0, sizeof own);
        become_nobody();
        if (!agent_can_be_reached())
            _exit(CLOSED);
        fixture_begin(&own);
        work_as_nobody(&own);
        fixture_end(&own);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CLOSED)
        skip_because("a directory above the agent is closed to others");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
