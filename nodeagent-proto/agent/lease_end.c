/* SPDX-License-Identifier: MIT
 *
 * Ends all uses of a uid: processes, files in shared directories, shared memory, semaphores and
 * message queues. To kill processes, it takes the uid as its effective id, so the kernel itself
 * ensures that no process of another account is killed. The error describes what did not end.
 */
#include "nodeagent-proto/agent/lease_end.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/agent/uids.h"
#include "nodeagent-proto/wire/task.h"

#define KILL_MS 5000
#define STEP_NS 2000000

/* ---- processes ---- */

static void act_as(uid_t uid)
{
    if (setresuid((uid_t)-1, uid, (uid_t)-1) < 0)
        _exit(1); /* the process must never continue with the wrong uid */
}

/* True: a process of the uid lives. Finds these processes with the uid's rights, because then
 * kill(2) succeeds for them only. Reads their states with root's rights, because /proc may hide
 * them from other users. */
static bool lives_any(uid_t uid)
{
    pid_t *pids;
    const pid_t own = getpid();
    size_t n = procs_list(&pids), victims = 0;
    bool lives = false;
    act_as(uid);
    for (size_t i = 0; i < n; i++)
        if (pids[i] != own && kill(pids[i], 0) == 0)
            pids[victims++] = pids[i];
    act_as(0);
    for (size_t i = 0; i < victims && !lives; i++)
        lives = !procs_is_over(pids[i]);
    free(pids);
    return lives;
}

/* Kills all processes of the uid. kill(-1) signals all of them at once, however fast they fork. If
 * securebits let the process keep root's rights with another effective id, kill(-1) would kill
 * every process of the machine; then the function kills nothing. False: it has killed nothing,
 * and a process of the uid is left. */
static bool kill_all(uid_t uid)
{
    act_as(uid);
    bool may_only = kill(1, 0) < 0;
    if (may_only)
        (void)kill(-1, SIGKILL);
    act_as(0);
    return may_only || !procs_run_as(uid, 1);
}

/* True: no process has the uid, not even a zombie. False: a process may have it. The kernel counts
 * the processes of each user for RLIMIT_NPROC; if a process changes to a user above this limit, its
 * next execve() fails with EAGAIN. (Up to Linux 5.16 the kernel counts in another way, and the
 * result is always false.) This is far cheaper than a scan of all processes. During the test, a
 * process of the uid could kill this process, so call kill_all() first. */
static bool none_is_counted(uid_t uid, uid_t helper)
{
    struct rlimit was, none;
    if (getrlimit(RLIMIT_NPROC, &was) < 0)
        return false;
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = was.rlim_max};
    bool known = setrlimit(RLIMIT_NPROC, &none) == 0 && setresuid(uid, 0, 0) == 0;
    char *const argv[] = {(char *)(uintptr_t) "none", NULL}, *const env[] = {NULL};
    errno = 0;
    /* If the limit does not refuse it, this fails with EACCES or EISDIR, because "/" is a
     * directory. */
    (void)execve("/", argv, env);
    bool counted = errno != EACCES && errno != EISDIR;
    if (setresuid(helper, 0, 0) < 0 || setrlimit(RLIMIT_NPROC, &was) < 0)
        _exit(1);
    return known && !counted;
}

static int refuse_to_die(uid_t uid, struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, "name",
                   "a process of uid %u has not ended %d s after SIGKILL: it hangs in the kernel",
                   (unsigned)uid, KILL_MS / 1000);
}

/* To kill, this process takes the uid as its effective id, so it can signal only processes of the
 * uid. Its real id is `helper`, which no other process has, so those processes cannot signal it.
 * Its saved id is 0, with which it returns to root. */
int lease_end_processes(uid_t uid, uid_t helper, struct err *e)
{
    int64_t limit = monotonic_ms() + KILL_MS;
    assert(uid != 0 && helper >= NODE_UID_LOWEST); /* lower ids may belong to other accounts */
    if (setresuid(helper, 0, 0) < 0)
        return err_errno(e, ERR_NODE, "cannot become uid %u", (unsigned)uid);
    bool gone = kill_all(uid) && (none_is_counted(uid, helper) || !lives_any(uid));
    while (!gone && monotonic_ms() < limit) {
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
        gone = kill_all(uid) && !lives_any(uid);
    }
    if (setresuid(0, 0, 0) < 0)
        _exit(1);
    return gone ? 0 : refuse_to_die(uid, e);
}

/* ---- files ---- */

/* True: `uid` belongs to the account `owner`: it is the account's uid, or one of its further uids
 * for containers. */
static bool is_of_account(uid_t owner, uid_t uid)
{
    return owner == uid || (uid_has_room(uid) && owner - (uid - NODE_UID_ROOM) < 2 * NODE_UID_ROOM);
}

/* A directory on the way from the top of the tree to the present directory. */
struct level {
    struct level *up;
    dev_t dev;
    ino_t ino;
    struct strbuf dirs; /* the names of the directories in it, each with a NUL at its end */
    size_t at;          /* the next one */
};

/* A walk through a tree of any depth. Only the present directory is open, so neither the length of
 * a path nor the number of open files limits the walk. */
struct takeover {
    uid_t uid;
    const char *tree;
    struct level *here;
    int fd; /* of the present directory */
    struct err *e;
    int rc; /* -1: `e` has the first failure; the walk goes on */
};

static void fail_at(struct takeover *t, const char *name)
{
    if (t->rc == 0)
        t->rc = err_errno(t->e, ERR_IO, "cannot take over %s in %s", name, t->tree);
}

