/* SPDX-License-Identifier: MIT
 *
 * Makes, changes and removes an account by the machine's programs, in steps that may each be
 * repeated after a crash. Each step first checks whether the agent made the account, and refuses to
 * change any other account, or a home that exists already.
 */
#include "nodeagent-proto/agent/users.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/account.h"
#include "nodeagent-proto/agent/ids.h"
#include "nodeagent-proto/agent/keys.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/mounts.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/agent/program.h"

#define COMMENT       "batchaid"
#define PASSWD_MAX    (16U * 1024 * 1024)
#define USER_NAME_MAX 32
#define PASSWORD_MAX  512
#define KILL_MS       5000
#define STEP_NS       10000000

/* Exit codes of the programs of the shadow package. */
enum { SHADOW_NO_SUCH_USER = 6, SHADOW_IN_USE = 8, SHADOW_EXISTS = 9 };

#define NUMBER_SIZE 16
#define GROUP_SIZE  32

enum owner { OWNER_NONE, OWNER_US, OWNER_OTHER };

/* ERR_INVALID_PROPERTY unless name, key and password are valid for an account. */
static int check(const struct request_user_add *u, struct err *e)
{
    static const char *const first = "abcdefghijklmnopqrstuvwxyz_";
    static const char *const rest = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t n = strlen(u->name);
    if (n == 0 || n > USER_NAME_MAX || !strchr(first, u->name[0]) || strspn(u->name, rest) != n)
        return err_set(e, ERR_INVALID_PROPERTY, "name",
                       "'%.100s' cannot be the name of an account: 1 to %d of a-z 0-9 _ - are "
                       "needed, a letter or _ first",
                       u->name, USER_NAME_MAX);
    if (strcmp(u->name, "root") == 0)
        return err_set(e, ERR_INVALID_PROPERTY, "name",
                       "the account root is the machine's own; name another");
    if (u->ssh_public_key && strpbrk(u->ssh_public_key, "\r\n"))
        return err_set(e, ERR_INVALID_PROPERTY, "ssh_public_key",
                       "the public key of %s has several lines; it must be one", u->name);
    if (u->password && (strpbrk(u->password, "\r\n") || strlen(u->password) > PASSWORD_MAX))
        return err_set(e, ERR_INVALID_PROPERTY, "password",
                       "the password of %s has several lines, or more than %d bytes", u->name,
                       PASSWORD_MAX);
    return 0;
}

/* ---- who made the account ---- */

static char *mark_path(const char *root, const char *name)
{
    char *dir = fs_join(root, "users"), *path = fs_join(dir, name);
    free(dir);
    return path;
}

static bool is_marked(const char *root, const char *name)
{
    char *path = mark_path(root, name);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

static void unmark(const char *root, const char *name)
{
    char *path = mark_path(root, name);
    unlink(path);
    free(path);
}

static int mark(const char *root, const char *name, struct err *e)
{
    char *dir = fs_join(root, "users"), *path = mark_path(root, name);
    int rc = fs_mkdirs(dir, 0700, e);
    if (rc == 0)
        rc = fs_write_atomic(path, "", 0, 0600, e);
    free(path);
    free(dir);
    return rc;
}

/* Reads "name:x:uid:gid:comment,room,...:home:shell". False: /etc/passwd has no line for `name`.
 * True: *ours is whether the comment is the agent's. */
static bool read_comment(const char *name, bool *ours)
{
    char *text, *save = NULL;
    size_t n = strlen(name);
    bool found = false;
    if (fs_read("/etc/passwd", PASSWD_MAX, &text, NULL, NULL) < 0)
        return false;
    for (char *line = strtok_r(text, "\n", &save); line && !found;
         line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, name, n) != 0 || line[n] != ':')
            continue;
        found = true;
        const char *field = line;
        for (int i = 0; i < 4 && field; i++)
            field = strchr(field, ':') ? strchr(field, ':') + 1 : NULL;
        *ours = field && strcspn(field, ",:") == strlen(COMMENT) &&
                strncmp(field, COMMENT, strlen(COMMENT)) == 0;
    }
    free(text);
    return found;
}

static int find_owner(const char *root, const char *name, enum owner *out, struct err *e)
{
    bool ours = false;
    if (read_comment(name, &ours)) {
        *out = ours && is_marked(root, name) ? OWNER_US : OWNER_OTHER;
        return 0;
    }
    struct account a;
    memset(&a, 0, sizeof a);
    int rc = account_find(name, &a, e); /* a directory service may have an account of this name */
    *out = rc == 0 ? OWNER_OTHER : OWNER_NONE;
    if (rc < 0 && e->code == ERR_RESOURCE_NOT_FOUND)
        rc = 0;
    account_free(&a);
    return rc;
}

static int refuse_foreign(const char *name, struct err *e)
{
    return err_set(
        e, ERR_CONFLICT, "name",
        "there is an account '%s' on this machine that was not made from this node root; "
        "it was left as it is: choose another name, or remove it",
        name);
}

/* ---- making ---- */

