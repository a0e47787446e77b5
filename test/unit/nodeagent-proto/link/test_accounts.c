/* SPDX-License-Identifier: MIT
 *
 * Accounts of the machine: made and removed by the real agent with the machine's own programs, and
 * files written with their rights. Needs root; the accounts have names that nobody has and are gone
 * at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <shadow.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/timefmt.h"
#include "test/unit/nodeagent-proto/link/fixture.h"

#define KEY   "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFirst test"
#define KEY_2 "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAISecond test"

/* Two runs at once do not meet: the process id is part of the names. */
static char ours[32], foreign[32], ours_home[64], foreign_ssh[64];

static void choose_names(void)
{
    snprintf(ours, sizeof ours, "batchaid-test-a%d", (int)getpid());
    snprintf(foreign, sizeof foreign, "batchaid-test-b%d", (int)getpid());
    snprintf(ours_home, sizeof ours_home, "/home/%s", ours);
    snprintf(foreign_ssh, sizeof foreign_ssh, "/home/%s/.ssh", foreign);
}

static int run(const char *program, const char *const *argv)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execvp(program, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void delete_account(const char *name)
{
    const char *del[] = {"userdel", "-r", "-f", name, NULL};
    (void)run(del[0], del);
}

static int setup_accounts(void **state)
{
    const char *add[] = {"useradd", "-m", "-c", "somebody's", foreign, NULL};
    if (geteuid() == 0) {
        delete_account(ours);
        delete_account(foreign);
        assert_int_equal(run(add[0], add), 0);
    }
    return setup(state);
}

static int teardown_accounts(void **state)
{
    int rc = teardown(state);
    if (geteuid() == 0) {
        delete_account(ours);
        delete_account(foreign);
        assert_null(getpwnam(ours));
        assert_null(getpwnam(foreign));
    }
    return rc;
}

static void add(struct fixture *f, const char *name, const char *key, const char *password)
{
    struct request_user_add u = {.name = name, .ssh_public_key = key, .password = password};
    ASK(f, node_ask(f->link, REQUEST_OF(user_add, u), on_done, f));
}

static char *home_file(const char *relative)
{
    return fs_join(ours_home, relative);
}

static bool key_is(const char *wanted)
{
    char *path = home_file(".ssh/authorized_keys"), *text;
    struct stat st;
    struct passwd *pw = getpwnam(ours);
    bool is = fs_read(path, 4096, &text, NULL, NULL) == 0;
    if (is) {
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        assert_int_equal(st.st_uid, pw->pw_uid);
        is = strcmp(text, wanted) == 0;
        free(text);
    }
    free(path);
    return is;
}

#define ACCOUNT_TEST(name)                                                                         \
    TEST_IN(name, struct fixture *f, as_root(*state), setup_accounts, teardown_accounts)

/* Its number is free again, so the next account that is made gets it. */
ACCOUNT_TEST(test_a_home_left_behind_by_an_earlier_account_is_nobodys_to_delete)
{
    const char *make[] = {"useradd", "-m", ours, NULL}, *del[] = {"userdel", ours, NULL};
    struct stat st;
    assert_int_equal(run(make[0], make), 0);
    assert_int_equal(run(del[0], del), 0);
    open_ready(f);
    add(f, ours, KEY, NULL);
    assert_why(f, ERR_CONFLICT, ours_home);
    assert_null(getpwnam(ours));
    ASKED(f, user_remove, .name = NULL);
    assert_int_equal(stat(ours_home, &st), 0);
    const char *rm[] = {"rm", "-r", ours_home, NULL};
    assert_int_equal(run(rm[0], rm), 0);
}

ACCOUNT_TEST(test_a_mark_that_was_half_made_is_no_account)
{
    struct err e;
    open_ready(f);
    assert_int_equal(mkdir(in_root(f, "users"), 0700), 0);
    assert_int_equal(fs_write_atomic(in_root(f, "users/somebody.Ab12Cd"), "", 0, 0600, &e), 0);
    add(f, ours, KEY, NULL);
    assert_string_equal(f->why.msg, "");
    DONE(f, user_remove, .name = NULL);
    assert_null(getpwnam(ours));
}

ACCOUNT_TEST(test_an_account_is_made_kept_up_to_date_and_removed)
{
    struct stat st;
    open_ready(f);
    add(f, ours, KEY, "s3cret:with a colon");
    assert_string_equal(f->why.msg, "");
    struct passwd *pw = getpwnam(ours);
    assert_non_null(pw);
    assert_string_equal(pw->pw_gecos, "batchaid");
    assert_true(key_is(KEY "\n"));
    char first[512];
    snprintf(first, sizeof first, "%s", getspnam(ours)->sp_pwdp);
    assert_int_equal(first[0], '$'); /* hashed, and not locked */
    add(f, ours, KEY_2, "another");
    assert_string_equal(f->why.msg, "");
    assert_true(key_is(KEY_2 "\n"));
    assert_string_not_equal(getspnam(ours)->sp_pwdp, first);
    add(f, ours, KEY_2, NULL);
    assert_string_equal(getspnam(ours)->sp_pwdp, "*"); /* "!" would keep keys out too */
    add(f, ours, NULL, "third");
    assert_false(key_is(KEY_2 "\n"));
    for (int i = 0; i < 2; i++) { /* the second time there is nothing to do */
        DONE(f, user_remove, .name = ours);
        assert_null(getpwnam(ours));
        assert_int_equal(stat(ours_home, &st), -1);
    }
}

/* Each is sent before the one before is answered. The last holds, though a removal takes longer. */
ACCOUNT_TEST(test_requests_about_accounts_are_carried_out_in_their_order)
{
    struct request_user_add u = {.name = ours};
    struct stat st;
    open_ready(f);
    add(f, ours, KEY, NULL);
    char *first = home_file("of_the_first");
    assert_int_equal(mkdir(first, 0700), 0);
    int before = f->answers;
    for (int i = 0; i < 6; i++) {
        u.ssh_public_key = i % 2 ? KEY : KEY_2;
        node_ask(f->link, REQUEST(user_remove, .name = ours), on_done, f);
        node_ask(f->link, REQUEST_OF(user_add, u), on_done, f);
    }
    WAIT(f, f->answers == before + 12);
    assert_string_equal(f->why.msg, "");
    assert_true(key_is(KEY "\n"));
    assert_int_equal(stat(first, &st), -1);
    free(first);
}

/* One that no account and no group has, and no other run of this test. */
static int free_number(void)
{
    int n = 30000 + (int)(getpid() % 10000);
    while (getpwuid((uid_t)n) || getgrgid((gid_t)n))
        n++;
    return n;
}

static char *make_key(struct fixture *f)
{
    char *path = in_root(f, "test-key"), *text;
    const char *make[] = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "",
                          "-C",         "",   "-f", path,      NULL};
    assert_int_equal(run(make[0], make), 0);
    assert_int_equal(fs_read(path, 4096, &text, NULL, NULL), 0);
    return text;
}

