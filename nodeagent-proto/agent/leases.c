/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/leases.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/agent/jobdir.h"
#include "nodeagent-proto/agent/lease_end.h"
#include "nodeagent-proto/agent/names.h"
#include "nodeagent-proto/agent/slip.h"
#include "nodeagent-proto/wire/message.h"

#define DIR_NAME   "accounts"
#define GROUP      ".group"
#define RECORD_MAX 8192
#define NOBODY     65534

struct lease {
    uid_t uid;
    gid_t group; /* of all jobs */
    char *dir;
};

/* ---- the records ---- */

static char *path_of(const char *root, const char *name)
{
    char *dir = fs_join(root, DIR_NAME), *path = fs_join(dir, name);
    free(dir);
    return path;
}

static bool is_name(const char *name)
{
    return task_id_valid(name) && name[0] != '.';
}

/* Reads a number from a file that contains nothing else; 0: none. */
static unsigned read_number(const char *root, const char *name)
{
    char *path = path_of(root, name), *text = NULL;
    unsigned n = 0;
    if (fs_read(path, 64, &text, NULL, NULL) == 0)
        n = (unsigned)strtoul(text, NULL, 10);
    free(text);
    free(path);
    return n;
}

static int write_number(const char *root, const char *name, unsigned n, struct err *e)
{
    char *path = path_of(root, name), text[16];
    int len = snprintf(text, sizeof text, "%u\n", n);
    int rc = file_replace(path, text, (size_t)len, 0600, e);
    free(path);
    return rc;
}

static int open_records(const char *root)
{
    char *dir = fs_join(root, DIR_NAME);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(dir);
    return fd;
}

/* What a record says: 1; 0: there is none. Older agents wrote symbolic links and other files. */
static int record_text(const char *path, const char *name, char **text, struct err *e)
{
    char said[RECORD_MAX];
    ssize_t n = slip_read(AT_FDCWD, path, name, said, sizeof said);
    if (n >= 0) {
        *text = xstrdup(said);
        return 1;
    }
    if (errno == ENOENT || errno == ENODATA)
        return 0;
    return fs_read(path, RECORD_MAX, text, NULL, e) == 0 ? 1 : -1;
}

/* "UID GROUP DIRECTORY". 1: found. */
static int read_lease(const char *root, const char *name, struct lease *out, struct err *e)
{
    char *path = path_of(root, name), *text = NULL, *end = NULL;
    memset(out, 0, sizeof *out);
    int rc = record_text(path, name, &text, e);
    if (rc > 0) {
        out->uid = (uid_t)strtoul(text, &end, 10);
        out->group = *end == ' ' ? (gid_t)strtoul(end + 1, &end, 10) : 0;
        rc = out->group > 0 && end[0] == ' ' && end[1] == '/' ? 1 : -1;
        if (rc > 0)
            out->dir = xstrdup(end + 1);
        else
            err_set(e, ERR_IO, "name", "%s is not the record of an account", path);
    }
    free(text);
    free(path);
    return rc;
}

/* A record is not waited for to get to the disk: what a power cut takes of it, the owner of the
 * directory tells (owner_of()). */
static int write_lease(const char *root, const char *name, const struct lease *l, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%u %u %s", (unsigned)l->uid, (unsigned)l->group, l->dir);
    int dir = open_records(root);
    int rc = dir >= 0 ? slip_write(dir, "", name, b.s) : -1;
    if (dir >= 0)
        close(dir);
    if (rc < 0) {
        char *path = path_of(root, name);
        rc = fs_write_atomic(path, b.s, b.len, 0600, e);
        free(path);
    }
    strbuf_free(&b);
    return rc;
}

static int forget_lease(const char *root, const char *name, struct err *e)
{
    int dir = open_records(root);
    int rc = dir >= 0 ? slip_drop(dir, "", name) : -1;
    if (rc < 0 && errno != ENOENT)
        rc = err_errno(e, ERR_IO, "cannot remove the record of the account of %s", name);
    if (dir >= 0)
        close(dir);
    return rc < 0 && errno != ENOENT ? -1 : 0;
}

static void lease_free(struct lease *l)
{
    free(l->dir);
}

/* Calls fn with each lease; ends with the first failure. Leftovers of a killed write are not names
 * of leases: they contain ".tmp-". */
static int each(const char *root,
                int (*fn)(void *ctx, const char *root, const char *name, const struct lease *l,
                          struct err *e),
                void *ctx, struct err *e)
{
    char *dir = fs_join(root, DIR_NAME);
    DIR *d = opendir(dir);
    struct dirent *de;
    int rc = d || errno == ENOENT ? 0 : err_errno(e, ERR_IO, "cannot list %s", dir);
    while (d && rc == 0 && (de = readdir(d))) {
        struct lease l;
        if (!is_name(de->d_name) || strstr(de->d_name, FS_UNFINISHED))
            continue;
        rc = read_lease(root, de->d_name, &l, e);
        if (rc > 0)
            rc = fn(ctx, root, de->d_name, &l, e);
        lease_free(&l);
    }
    if (d)
        closedir(d);
    free(dir);
    return rc;
}

