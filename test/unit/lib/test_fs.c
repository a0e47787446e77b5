/* SPDX-License-Identifier: MIT
 *
 * Files: atomic writes, trees, and staying below a directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fs.h"
#include "test/unit/support/says.h"
#include "test/unit/support/skip.h"
#include "test/unit/support/tests.h"

struct dir {
    char path[64];
    char text[256];
};

static int make_dir(void **state)
{
    struct dir *d = calloc(1, sizeof *d);
    snprintf(d->path, sizeof d->path, "/tmp/batchaid-fs-XXXXXX");
    *state = d;
    return mkdtemp(d->path) ? 0 : -1;
}

static int drop_dir(void **state)
{
    struct dir *d = *state;
    struct err e = {0};
    int rc = fs_remove_tree(d->path, &e);
    free(d);
    return rc;
}

/* path/name; valid until the next call. */
static const char *at(struct dir *d, const char *name)
{
    snprintf(d->text, sizeof d->text, "%s/%s", d->path, name);
    return d->text;
}

static void put(struct dir *d, const char *name, const char *text)
{
    struct err e = {0};
    if (fs_write_atomic(at(d, name), text, strlen(text), 0644, &e) < 0)
        fail_msg("%s", e.msg);
}

static void link_to(struct dir *d, const char *target, const char *name)
{
    assert_int_equal(symlink(target, at(d, name)), 0);
}

static int flags_of(const char *path)
{
    int flags = 0, fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
        flags = -1;
    close(fd);
    return flags;
}

#define DIR_TEST(name) TEST_IN(name, struct dir *d, *state, make_dir, drop_dir)

DIR_TEST(what_is_in_a_directory_is_spread)
{
    struct err e = {0};
    fs_spread(at(d, "nothing"));
    int before = flags_of(d->path);
    fs_spread(d->path);
    assert_int_equal(fs_mkdirs(at(d, "part"), 0700, &e), 0);
    if (before < 0 || flags_of(d->path) == before)
        skip_because("the file system of /tmp does not heed it");
    assert_int_equal(flags_of(d->path), before | FS_TOPDIR_FL);
    fs_spread(d->path);
    assert_int_equal(flags_of(d->path), before | FS_TOPDIR_FL);
    assert_int_equal(flags_of(at(d, "part")) & FS_TOPDIR_FL, 0);
}