/* A directory is taken over when it is opened: this name may be that of a mount. */
static void take_entry(struct takeover *t, const char *name)
{
    struct stat st;
    if (fstatat(t->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno != ENOENT)
            fail_at(t, name);
    } else if (S_ISDIR(st.st_mode)) {
        strbuf_add(&t->here->dirs, name, strlen(name) + 1);
    } else if (is_of_account(st.st_uid, t->uid) &&
               fchownat(t->fd, name, geteuid(), getegid(), AT_SYMLINK_NOFOLLOW) < 0 &&
               errno != ENOENT) {
        fail_at(t, name);
    }
}

static void take_entries(struct takeover *t)
{
    int copy = openat(t->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *de;
    while (d && (errno = 0, de = readdir(d)))
        if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
            take_entry(t, de->d_name);
    if (!d || errno != 0)
        fail_at(t, "a directory");
    if (d)
        closedir(d);
    else if (copy >= 0)
        close(copy);
}

/* Takes over the directory `fd`, with all in it but the directories, and makes it the present
 * directory. */
static void enter(struct takeover *t, int fd, const char *name)
{
    struct stat st;
    if (fstat(fd, &st) < 0 ||
        (is_of_account(st.st_uid, t->uid) && fchown(fd, geteuid(), getegid()) < 0)) {
        fail_at(t, name);
        close(fd);
        return;
    }
    struct level *l = xcalloc(1, sizeof *l);
    *l = (struct level){.up = t->here, .dev = st.st_dev, .ino = st.st_ino, .dirs = STRBUF_INIT};
    if (t->here)
        close(t->fd);
    t->here = l;
    t->fd = fd;
    take_entries(t);
}

/* False: the directory above is not the one that the walk came from. */
static bool go_up(struct takeover *t)
{
    struct level *left = t->here, *up = left->up;
    struct stat st = {.st_ino = 0};
    int fd = up ? openat(t->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool same =
        !up || (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == up->dev && st.st_ino == up->ino);
    if (t->fd >= 0)
        close(t->fd);
    t->here = up;
    t->fd = fd;
    strbuf_free(&left->dirs);
    free(left);
    if (!same && t->rc == 0)
        t->rc = err_set(t->e, ERR_IO, NULL, "a directory in %s was moved", t->tree);
    return same;
}

static void go_down(struct takeover *t)
{
    const char *name = t->here->dirs.s + t->here->at;
    t->here->at += strlen(name) + 1;
    int fd = fs_open_here(t->fd, name, O_RDONLY);
    if (fd >= 0)
        enter(t, fd, name);
    else if (errno != EXDEV && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        fail_at(t, name); /* a mount, and what is no directory any more, are passed over */
}

int lease_end_files(uid_t uid, const char *dir, struct err *e)
{
    struct takeover t = {.uid = uid, .tree = dir, .e = e};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
        return 0;
    if (fd < 0)
        return err_errno(e, ERR_IO, "cannot look through %s", dir);
    enter(&t, fd, ".");
    while (t.here)
        if (t.here->at < t.here->dirs.len)
            go_down(&t);
        else if (!go_up(&t))
            break;
    while (t.here)
        (void)go_up(&t);
    return t.rc;
}

static void empty_of(uid_t uid, const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *de;
    while (d && (de = readdir(d))) {
        struct stat st;
        if (fstatat(dirfd(d), de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != uid)
            continue;
        char *path = fs_join(dir, de->d_name);
        int ignored = fs_remove_tree(path, NULL);
        (void)ignored;
        free(path);
    }
    if (d)
        closedir(d);
}

/* ---- System V's objects ---- */

static void remove_shm(int id)
{
    (void)shmctl(id, IPC_RMID, NULL);
}

static void remove_sem(int id)
{
    (void)semctl(id, 0, IPC_RMID);
}

static void remove_msg(int id)
{
    (void)msgctl(id, IPC_RMID, NULL);
}

/* Returns the index of the column `name` in the header line; -1: there is none. */
static int column_of(char *line, const char *name)
{
    char *save = NULL, *word = strtok_r(line, " \n", &save);
    for (int i = 0; word; i++, word = strtok_r(NULL, " \n", &save))
        if (strcmp(word, name) == 0)
            return i;
    return -1;
}

/* Calls fn for each object of the uid in a table of /proc/sysvipc. The table's first line contains
 * the names of the columns; the second column is the object's id. */
static void remove_objects(const char *table, uid_t uid, void (*fn)(int id))
{
    char line[512];
    FILE *f = fopen(table, "re");
    int column = f && fgets(line, sizeof line, f) ? column_of(line, "uid") : -1;
    while (column > 1 && fgets(line, sizeof line, f)) {
        char *save = NULL, *word = strtok_r(line, " \n", &save);
        long id = -1;
        for (int i = 0; word && i < column; i++, word = strtok_r(NULL, " \n", &save))
            if (i == 1)
                id = strtol(word, NULL, 10);
        if (word && id >= 0 && strtoul(word, NULL, 10) == uid)
            fn((int)id);
    }
    if (f)
        fclose(f);
}

void lease_end_rest(uid_t uid)
{
    static const char *const common[] = {"/dev/shm", "/dev/mqueue"};
    remove_objects("/proc/sysvipc/shm", uid, remove_shm);
    remove_objects("/proc/sysvipc/sem", uid, remove_sem);
    remove_objects("/proc/sysvipc/msg", uid, remove_msg);
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        empty_of(uid, common[i]);
}