/* ---- taking ---- */

/* Everybody must be able to pass the directories on the way. Below the root we open them. */
static int open_way(const char *root, const char *dir, struct err *e)
{
    size_t n = strlen(root);
    struct stat st;
    for (const char *slash = dir; (slash = strchr(slash + 1, '/'));) {
        char *part = strndup(dir, (size_t)(slash - dir));
        bool ours = (size_t)(slash - dir) >= n;
        int rc = stat(part, &st);
        if (rc == 0 && !(st.st_mode & S_IXOTH))
            rc = ours ? chmod(part, (st.st_mode & 07777) | S_IXUSR | S_IXGRP | S_IXOTH) : 1;
        if (rc > 0)
            err_set(e, ERR_CONFLICT, "dir",
                    "the accounts of jobs cannot get to %s: the directory %s is closed to others "
                    "(mode %04o); open it for passing (chmod o+x), or have the node root elsewhere",
                    dir, part, (unsigned)st.st_mode & 07777);
        else if (rc < 0 && errno == ENOENT)
            rc = 0; /* the directory itself says what is wrong */
        else if (rc < 0)
            err_errno(e, ERR_IO, "cannot open %s for passing", part);
        free(part);
        if (rc != 0)
            return -1;
    }
    return 0;
}

static bool is_empty(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *de;
    bool empty = d != NULL;
    while (empty && (de = readdir(d)))
        empty = strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0;
    if (d)
        closedir(d);
    return empty;
}

/* One that is empty was made a moment ago, by an agent that was killed or by another that does the
 * same at the same time: so it is never removed, as that one could not go on. */
static int give_dir(int fd, const struct lease *l, struct err *e)
{
    struct stat st, later;
    memset(&st, 0, sizeof st);
    /* Whoever made it may give it to the account, and begin to fill it, between two looks. */
    if (fstat(fd, &st) == 0 && st.st_uid != l->uid && !is_empty(fd) && fstat(fd, &later) == 0 &&
        later.st_uid != l->uid)
        return err_set(e, ERR_CONFLICT, "dir",
                       "%s is there already, and not that of the job's account", l->dir);
    /* Another account's directory may be below it by now, see open_way(). */
    mode_t passed = st.st_uid == l->uid ? st.st_mode & (S_IXGRP | S_IXOTH) : 0;
    if (st.st_uid == l->uid && st.st_gid == l->group && (st.st_mode & 07777) == (0700 | passed))
        return 0; /* it serves many tasks, and to write it each time would take longer */
    return fchmod(fd, 0700 | passed) == 0 && fchown(fd, l->uid, l->group) == 0
               ? 0
               : err_errno(e, ERR_IO, "cannot make %s for the job's account", l->dir);
}