DIR_TEST(directories)
{
    struct err e = {0};
    struct stat st;
    assert_int_equal(fs_mkdirs(at(d, "a/b/c"), 0700, &e), 0);
    assert_int_equal(fs_mkdirs(at(d, "a/b/c"), 0700, &e), 0);
    assert_int_equal(fs_mkdirs(at(d, "a/b/d/"), 0700, &e), 0);
    assert_int_equal(stat(at(d, "a/b/c"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    put(d, "file", "");
    assert_int_equal(fs_mkdirs(at(d, "file"), 0700, &e), -1);
    assert_int_equal(fs_mkdirs(at(d, "file/x"), 0700, &e), -1);
    assert_int_equal(e.code, ERR_IO);
}

DIR_TEST(read_and_write)
{
    struct err e = {0};
    struct stat st;
    char *data = NULL;
    size_t len = 0;
    assert_int_equal(fs_write_atomic(at(d, "f"), "a\0b", 3, 0600, &e), 0);
    assert_int_equal(stat(at(d, "f"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(fs_read(at(d, "f"), 3, &data, &len, &e), 0);
    assert_int_equal(len, 3);
    assert_memory_equal(data, "a\0b", 4);
    free(data);
    assert_int_equal(fs_read(at(d, "f"), 2, &data, &len, &e), -1);
    assert_says(e.msg, "too large");
    put(d, "f", "new");
    assert_int_equal(fs_read(at(d, "f"), 100, &data, NULL, &e), 0);
    assert_string_equal(data, "new");
    free(data);
    put(d, "f", "");
    assert_int_equal(fs_read(at(d, "f"), 0, &data, &len, &e), 0);
    assert_int_equal(len, 0);
    free(data);
    assert_int_equal(fs_read(at(d, "missing"), 9, &data, &len, &e), -1);
    assert_says(e.msg, "missing");
    assert_int_equal(fs_write_atomic(at(d, "no/dir"), "", 0, 0600, &e), -1);
}

/* A failed write leaves the old content and no litter. */
DIR_TEST(failed_writes_leave_nothing)
{
    struct err e = {0};
    assert_int_equal(fs_mkdirs(at(d, "only/target"), 0700, &e), 0);
    put(d, "only/target/keep", "x");
    assert_int_equal(fs_write_atomic(at(d, "only/target"), "y", 1, 0600, &e), -1);
    assert_int_equal(unlink(at(d, "only/target/keep")), 0);
    assert_int_equal(rmdir(at(d, "only/target")), 0);
    assert_int_equal(rmdir(at(d, "only")), 0); /* empty: no temporary file stayed behind */
}

DIR_TEST(trees_go_but_links_are_not_followed)
{
    struct err e = {0};
    assert_int_equal(fs_mkdirs(at(d, "outside"), 0700, &e), 0);
    put(d, "outside/precious", "x");
    assert_int_equal(fs_mkdirs(at(d, "tree/a/b"), 0700, &e), 0);
    put(d, "tree/a/b/f", "x");
    link_to(d, "../../outside", "tree/a/link");
    link_to(d, "nowhere", "tree/dangling");
    link_to(d, ".", "tree/loop");
    assert_int_equal(fs_remove_tree(at(d, "tree"), &e), 0);
    assert_int_equal(access(at(d, "tree"), F_OK), -1);
    assert_int_equal(access(at(d, "outside/precious"), F_OK), 0);
    link_to(d, "outside", "link");
    assert_int_equal(fs_remove_tree(at(d, "link"), &e), 0);
    assert_int_equal(access(at(d, "outside/precious"), F_OK), 0);
    assert_int_equal(fs_remove_tree(at(d, "tree"), &e), 0);
    assert_int_equal(fs_remove_tree(at(d, "outside/precious"), &e), 0);
    assert_int_equal(access(at(d, "outside/precious"), F_OK), -1);
}

/* Makes a chain of `n` directories called "d" in `name`, longer than a path may be. */
static void make_chain(struct dir *d, const char *name, int n)
{
    int fd = open(at(d, name), O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < n; i++) {
        assert_int_equal(mkdirat(fd, "d", 0755), 0);
        int below = openat(fd, "d", O_RDONLY | O_DIRECTORY);
        assert_true(below >= 0);
        close(fd);
        fd = below;
    }
    close(fd);
}

DIR_TEST(a_tree_deeper_than_there_are_descriptors_is_removed)
{
    struct err e = {0};
    struct rlimit usual, few = {.rlim_cur = 200};
    assert_int_equal(fs_mkdirs(at(d, "tree/.deep-0"), 0755, &e), 0);
    put(d, "tree/.deep-1", "x");
    make_chain(d, "tree", 5000);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    few.rlim_max = usual.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    int rc = fs_remove_tree(at(d, "tree"), &e);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_string_equal(e.msg, "");
    assert_int_equal(rc, 0);
    assert_int_equal(access(at(d, "tree"), F_OK), -1);
}

/* As a kernel before 5.6 answers. For a process of its own: it cannot be taken back. */
static void hide_openat2(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog all = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) < 0)
        _exit(2);
}

/* "share" is mounted in "tree", which is then removed: 0 if all is as it should be. */
static int remove_around_mount(struct dir *d)
{
    struct err e = {0};
    char share[256];
    snprintf(share, sizeof share, "%s", at(d, "share"));
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount(share, at(d, "tree/a/mnt"), NULL, MS_BIND, NULL) < 0)
        return 2;
    if (fs_remove_tree(at(d, "tree"), &e) == 0 || !strstr(e.msg, "there is a mount in it"))
        return 3;
    if (access(at(d, "share/precious"), F_OK) < 0)
        return 4;
    if (fs_remove_tree(at(d, "tree/a/mnt"), &e) == 0 || access(at(d, "share/precious"), F_OK) < 0)
        return 5;
    if (umount(at(d, "tree/a/mnt")) < 0 || fs_remove_tree(at(d, "tree"), &e) < 0)
        return 6;
    return access(at(d, "share/precious"), F_OK) < 0 || access(at(d, "tree"), F_OK) == 0 ? 7 : 0;
}

static void in_a_process(struct dir *d, bool old_kernel)
{
    struct err e = {0};
    int status;
    assert_int_equal(fs_mkdirs(at(d, "share"), 0755, &e), 0);
    put(d, "share/precious", "x");
    assert_int_equal(fs_mkdirs(at(d, "tree/a/mnt"), 0755, &e), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (old_kernel)
            hide_openat2();
        _exit(remove_around_mount(d));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Only root can mount; and valgrind judges a process for what its parent holds. */
static bool may_mount(void)
{
    return geteuid() == 0 && !getenv("BATCHAID_SLOW_TOOL");
}

DIR_TEST(what_is_mounted_in_a_tree_is_never_entered)
{
    if (!may_mount())
        skip_because("not allowed to mount");
    in_a_process(d, false);
}

DIR_TEST(nor_is_it_on_an_old_kernel)
{
    if (!may_mount())
        skip_because("not allowed to mount");
    in_a_process(d, true);
}

TEST(safe_paths)
{
    static const char *const safe[] = {"", ".", "a", "a/b", "..a", "a..", "...", "a/.b"};
    static const char *const unsafe[] = {"..",   "/",    "/a",  "a/",    "a//b",
                                         "a/..", "../a", "./a", "a/./b", "a/../b"};
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        if (!fs_path_is_safe(safe[i]))
            fail_msg("'%s' counts as unsafe", safe[i]);
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        if (fs_path_is_safe(unsafe[i]))
            fail_msg("'%s' counts as safe", unsafe[i]);
}

static int try_open(struct dir *d, const char *relative)
{
    char root[128];
    snprintf(root, sizeof root, "%s/root", d->path);
    int fd = fs_open_beneath(root, relative, O_RDONLY);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

DIR_TEST(opening_beneath)
{
    struct err e = {0};
    assert_int_equal(fs_mkdirs(at(d, "root/in"), 0700, &e), 0);
    put(d, "secret", "x");
    put(d, "root/in/file", "x");
    link_to(d, "in/file", "root/inner");
    link_to(d, "../secret", "root/escape");
    link_to(d, "/etc/passwd", "root/absolute");
    link_to(d, "..", "root/up");
    link_to(d, "self", "root/self");
    skip_without_openat2();
    assert_int_equal(try_open(d, ""), 0);
    assert_int_equal(try_open(d, "."), 0);
    assert_int_equal(try_open(d, "in/file"), 0);
    assert_int_equal(try_open(d, "in/../in/file"), 0);
    assert_int_equal(try_open(d, "inner"), 0);
    assert_int_equal(try_open(d, "missing"), -ENOENT);
    assert_int_equal(try_open(d, "escape"), -EXDEV);
    assert_int_equal(try_open(d, "absolute"), -EXDEV);
    assert_int_equal(try_open(d, "up/secret"), -EXDEV);
    assert_int_equal(try_open(d, "../secret"), -EXDEV);
    assert_int_equal(try_open(d, "in/../../secret"), -EXDEV);
    assert_int_equal(try_open(d, "/etc/passwd"), -EXDEV);
    assert_int_equal(try_open(d, "self"), -ELOOP);
    assert_int_equal(fs_open_beneath("/nowhere/at/all", "x", O_RDONLY), -1);
}

/* What is below a directory that may be passed but not listed, as directories of other accounts on
 * nodes are. Root may do both, so a child of no rights looks. */
DIR_TEST(opening_beneath_what_cannot_be_listed)
{
    struct err e = {0};
    skip_without_openat2();
    assert_int_equal(fs_mkdirs(at(d, "root/in"), 0755, &e), 0);
    put(d, "root/in/file", "x");
    assert_int_equal(chmod(d->path, 0711), 0);
    assert_int_equal(chmod(at(d, "root/in/file"), 0644), 0);
    assert_int_equal(chmod(at(d, "root"), 0311), 0);
    pid_t child = fork();
    if (child == 0) {
        bool may = geteuid() != 0 || setresuid(65534, 65534, 65534) == 0;
        _exit(may && try_open(d, "in/file") == 0 && try_open(d, "in") == 0 &&
                      try_open(d, "") == -EACCES && try_open(d, "in/../../root") == -EXDEV
                  ? 0
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(at(d, "root"), 0755), 0);
    assert_int_equal(status, 0);
}

TEST(joining)
{
    static const char *const cases[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"a//", "//b", "a/b"},   {"/", "b", "/b"},
        {"a", "", "a"},    {"a/", "", "a"},    {"a", "b/c/", "a/b/c/"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FREED char *joined = fs_join(cases[i][0], cases[i][1]);
        assert_string_equal(joined, cases[i][2]);
    }
}

TEST(test_leftovers_of_one_file_go)
{
    static const char *const stay[] = {"f",        "f.tmp-1234567", "f.tmp-12345",  "f.tmp-li-e6",
                                       "f.backup", "g.tmp-123456",  "xf.tmp-123456"};
    char dir[] = "/tmp/batchaid-fs-XXXXXX";
    struct err e;
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++) {
        char *path = fs_join(dir, stay[i]);
        assert_int_equal(fs_write_atomic(path, "", 0, 0600, &e), 0);
        free(path);
    }
    char *gone = fs_join(dir, "f.tmp-aB3456"), *path = fs_join(dir, "f");
    assert_int_equal(fs_write_atomic(gone, "half", 4, 0600, &e), 0);
    fs_remove_leftovers(path);
    assert_int_equal(access(gone, F_OK), -1);
    for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++) {
        FREED char *kept = fs_join(dir, stay[i]);
        assert_int_equal(access(kept, F_OK), 0);
    }
    free(path);
    free(gone);
    assert_int_equal(fs_remove_tree(dir, &e), 0);
}

TEST(test_the_folder_of_a_path)
{
    static const struct {
        const char *path, *folder;
    } rows[] = {{"/a/b/c", "/a/b"}, {"/a", "/"}, {"a", "."}, {"a/b", "a"}, {"/", "/"}, {"a/", "a"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        FREED char *folder = fs_folder(rows[i].path);
        assert_string_equal(folder, rows[i].folder);
    }
}