ACCOUNT_TEST(test_an_account_has_the_numbers_and_the_pair_that_were_given)
{
    struct stat st;
    char group[32];
    open_ready(f);
    int n = free_number();
    snprintf(group, sizeof group, "batchaid-%d", n);
    char *key = make_key(f), *there, *path = home_file(".ssh/id_rsa"), *end = strrchr(key, '\n');
    *end = '\0'; /* its last line may have no end */
    struct request_user_add u = {
        .name = ours, .ssh_public_key = KEY, .private_key = key, .uid = n, .gid = n};
    for (int i = 0; i < 2; i++) {
        ASK(f, node_ask(f->link, REQUEST_OF(user_add, u), on_done, f));
        assert_string_equal(f->why.msg, "");
    }
    assert_int_equal(getpwnam(ours)->pw_uid, n);
    assert_int_equal(getpwnam(ours)->pw_gid, n);
    assert_string_equal(getgrgid((gid_t)n)->gr_name, group);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_uid, n);
    *end = '\n';
    assert_int_equal(fs_read(path, 4096, &there, NULL, NULL), 0);
    assert_string_equal(there, key);
    assert_false(key_is(KEY "\n")); /* there is another line: the public half */
    u.uid++;
    ASK(f, node_ask(f->link, REQUEST_OF(user_add, u), on_done, f));
    assert_int_equal(f->why.code, ERR_CONFLICT);
    DONE(f, user_remove, .name = ours);
    assert_null(getgrnam(group));
    free(there);
    free(path);
    free(key);
}

/* `useradd` is a stand-in that makes nothing. */
ACCOUNT_TEST(test_a_group_goes_again_if_its_account_cannot_be_made)
{
    static const char useradd[] =
        "#!/bin/sh\n[ \"$1\" = -D ] && exec /usr/sbin/useradd -D\nexit 1\n";
    struct err e;
    char path[PATH_MAX], *was = xstrdup(getenv("PATH")), *stand_in = in_root(f, "useradd");
    assert_int_equal(fs_write_atomic(stand_in, useradd, strlen(useradd), 0755, &e), 0);
    snprintf(path, sizeof path, "%s:%s", f->root, was);
    setenv("PATH", path, 1);
    open_ready(f);
    setenv("PATH", was, 1);
    int n = free_number();
    struct request_user_add u = {.name = ours, .uid = n, .gid = n};
    ASK(f, node_ask(f->link, REQUEST_OF(user_add, u), on_done, f));
    assert_says(f->why.msg, "useradd ended with exit code 1");
    assert_null(getgrgid((gid_t)n));
    free(was);
}