static int make_at(int holder, const char *name, const struct lease *l, struct err *e)
{
    if (mkdirat(holder, name, 0700) < 0 && errno != EEXIST)
        return err_errno(e, ERR_IO, "cannot make %s", l->dir);
    int fd = openat(holder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        return err_set(e, ERR_CONFLICT, "dir",
                       "%s is there already, and not a directory of the job's account", l->dir);
    if (fd < 0)
        return err_errno(e, ERR_IO, "cannot make %s for the job's account", l->dir);
    int rc = give_dir(fd, l, e);
    close(fd);
    return rc;
}

static int make_dir(const char *root, const struct lease *l, struct err *e)
{
    const char *name;
    int holder = file_open_holder(root, l->dir, true, &name, e);
    if (holder < 0)
        return e->code != ERR_NONE ? -1 : err_errno(e, ERR_IO, "cannot make %s", l->dir);
    int rc =
        jobdir_take(root, l->dir, holder, name, l->uid, l->group) ? 0 : make_at(holder, name, l, e);
    close(holder);
    return rc < 0 ? -1 : open_way(root, l->dir, e);
}

static int make_records_dir(const char *root, struct err *e)
{
    char *dir = fs_join(root, DIR_NAME);
    int rc = fs_mkdirs(dir, 0700, e);
    free(dir);
    return rc;
}

/* Whether a job was begun before there were accounts here. It goes on as the owner of its
 * directory, *out. One of ours that is empty was made a moment ago by another node of the job, as
 * give_dir() says; when there is something in it, that has given it away, so its owner is looked at
 * last. */
static bool is_of_before(const char *root, const char *dir, gid_t group, uid_t *out)
{
    struct stat st;
    if (read_number(root, GROUP) != 0)
        return false;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool empty = is_empty(fd);
    bool before = fstat(fd, &st) == 0 && st.st_uid <= group && !(empty && st.st_uid == geteuid());
    close(fd);
    *out = before ? st.st_uid : 0;
    return before;
}

/* The account is not one of ours: other processes that run as it have nothing to do with the job.
 */
static bool is_adopted(const struct lease *l)
{
    return l->uid <= l->group;
}

/* The number that the job had before a power cut took the record, as its directory has it; only the
 * agent gives directories of jobs away. 0: none. */
static uid_t owner_of(const struct lease_ask *ask)
{
    struct stat st;
    const struct uid_range *r = &ask->range;
    return lstat(ask->dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_gid == r->first &&
                   st.st_uid > r->first && st.st_uid - r->first < r->count
               ? st.st_uid
               : 0;
}

static int take_number(const struct lease_ask *ask, uid_t *out, struct err *e)
{
    *out = owner_of(ask);
    return *out != 0 ? uids_keep(&ask->holder, ask->name, *out, e)
                     : uids_take(&ask->range, &ask->holder, ask->name, out, e);
}

static int take_new(const struct lease_ask *ask, struct lease *out, struct err *e)
{
    const char *root = ask->holder.root;
    out->group = ask->range.first;
    out->dir = xstrdup(ask->dir);
    if (make_records_dir(root, e) < 0 ||
        (!is_of_before(root, ask->dir, out->group, &out->uid) &&
         take_number(ask, &out->uid, e) < 0) ||
        write_lease(root, ask->name, out, e) < 0)
        return -1;
    return read_number(root, GROUP) == out->group ? 0 : write_number(root, GROUP, out->group, e);
}

/* Makes the directory below the root of another agent, which may not have begun the job yet. */
static int make_also(const char *path, const struct lease *l, struct err *e)
{
    const char *slash = strrchr(path, '/');
    char *parent = strndup(path, (size_t)(slash - path));
    struct lease there = {.uid = l->uid, .group = l->group, .dir = (char *)(uintptr_t)path};
    int holder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = holder < 0 ? 0 : make_at(holder, slash + 1, &there, e);
    if (holder >= 0)
        close(holder);
    free(parent);
    return rc;
}

static int check_ask(const struct lease_ask *ask, struct err *e)
{
    if (!is_name(ask->name))
        return err_set(e, ERR_INVALID_PROPERTY, "name", "'%.100s' cannot be the name of a lease",
                       ask->name);
    if (ask->also && (ask->also[0] != '/' || !fs_path_is_safe(ask->also + 1)))
        return err_set(e, ERR_INVALID_PATH, "also", "'%s' is no absolute path of a directory",
                       ask->also);
    return uids_check(&ask->range, e) < 0 || file_check_below(ask->holder.root, ask->dir, e) < 0
               ? -1
               : 0;
}

static const char *shell(void)
{
    return access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
}

int lease_take(const struct lease_ask *ask, struct err *e)
{
    struct lease l = {.dir = NULL};
    if (check_ask(ask, e) < 0)
        return -1;
    int rc = read_lease(ask->holder.root, ask->name, &l, e);
    if (rc > 0 && strcmp(l.dir, ask->dir) != 0)
        rc = err_set(e, ERR_CONFLICT, "dir", "'%s' has an account already, for %s", ask->name,
                     l.dir);
    if (rc == 0)
        rc = take_new(ask, &l, e);
    if (rc >= 0 && !is_adopted(&l))
        rc = make_dir(ask->holder.root, &l, e);
    if (rc >= 0 && ask->also && !is_adopted(&l))
        rc = make_also(ask->also, &l, e);
    if (rc >= 0 && !is_adopted(&l))
        name_give(l.uid, l.group, l.dir, shell());
    lease_free(&l);
    return rc;
}

/* ---- releasing ---- */

/* Every step may be repeated without harm; the record is removed last. */
static int release(const struct uid_holder *h, const char *name, const struct lease *l,
                   struct err *e)
{
    int last = is_adopted(l) ? 0 : uids_let_go(h, name, e);
    if (last < 0 || (last > 0 && lease_end_processes(l->uid, e) < 0) ||
        (!is_adopted(l) && lease_end_files(l->uid, l->dir, e) < 0))
        return err_prefix(e, "cannot release the account of %s", name);
    if (last > 0) {
        lease_end_rest(l->uid);
        name_take_back(l->uid);
    }
    if (forget_lease(h->root, name, e) < 0)
        return -1;
    uids_forget(h, name);
    return 0;
}

int lease_release(const struct uid_holder *h, const char *name, struct err *e)
{
    struct lease l = {.dir = NULL};
    if (!is_name(name))
        return 0;
    int rc = read_lease(h->root, name, &l, e);
    if (rc > 0)
        rc = release(h, name, &l, e);
    lease_free(&l);
    return rc;
}

static int release_one(void *ctx, const char *root, const char *name, const struct lease *l,
                       struct err *e)
{
    (void)root;
    return release(ctx, name, l, e);
}

int lease_release_all(const struct uid_holder *h, struct err *e)
{
    return each(h->root, release_one, (void *)(uintptr_t)h, e);
}

/* In a child, see lease_end_processes(). It says itself what fails. */
static int release_apart(const struct uid_holder *h, const char *name, const struct lease *l,
                         struct err *e)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        bool done = release(h, name, l, e) == 0;
        if (!done)
            fprintf(stderr, "%s\n", e->msg);
        _exit(done ? 0 : 1);
    }
    if (pid < 0)
        return err_errno(e, ERR_NODE, "cannot fork");
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? 0
               : err_set(e, ERR_NODE, NULL, "accounts in %s stay taken until the next agent starts",
                         h->root);
}

