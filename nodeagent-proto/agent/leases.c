/* SPDX-License-Identifier: MIT
 *
 * Takes and releases leases in steps, each of which may be repeated. Because of their order, a
 * crash leaves at worst a record without a directory. At the agent's start, lease_sweep() completes
 * the steps that an earlier agent did not finish. Works only as root.
 */
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
#include "nodeagent-proto/agent/ids.h"
#include "nodeagent-proto/agent/jobdir.h"
#include "nodeagent-proto/agent/lease_end.h"
#include "nodeagent-proto/agent/lease_record.h"
#include "nodeagent-proto/agent/names.h"
#include "nodeagent-proto/agent/small_record.h"
#include "nodeagent-proto/wire/message.h"

#define NOBODY 65534

/* ---- taking ---- */

/* Checks that the accounts of jobs can pass the directories that lead to `dir` (mode o+x). From the
 * root on, sets this mode where it is missing. */
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
                    "the accounts of jobs cannot reach %s: the directory %s is closed to others "
                    "(mode %04o); open it (chmod o+x), or set another node root",
                    dir, part, (unsigned)st.st_mode & 07777);
        else if (rc < 0 && errno == ENOENT)
            rc = 0; /* making the directory itself fails with a clearer error */
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

/* Gives the directory to the account. If it is empty and belongs to another account, an agent that
 * was killed or another agent of the job has just made it. An empty directory is never removed,
 * because the other agent would fail. */
static int give_dir(int fd, const struct agent_lease *l, struct err *e)
{
    struct stat st, later;
    memset(&st, 0, sizeof st);
    /* Between the two calls of fstat(), the other agent may give the directory to the account, and
     * the job may add files. */
    if (fstat(fd, &st) == 0 && st.st_uid != l->uid && !is_empty(fd) && fstat(fd, &later) == 0 &&
        later.st_uid != l->uid)
        return err_set(e, ERR_CONFLICT, "dir",
                       "%s exists already, and belongs to another account than the job's", l->dir);
    /* Group and others keep the right to pass, because the directory of another account may be
     * below this one (open_way()). */
    mode_t passed = st.st_uid == l->uid ? st.st_mode & (S_IXGRP | S_IXOTH) : 0;
    if (st.st_uid == l->uid && st.st_gid == l->gid && (st.st_mode & 07777) == (0700 | passed))
        return 0; /* the usual case, because the directory serves many tasks */
    return fchmod(fd, 0700 | passed) == 0 && fchown(fd, l->uid, l->gid) == 0
               ? 0
               : err_errno(e, ERR_IO, "cannot make %s for the job's account", l->dir);
}

static int make_at(int holder, const char *name, const struct agent_lease *l, struct err *e)
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

static int make_dir(const char *root, const struct agent_lease *l, struct err *e)
{
    const char *name;
    int holder = file_open_holder(root, l->dir, true, &name, e);
    if (holder < 0)
        return e->code != ERR_NONE ? -1 : err_errno(e, ERR_IO, "cannot make %s", l->dir);
    int rc =
        jobdir_take(root, l->dir, holder, name, l->uid, l->gid) ? 0 : make_at(holder, name, l, e);
    close(holder);
    return rc < 0 ? -1 : open_way(root, l->dir, e);
}

/* True: the job began before this node had accounts of jobs, so it continues as the owner of its
 * directory, *out. An empty directory that belongs to the agent does not count: another node of the
 * job has just made it (give_dir()). The owner is read after the content, because a directory with
 * content has got its owner already. */