ACCOUNT_TEST(test_numbers_of_others_and_keys_that_are_none_are_refused)
{
    open_ready(f);
    int n = free_number();
    struct request_user_add u = {.name = ours, .uid = (int)getpwnam("daemon")->pw_uid, .gid = n};
    ASK(f, node_ask(f->link, REQUEST_OF(user_add, u), on_done, f));
    assert_why(f, ERR_CONFLICT, "'daemon'");
    u.uid = n;
    u.gid = (int)getgrnam("daemon")->gr_gid;
    ASK(f, node_ask(f->link, REQUEST_OF(user_add, u), on_done, f));
    assert_int_equal(f->why.code, ERR_CONFLICT);
    u.gid = -1;
    ASK(f, node_ask(f->link, REQUEST_OF(user_add, u), on_done, f));
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    assert_null(getpwnam(ours));
    u = (struct request_user_add){.name = ours, .private_key = "no key"};
    ASK(f, node_ask(f->link, REQUEST_OF(user_add, u), on_done, f));
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    assert_says_not(f->why.msg, "no key");
}

ACCOUNT_TEST(test_an_account_that_was_there_before_is_left_as_it_is)
{
    open_ready(f);
    char kept[512];
    snprintf(kept, sizeof kept, "%s", getspnam(foreign)->sp_pwdp);
    add(f, foreign, KEY, "taken over");
    assert_why(f, ERR_CONFLICT, foreign);
    assert_string_equal(getspnam(foreign)->sp_pwdp, kept);
    assert_int_equal(access(foreign_ssh, F_OK), -1);
    DONE(f, user_remove, .name = foreign);
    assert_non_null(getpwnam(foreign));
    /* Neither the comment nor our own mark is enough by itself. */
    const char *comment[] = {"usermod", "-c", "batchaid", foreign, NULL};
    assert_int_equal(run(comment[0], comment), 0);
    add(f, foreign, KEY, NULL);
    assert_int_equal(f->why.code, ERR_CONFLICT);
}