struct sweep {
    const struct uid_holder *holder;
    bool (*runs)(void *ctx, uid_t uid);
    void *ctx;
};

static int sweep_one(void *ctx, const char *root, const char *name, const struct lease *l,
                     struct err *e)
{
    const struct sweep *s = ctx;
    struct stat st;
    (void)root;
    if (s->runs(s->ctx, l->uid) || lstat(l->dir, &st) == 0 || errno != ENOENT)
        return is_adopted(l) ? 0 : uids_keep(s->holder, name, l->uid, e);
    return release_apart(s->holder, name, l, e);
}

void lease_sweep(const struct uid_holder *h, bool (*runs)(void *ctx, uid_t uid), void *ctx)
{
    struct sweep s = {h, runs, ctx};
    struct err e;
    if (each(h->root, sweep_one, &s, &e) < 0)
        fprintf(stderr, "%s\n", e.msg);
    if (uids_tidy(h, lease_is_taken))
        uids_forget_gone(h);
}

static int name_one(void *ctx, const char *root, const char *name, const struct lease *l,
                    struct err *e)
{
    (void)root;
    (void)l;
    (void)e;
    return json_array_append_new(ctx, json_string(name));
}

int lease_names(const char *root, json_t *names, struct err *e)
{
    return each(root, name_one, names, e);
}

static int list_one(void *ctx, const char *root, const char *name, const struct lease *l,
                    struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    (void)root;
    (void)e;
    strbuf_printf(&b, "account %u of %s", (unsigned)l->uid, name);
    json_array_append_new(ctx, json_string(b.s));
    strbuf_free(&b);
    return 0;
}

int lease_list(const char *root, json_t *found, struct err *e)
{
    return each(root, list_one, found, e);
}

/* ---- using ---- */

bool lease_is_taken(const char *root, const char *name)
{
    struct lease l;
    struct err e;
    bool taken = is_name(name) && read_lease(root, name, &l, &e) > 0;
    if (taken)
        lease_free(&l);
    return taken;
}

bool lease_has_record(const char *root, const char *name)
{
    char *path = path_of(root, name);
    struct stat st;
    bool has = is_name(name) && (lstat(path, &st) == 0 || errno != ENOENT);
    free(path);
    return has;
}

static void fill(struct account *out, uid_t uid, gid_t gid, const char *home)
{
    *out = (struct account){.name = name_of(uid),
                            .home = xstrdup(home),
                            .shell = xstrdup(shell()),
                            .uid = uid,
                            .gid = gid,
                            .groups = xcalloc(1, sizeof *out->groups),
                            .n_groups = 1,
                            .shares = true};
    out->groups[0] = gid;
}

int lease_or_account(const char *root, const char *name, struct account *out, struct err *e)
{
    struct lease l;
    if (name[0] != LEASE_SIGN)
        return account_find(name, out, e);
    memset(out, 0, sizeof *out);
    int rc = is_name(name + 1) ? read_lease(root, name + 1, &l, e) : 0;
    if (rc > 0) {
        fill(out, l.uid, is_adopted(&l) ? l.uid : l.group, l.dir);
        out->shares = !is_adopted(&l);
        lease_free(&l);
    }
    return rc > 0   ? 0
           : rc < 0 ? -1
                    : err_set(e, ERR_RESOURCE_NOT_FOUND, "user",
                              "no account was taken for '%.100s'", name + 1);
}

void lease_nobody(const char *root, struct account *out)
{
    fill(out, NOBODY, read_number(root, GROUP), "/");
}