static bool is_of_before(const char *root, const char *dir, gid_t group, uid_t *out)
{
    struct stat st;
    if (lease_group(root) != 0)
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

/* True: the account is not a number of a lease, so its other processes do not belong to the job. */
static bool is_adopted(const struct agent_lease *l)
{
    return l->number <= l->group;
}

/* True: only root can have made `dir` at its place, because each directory from the root to the
 * parent of `dir` belongs to root and nobody else may write in it. */
static bool is_put_by_root(const char *root, const char *dir)
{
    bool safe = true;
    for (const char *slash = dir + strlen(root); safe && (slash = strchr(slash + 1, '/'));) {
        struct stat st;
        char *part = strndup(dir, (size_t)(slash - dir));
        safe = part && lstat(part, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == 0 &&
               !(st.st_mode & (S_IWGRP | S_IWOTH));
        free(part);
    }
    return safe;
}

/* Returns the number that the job had before its record was lost in a power cut: the owner of its
 * directory, if only the agent can have set this owner. 0: there is none. */
static uid_t owner_of(const struct lease_ask *ask)
{
    struct stat st;
    const struct uid_range *r = &ask->range;
    return lstat(ask->dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_gid == r->first &&
                   st.st_uid > r->first && st.st_uid - r->first < r->count &&
                   is_put_by_root(ask->holder.root, ask->dir)
               ? st.st_uid
               : 0;
}

static int take_number(const struct lease_ask *ask, uid_t *out, struct err *e)
{
    *out = owner_of(ask);
    int rc = *out != 0 ? uids_take_back(&ask->holder, ask->name, *out, e) : 1;
    return rc <= 0 ? rc : uids_take(&ask->range, ask->room, &ask->holder, ask->name, out, e);
}

static bool is_in(const struct uid_range *r, unsigned number)
{
    return number >= r->first && number - r->first < r->count;
}

static int check_chosen(const struct lease_ask *ask, struct err *e)
{
    if (ask->uid == 0)
        return 0;
    if (is_in(&ask->range, ask->uid) || is_in(&ask->range, ask->gid))
        return err_set(e, ERR_CONFLICT, "uid",
                       "uid %u and gid %u must both be outside the %u account numbers from %u on, "
                       "which are reserved for jobs here (jobs.first_uid, jobs.uids)",
                       ask->uid, ask->gid, ask->range.count, (unsigned)ask->range.first);
    return ids_check_free(ask->uid, ask->gid, NULL, e);
}

static int check_same(const struct lease_ask *ask, const struct agent_lease *l, struct err *e)
{
    if (strcmp(l->dir, ask->dir) != 0)
        return err_set(e, ERR_CONFLICT, "dir", "'%s' has an account already, for %s", ask->name,
                       l->dir);
    if (ask->uid != 0 && (l->uid != ask->uid || l->gid != ask->gid))
        return err_set(e, ERR_CONFLICT, "uid",
                       "the account '%s' has uid %u and gid %u; others are taken when the node is "
                       "reimaged",
                       ask->name, (unsigned)l->uid, (unsigned)l->gid);
    return 1;
}

static int take_new(const struct lease_ask *ask, struct agent_lease *out, struct err *e)
{
    const char *root = ask->holder.root;
    out->gid = out->group = ask->range.first;
    out->dir = xstrdup(ask->dir);
    if (check_chosen(ask, e) < 0 || lease_make_records(root, e) < 0 ||
        ((ask->uid != 0 || !is_of_before(root, ask->dir, out->group, &out->number)) &&
         take_number(ask, &out->number, e) < 0))
        return -1;
    out->uid = ask->uid ? ask->uid : out->number;
    out->gid = ask->uid ? ask->gid : out->group;
    if (lease_write(root, ask->name, out, e) < 0)
        return -1;
    return lease_group(root) == out->group ? 0 : lease_set_group(root, out->group, e);
}

/* Makes the directory of the job below the root of another agent, which may not have started the
 * job yet. */
static int make_also(const char *path, const struct agent_lease *l, struct err *e)
{
    const char *slash = strrchr(path, '/');
    char *parent = strndup(path, (size_t)(slash - path));
    struct agent_lease there = *l;
    there.dir = (char *)(uintptr_t)path;
    int holder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = holder < 0 ? 0 : make_at(holder, slash + 1, &there, e);
    if (holder >= 0)
        close(holder);
    free(parent);
    return rc;
}

static int check_ask(const struct lease_ask *ask, struct err *e)
{
    if (!lease_name_valid(ask->name))
        return err_set(e, ERR_INVALID_PROPERTY, "name", "'%.100s' cannot be the name of a lease",
                       ask->name);
    if (ask->also && (ask->also[0] != '/' || !fs_path_is_safe(ask->also + 1)))
        return err_set(e, ERR_INVALID_PATH, "also", "'%s' is not an absolute path of a directory",
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
    struct agent_lease l = {.dir = NULL};
    if (check_ask(ask, e) < 0)
        return -1;
    int rc = lease_read(ask->holder.root, ask->name, &l, e);
    if (rc > 0)
        rc = check_same(ask, &l, e);
    if (rc == 0)
        rc = take_new(ask, &l, e);
    if (rc >= 0 && !is_adopted(&l))
        rc = make_dir(ask->holder.root, &l, e);
    if (rc >= 0 && ask->also && !is_adopted(&l))
        rc = make_also(ask->also, &l, e);
    if (rc >= 0 && !is_adopted(&l))
        name_give(l.number, l.uid, l.gid, l.dir, shell());
    lease_free(&l);
    return rc;
}

/* ---- releasing ---- */

/* Releases a lease. Every step may be repeated without harm; the record is removed last. It stays
 * if a file cannot be taken over: then nobody gets the number, and nothing more is needed, so this
 * is a success. A later agent releases the lease when its directory is gone. */
static int release(const struct uid_holder *h, const char *name, const struct agent_lease *l,
                   struct err *e)
{
    /* Since the lease was taken, an account of the machine may have been made with the uid that the
     * user chose. */
    bool lost = lease_is_chosen(l) && id_is_users(l->uid);
    int last = is_adopted(l) ? 0 : uids_let_go(h, name, e);
    if (last < 0 || (last > 0 && !lost && lease_end_processes(l->uid, l->number + 1, e) < 0))
        return err_prefix(e, "cannot release the account of %s", name);
    bool stays = !is_adopted(l) && lease_end_files(l->uid, l->dir, e) < 0;
    if (last > 0 && !lost)
        lease_end_rest(l->uid);
    if (stays) {
        fprintf(stderr, "the account of %s stays taken: %s\n", name, e->msg);
        return 0;
    }
    if (last > 0)
        name_take_back(l->number);
    if (lease_forget(h->root, name, e) < 0)
        return -1;
    uids_forget(h, name);
    return 0;
}

int lease_release(const struct uid_holder *h, const char *name, struct err *e)
{
    struct agent_lease l = {.dir = NULL};
    if (!lease_name_valid(name))
        return 0;
    int rc = lease_read(h->root, name, &l, e);
    if (rc > 0)
        rc = release(h, name, &l, e);
    lease_free(&l);
    return rc;
}

static int release_one(void *ctx, const char *root, const char *name, const struct agent_lease *l,
                       struct err *e)
{
    (void)root;
    return release(ctx, name, l, e);
}

int lease_release_all(const struct uid_holder *h, struct err *e)
{
    return lease_each(h->root, release_one, (void *)(uintptr_t)h, e);
}

/* Calls release() in a child process, because of lease_end_processes(). The child prints its
 * failures itself. */
static int release_apart(const struct uid_holder *h, const char *name, const struct agent_lease *l,
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

struct lease_sweep {
    const struct uid_holder *holder;
    bool (*runs)(void *ctx, uid_t uid);
    void *ctx;
};

static int sweep_one(void *ctx, const char *root, const char *name, const struct agent_lease *l,
                     struct err *e)
{
    const struct lease_sweep *s = ctx;
    struct stat st;
    (void)root;
    if (s->runs(s->ctx, l->uid) || lstat(l->dir, &st) == 0 || errno != ENOENT)
        return is_adopted(l) ? 0 : uids_keep(s->holder, name, l->number, e);
    return release_apart(s->holder, name, l, e);
}

void lease_sweep(const struct uid_holder *h, bool (*runs)(void *ctx, uid_t uid), void *ctx)
{
    struct lease_sweep s = {h, runs, ctx};
    struct err e;
    if (lease_each(h->root, sweep_one, &s, &e) < 0)
        fprintf(stderr, "%s\n", e.msg);
    if (uids_tidy(h, lease_is_taken))
        uids_forget_gone(h);
}

static int name_one(void *ctx, const char *root, const char *name, const struct agent_lease *l,
                    struct err *e)
{
    (void)root;
    (void)l;
    (void)e;
    return json_array_append_new(ctx, json_string(name));
}

int lease_names(const char *root, json_t *names, struct err *e)
{
    return lease_each(root, name_one, names, e);
}

static int list_one(void *ctx, const char *root, const char *name, const struct agent_lease *l,
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
    return lease_each(root, list_one, found, e);
}

/* ---- using ---- */

bool lease_is_taken(const char *root, const char *name)
{
    struct agent_lease l;
    struct err e;
    bool taken = lease_name_valid(name) && lease_read(root, name, &l, &e) > 0;
    if (taken)
        lease_free(&l);
    return taken;
}

bool lease_has_record(const char *root, const char *name)
{
    char *path = lease_path(root, name);
    struct stat st;
    bool has = lease_name_valid(name) && (lstat(path, &st) == 0 || errno != ENOENT);
    free(path);
    return has;
}

/* Fills in an account of a job. `group` is the group of all jobs. */
static void fill(struct account *out, uid_t uid, gid_t gid, gid_t group, const char *home)
{
    *out = (struct account){.name = name_of(uid),
                            .home = xstrdup(home),
                            .shell = xstrdup(shell()),
                            .uid = uid,
                            .gid = gid,
                            .groups = xcalloc(2, sizeof *out->groups),
                            .n_groups = gid == group ? 1 : 2,
                            .shares = true};
    out->groups[0] = gid;
    out->groups[1] = group;
}

int lease_or_account(const char *root, const char *name, struct account *out, struct err *e)
{
    struct agent_lease l;
    if (name[0] != LEASE_SIGN)
        return account_find(name, out, e);
    memset(out, 0, sizeof *out);
    int rc = lease_name_valid(name + 1) ? lease_read(root, name + 1, &l, e) : 0;
    if (rc > 0) {
        fill(out, l.uid, is_adopted(&l) ? l.uid : l.gid, is_adopted(&l) ? l.uid : l.group, l.dir);
        free(out->name);
        out->name = name_of(l.number);
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
    gid_t group = lease_group(root);
    fill(out, NOBODY, group, group, "/");
}