ACCOUNT_TEST(test_a_home_that_was_there_before_is_not_taken)
{
    struct stat st;
    open_ready(f);
    assert_int_equal(mkdir(ours_home, 0755), 0);
    add(f, ours, KEY, NULL);
    assert_int_equal(f->why.code, ERR_CONFLICT);
    assert_null(getpwnam(ours));
    assert_int_equal(stat(ours_home, &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(rmdir(ours_home), 0);
}

ACCOUNT_TEST(test_names_keys_and_passwords_are_checked)
{
    open_ready(f);
    static const struct {
        const char *name, *key, *password;
    } bad[] = {
        {"root", NULL, NULL},      {"", NULL, NULL},
        {"-rf", NULL, NULL},       {"Upper", NULL, NULL},
        {"a:b", NULL, NULL},       {"../x", NULL, NULL},
        {"a b", NULL, NULL},       {"x", "a\nb", NULL},
        {"x", NULL, "a\nroot:b"},  {"0", NULL, NULL},
        {"a\xc3\xa4", NULL, NULL}, {"a23456789012345678901234567890123", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        add(f, bad[i].name, bad[i].key, bad[i].password);
        assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    }
    ASKED(f, user_remove, .name = "root");
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
}

ACCOUNT_TEST(test_removing_ends_its_processes_and_spares_what_is_mounted_in_its_home)
{
    struct err e;
    struct stat st;
    open_ready(f);
    add(f, ours, KEY, NULL);
    assert_string_equal(f->why.msg, "");
    struct passwd *pw = getpwnam(ours);
    int begun[2];
    char is_theirs;
    assert_int_equal(pipe(begun), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (setgid(pw->pw_gid) == 0 && setuid(pw->pw_uid) == 0 && write(begun[1], "y", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(begun[0], &is_theirs, 1), 1);
    close(begun[0]);
    close(begun[1]);
    char *share = in_root(f, "share"), *precious = in_root(f, "share/precious"),
         *mnt = home_file("mnt");
    ASKED(f, append, .path = precious, .text = "mine");
    assert_int_equal(fs_mkdirs(mnt, 0755, &e), 0);
    assert_int_equal(mount(share, mnt, NULL, MS_BIND, NULL), 0);
    DONE(f, user_remove, .name = ours);
    assert_null(getpwnam(ours));
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(stat(precious, &st), 0);
    assert_int_equal(stat(ours_home, &st), -1);
    free(mnt);
}

/* Those of others, which are always there, are not waited for: that would take 5 s. */
ACCOUNT_TEST(test_removing_an_account_without_processes_is_quick)
{
    open_ready(f);
    add(f, ours, KEY, NULL);
    assert_string_equal(f->why.msg, "");
    int64_t begun_us = time_now_us();
    DONE(f, user_remove, .name = ours);
    assert_in_range(time_now_us() - begun_us, 0, 4900000);
}

/* ---- files ---- */

static void assert_owner(const char *path, uid_t uid)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_uid, uid);
}

static void open_to_all(struct fixture *f)
{
    assert_int_equal(chmod(f->root, 0755), 0);
}

ACCOUNT_TEST(test_files_belong_to_the_account_they_are_made_for)
{
    open_to_all(f);
    open_ready(f);
    uid_t uid = getpwnam(foreign)->pw_uid;
    char *job = in_root(f, "work/job"), *deep = in_root(f, "work/job/a/b"),
         *log = in_root(f, "logs/execution.log"), *hosts = in_root(f, "work/job/etc/hosts"),
         *work = in_root(f, "work"), *logs = in_root(f, "logs"), *mine = in_root(f, "mine/x");
    const char *dirs[] = {job, deep};
    DONE(f, make_dirs, .paths = dirs, .n_paths = 2, .as = foreign);
    ASKED(f, append, .path = log, .text = "one\n", .as = foreign);
    DONE(f, append, .path = log, .text = "two\n", .as = foreign);
    assert_true(file_has(f, "logs/execution.log", "one\ntwo\n"));
    DONE(f, write_file, .path = hosts, .text = "h\n", .mode = 0640, .as = foreign);
    const char *theirs[] = {work, job, deep, logs, log, hosts};
    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
        assert_owner(theirs[i], uid);
    ASKED(f, append, .path = mine, .text = "x"); /* and then it is root again */
    assert_owner(mine, 0);
}

static void on_bytes(void *ctx, const struct err *why, const struct node_bytes *got)
{
    (void)got;
    keep_why(ctx, why);
}

static void on_dir(void *ctx, const struct err *why, const struct node_dir *dir)
{
    (void)dir;
    keep_why(ctx, why);
}

ACCOUNT_TEST(test_an_account_reaches_no_more_than_it_may)
{
    struct stat st;
    open_to_all(f);
    open_ready(f);
    char *own = in_root(f, "own"), *trap = in_root(f, "own/trap"), *in = in_root(f, "own/trap/in"),
         *secret = in_root(f, "secret"), *file = in_root(f, "secret/file"),
         *pipe = in_root(f, "own/pipe"), *dir = in_root(f, "secret/dir");
    const char *dirs[] = {own}, *inside[] = {in}, *closed[] = {dir};
    ASKED(f, make_dirs, .paths = dirs, .n_paths = 1, .as = foreign);
    ASKED(f, append, .path = file, .text = "x");
    assert_int_equal(chmod(secret, 0700), 0);
    assert_int_equal(symlink(secret, trap), 0);
    ASKED(f, make_dirs, .paths = inside, .n_paths = 1, .as = foreign);
    assert_int_equal(f->why.code, ERR_IO);
    ASKED(f, append, .path = file, .text = "y", .as = foreign);
    assert_int_equal(f->why.code, ERR_IO);
    ASKED(f, write_file, .path = "/etc/batchaid-test-zq", .text = "y", .mode = 0644, .as = foreign);
    assert_int_equal(f->why.code, ERR_IO);
    assert_int_equal(stat("/etc/batchaid-test-zq", &st), -1);
    ASK(f, node_list_dir(f->link, foreign, f->root, "secret", on_dir, f));
    assert_int_equal(f->why.code, ERR_IO);
    ASK(f, node_read_file(f->link,
                          &(struct request_read_file){
                              .base = f->root, .path = "secret/file", .max = 9, .as = foreign},
                          on_bytes, f));
    assert_int_equal(f->why.code, ERR_IO);
    ASK(f,
        node_read_file(
            f->link, &(struct request_read_file){.base = f->root, .path = "secret/file", .max = 9},
            on_bytes, f));
    assert_string_equal(f->why.msg, "");
    ASKED(f, make_dirs, .paths = closed, .n_paths = 1, .as = "batchaid-nobody-zq");
    assert_int_equal(f->why.code, ERR_RESOURCE_NOT_FOUND);
    assert_int_equal(mkfifo(pipe, 0666), 0);
    ASKED(f, append, .path = pipe, .text = "x", .as = foreign); /* holds up nobody */
    assert_int_equal(f->why.code, ERR_IO);
}

int main(void)
{
    choose_names();
    return run_all_tests(NULL, NULL);
}