/* Runs a program that must exit with 0; otherwise sets *e and returns the program's exit code. */
static int must_run(const char *const *argv, const char *input, struct err *e)
{
    struct strbuf said = STRBUF_INIT;
    int rc = program_run(argv, input, &said, e);
    if (rc > 0)
        err_set(e, rc == SHADOW_EXISTS ? ERR_CONFLICT : ERR_NODE, "name",
                "%s ended with exit code %d: %.500s", argv[0], rc, said.len ? said.s : "");
    strbuf_free(&said);
    return rc;
}

static int refuse_home(const char *name, const char *home, struct err *e)
{
    return err_set(e, ERR_CONFLICT, "name",
                   "the home of a new account %s, %s, exists already and belongs to another "
                   "account, or could not be made; move it away or choose another name",
                   name, home);
}

/* useradd decides where homes are made ("HOME=/home"). Fails if the home exists already, because it
 * belonged to another account: the new account might even get that account's uid, and its removal
 * would delete that home. */
static int check_no_home(const char *name, struct err *e)
{
    const char *ask[] = {"useradd", "-D", NULL}, *base = "/home";
    struct strbuf said = STRBUF_INIT;
    struct stat st;
    int rc = program_run(ask, NULL, &said, e);
    char *save = NULL, *line = rc == 0 && said.len ? strtok_r(said.s, "\n", &save) : NULL;
    for (; line; line = strtok_r(NULL, "\n", &save))
        if (strncmp(line, "HOME=/", 6) == 0)
            base = line + 5;
    char *home = fs_join(base, name);
    if (rc >= 0)
        rc = lstat(home, &st) == 0 ? refuse_home(name, home, e) : 0;
    free(home);
    strbuf_free(&said);
    return rc;
}

static int check_home(const struct account *a, struct err *e)
{
    struct stat st;
    const char *del[] = {"userdel", a->name, NULL};
    if (stat(a->home, &st) == 0 && st.st_uid == a->uid)
        return 0;
    int ignored = must_run(del, NULL, NULL);
    (void)ignored;
    return refuse_home(a->name, a->home, e);
}

/* The name of the group that the agent makes for a requested gid; several accounts may have this
 * group. */
static void group_of(unsigned gid, char out[GROUP_SIZE])
{
    snprintf(out, GROUP_SIZE, COMMENT "-%u", gid);
}

static int make_group(const struct request_user_add *u, struct err *e)
{
    char gid[NUMBER_SIZE], group[GROUP_SIZE];
    group_of((unsigned)u->gid, group);
    snprintf(gid, sizeof gid, "%d", u->gid);
    const char *add[] = {"groupadd", "-g", gid, "--", group, NULL};
    if (ids_check_free((unsigned)u->uid, (unsigned)u->gid, group, e) < 0)
        return -1;
    return group_is_there(group) ? 0 : must_run(add, NULL, e);
}

static int run_useradd(const struct request_user_add *u, struct err *e)
{
    const char *shell = access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
    const char *add[] = {"useradd", "-m", "-U", "-s", shell, "-c", COMMENT, "--", u->name, NULL};
    char uid[NUMBER_SIZE], gid[NUMBER_SIZE];
    snprintf(uid, sizeof uid, "%d", u->uid);
    snprintf(gid, sizeof gid, "%d", u->gid);
    const char *chosen[] = {"useradd", "-m", "-u",    uid,  "-g",    gid, "-s",
                            shell,     "-c", COMMENT, "--", u->name, NULL};
    if (u->uid == 0)
        return must_run(add, NULL, e);
    int rc = make_group(u, e);
    return rc == 0 ? must_run(chosen, NULL, e) : rc;
}

/* Removes the group if no account has it any more; otherwise groupdel refuses. */
static void delete_group(gid_t gid)
{
    char group[GROUP_SIZE];
    group_of(gid, group);
    const char *del[] = {"groupdel", "--", group, NULL};
    struct err unused;
    if (group_is_there(group) && must_run(del, NULL, &unused) != 0)
        err_clear(&unused);
}

static int make_account(const char *root, const struct request_user_add *u, struct err *e)
{
    const char *name = u->name;
    struct account a;
    memset(&a, 0, sizeof a);
    int rc = check_no_home(name, e);
    if (rc == 0)
        rc = mark(root, name, e);
    if (rc == 0)
        rc = run_useradd(u, e);
    if (rc == 0)
        rc = account_find(name, &a, e);
    if (rc == 0)
        rc = check_home(&a, e);
    account_free(&a);
    if (rc == 0)
        return 0;
    if (u->gid != 0)
        delete_group((gid_t)u->gid);
    unmark(root, name);
    return -1;
}

/* An account without a password is not locked with "!", because sshd would then refuse keys as
 * well. */
static int set_password(const struct request_user_add *u, struct err *e)
{
    const char *none[] = {"usermod", "-p", "*", "--", u->name, NULL}, *set[] = {"chpasswd", NULL};
    if (!u->password || !*u->password)
        return must_run(none, NULL, e) == 0 ? 0 : -1;
    struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line, "%s:%s\n", u->name, u->password);
    int rc = must_run(set, line.s, e);
    explicit_bzero(line.s, line.cap);
    strbuf_free(&line);
    return rc == 0 ? 0 : -1;
}

static int set_keys(const struct request_user_add *u, struct err *e)
{
    struct account a;
    memset(&a, 0, sizeof a);
    int rc = account_find(u->name, &a, e);
    if (rc == 0)
        rc = keys_set(&a, u->ssh_public_key, u->private_key, e);
    account_free(&a);
    return rc;
}

/* The files in an account's home belong to its present ids, so these may not change. */
static int check_same_ids(const struct request_user_add *u, struct err *e)
{
    struct account a;
    memset(&a, 0, sizeof a);
    int rc = u->uid != 0 ? account_find(u->name, &a, e) : 0;
    if (rc == 0 && u->uid != 0 && (a.uid != (uid_t)u->uid || a.gid != (gid_t)u->gid))
        rc = err_set(e, ERR_CONFLICT, "uid",
                     "the account %s has uid %u and gid %u here; uid %d and gid %d are taken when "
                     "the node is reimaged",
                     u->name, (unsigned)a.uid, (unsigned)a.gid, u->uid, u->gid);
    account_free(&a);
    return rc;
}

int users_add(const char *root, const struct request_user_add *u, struct err *e)
{
    enum owner owner;
    if (check(u, e) < 0 || find_owner(root, u->name, &owner, e) < 0)
        return -1;
    if (owner == OWNER_OTHER)
        return refuse_foreign(u->name, e);
    if (owner == OWNER_NONE && make_account(root, u, e) < 0)
        return err_prefix(e, "cannot make the account %s", u->name);
    if (check_same_ids(u, e) < 0 || set_password(u, e) < 0 || set_keys(u, e) < 0)
        return err_prefix(e, "cannot set up the account %s", u->name);
    return 0;
}

/* ---- removing ---- */

/* A process of the account may signal all other processes of the account, and no others: its
 * kill(-1) kills them all at once, however fast they fork. */
static void kill_processes(uid_t uid)
{
    int64_t limit = monotonic_ms() + KILL_MS;
    pid_t pid = uid == 0 ? -1 : fork();
    if (pid == 0) {
        if (setresuid(uid, uid, uid) < 0)
            _exit(1);
        for (;;) {
            (void)kill(-1, SIGKILL); /* returns 0 even if no process was left to signal */
            if (!procs_can_signal_any() || monotonic_ms() >= limit)
                break;
            nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
        }
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Unmounts all mounts in the home, so that removing the home does not delete their files. */
static int clear_mounts(const char *home, struct err *e)
{
    char *parent = xstrdup(home), *slash = strrchr(parent, '/');
    int rc = 0;
    if (slash && slash > parent) {
        *slash = '\0';
        rc = mounts_detach_within(parent, home, e);
    }
    free(parent);
    return rc < 0 ? -1 : mounts_refuse_within(NULL, home, e);
}

static int delete_account(const char *name, struct err *e)
{
    const char *del[] = {"userdel", "-r", "--", name, NULL};
    int64_t limit = monotonic_ms() + KILL_MS;
    int rc = must_run(del, NULL, e);
    while (rc == SHADOW_IN_USE && monotonic_ms() < limit) { /* killed processes are still ending */
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
        rc = must_run(del, NULL, e);
    }
    return rc == 0 || rc == SHADOW_NO_SUCH_USER ? 0 : -1;
}

int users_remove(const char *root, const char *name, struct err *e)
{
    struct request_user_add u = {.name = name};
    struct account a;
    enum owner owner;
    memset(&a, 0, sizeof a);
    if (check(&u, e) < 0 || find_owner(root, name, &owner, e) < 0)
        return -1;
    if (owner == OWNER_US) {
        int rc = account_find(name, &a, e);
        if (rc == 0)
            kill_processes(a.uid);
        if (rc < 0 || clear_mounts(a.home, e) < 0 || delete_account(name, e) < 0)
            rc = err_prefix(e, "cannot remove the account %s", name);
        else
            delete_group(a.gid);
        account_free(&a);
        if (rc < 0)
            return -1;
    }
    unmark(root, name);
    return 0;
}

int users_remove_all(const char *root, struct err *e)
{
    char *dir = fs_join(root, "users");
    DIR *d = opendir(dir);
    struct dirent *de;
    int rc = 0;
    while (d && rc == 0 && (de = readdir(d)))
        if (!strchr(de->d_name, '.')) /* account names contain no dot: this is a temporary file */
            rc = users_remove(root, de->d_name, e);
    if (d)
        closedir(d);
    free(dir);
    return rc;
}

void users_remove_leftovers(const char *root)
{
    char *dir = fs_join(root, "users");
    DIR *d = opendir(dir);
    struct dirent *de;
    while (d && (de = readdir(d)))
        if (de->d_name[0] != '.' && strchr(de->d_name, '.'))
            (void)unlinkat(dirfd(d), de->d_name, 0);
    if (d)
        closedir(d);
    free(dir);
}
