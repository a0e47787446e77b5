/* SPDX-License-Identifier: MIT
 *
 * The process that removes the directory is forked before the daemon has threads. It holds the read
 * end of a pipe that the daemon never writes to, so it notices the daemon's end in any case:
 *
 *   WAITING   on the pipe
 *   KILLING   all processes with the mark of a task of these nodes, in rounds, because killed
 *             processes may have started others
 *   UNMOUNTING
 *   REMOVING  if no mount is left; otherwise the directory is kept, and the daemon prints that
 *
 * A directory in a default place has a name that matches MADE_PATTERN, and contains the file
 * MADE_MARK, which daemon and remover lock. If nobody locks that file, the directory is left over,
 * and the next daemon removes it.
 */
#include "daemon/serve/ephemeral.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <mntent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/config/open_place.h"
#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "storage/folders/change.h"

#define TEXT_MAX (1024U * 1024)
/* A mount has a source, a directory and options of at most a page each; blanks take 4 bytes. */
#define LINE_MAX_OF_MOUNTS (64 * 1024)
#define ROUNDS             500 /* at most so many checks for processes that do not die, or are new */
#define ROUND_NS           10000000
#define NODES_DIR          "nodes/"
#define TASK_MARK          "BATCHAI_NODE_TASK="
/* The name of a directory that a daemon has made in a default place, and the pattern that matches
 * it. */
#define MADE_NAME    "batchaid-XXXXXX"
#define MADE_PATTERN "batchaid-??????"
#define MADE_MARK    ".ephemeral"
#define SWEEP_S      60
/* After 20 s the daemon no longer waits for the remover. */
#define END_ROUNDS   10000
#define END_ROUND_NS 2000000
/* The usual file system in memory, and the free bytes that it needs. */
#define MEMORY     "/dev/shm"
#define MEMORY_MIN (UINT64_C(1) << 30)

/* --- remaining processes and mounts --- */

/* The strings of a file of /proc, joined to one text by newlines; caller frees. NULL: it cannot be
 * read. */
static char *strings_of(const char *pid, const char *file)
{
    char path[64], *text;
    size_t n;
    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, file);
    if (fs_read(path, TEXT_MAX, &text, &n, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\0')
            text[i] = '\n';
    return text;
}

static bool mentions(const char *pid, const char *file, const char *mark, const char *nodes)
{
    char *text = strings_of(pid, file);
    bool found = text && strstr(text, mark) && strstr(text, nodes);
    free(text);
    return found;
}

/* Whether the process is an agent or supervisor of these nodes, or belongs to their tasks. The
 * command lines and environments of users' programs contain other paths of the directory, but not
 * these. */
static bool is_of_nodes(const char *pid, const char *nodes)
{
    return mentions(pid, "cmdline", "\n--root\n", nodes) ||
           mentions(pid, "environ", TASK_MARK, nodes);
}

/* Kills all processes of these nodes. Returns how many it has found. */
static size_t kill_all(const char *nodes)
{
    DIR *d = opendir("/proc");
    struct dirent *de;
    size_t n = 0;
    while (d && (de = readdir(d))) {
        long pid = strtol(de->d_name, NULL, 10);
        if (pid > 1 && (pid_t)pid != getpid() && is_of_nodes(de->d_name, nodes)) {
            kill((pid_t)pid, SIGKILL);
            n++;
        }
    }
    if (d)
        closedir(d);
    return n;
}

/* The newest mount below `dir`, because it may be on top of older ones; caller frees. NULL: none is
 * found. */
static char *last_mount(const char *dir)
{
    char *found = NULL, line[LINE_MAX_OF_MOUNTS];
    size_t len = strlen(dir);
    struct mntent m;
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    while (mounts && getmntent_r(mounts, &m, line, sizeof line))
        if (strncmp(m.mnt_dir, dir, len) == 0 && m.mnt_dir[len] == '/') {
            free(found);
            found = xstrdup(m.mnt_dir);
        }
    if (mounts)
        endmntent(mounts);
    return found;
}

static bool unmount_all(const char *dir)
{
    char *at;
    while ((at = last_mount(dir))) {
        int rc = umount2(at, MNT_DETACH | UMOUNT_NOFOLLOW);
        free(at);
        if (rc < 0)
            return false;
    }
    return true;
}

/* --- the remover ------------------------------------------------------------------------------ */

static int clear_away_one(const char *dir)
{
    const struct timespec pause = {.tv_nsec = ROUND_NS};
    char *nodes = fs_join(dir, NODES_DIR);
    for (int i = 0; i < ROUNDS && kill_all(nodes) > 0; i++)
        nanosleep(&pause, NULL);
    free(nodes);
    return unmount_all(dir) ? fs_remove_tree(dir, NULL) : -1;
}

/* Removes the open place (open_place.h) first, because only the state directory contains its
 * path. */
static int clear_away(const char *dir)
{
    char *open_place = open_place_of(dir);
    int rc = open_place ? clear_away_one(open_place) : 0;
    free(open_place);
    return rc == 0 ? clear_away_one(dir) : rc;
}

/* --- leftovers of other daemons --- */

/* Makes and locks the mark. Daemon and remover share the lock until both have ended. The mark gets
 * its final name only after it is locked. -1: error. */
static int make_mark(const char *dir)
{
    char *first = fs_join(dir, MADE_MARK ".new"), *mark = fs_join(dir, MADE_MARK);
    int fd = open(first, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) < 0 || rename(first, mark) < 0)) {
        unlink(first);
        close(fd);
        fd = -1;
    }
    free(first);
    free(mark);
    return fd;
}

static bool is_left(const char *dir)
{
    struct stat st;
    char *mark = fs_join(dir, MADE_MARK);
    int fd = lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid()
                 ? open(mark, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    bool is = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    free(mark);
    return is;
}

/* Removes, in a separate process, directories beside `own` whose daemon and remover were killed. */
static void sweep(const char *own, int alive_fd, int lock_fd)
{
    if (fork() != 0)
        return;
    alarm(SWEEP_S);
    close(alive_fd);
    close(lock_fd);
    char *place = fs_folder(own);
    DIR *d = opendir(place);
    struct dirent *de;
    while (d && (de = readdir(d))) {
        bool fits = fnmatch(MADE_PATTERN, de->d_name, 0) == 0;
        char *dir = fits ? fs_join(place, de->d_name) : NULL;
        if (dir && is_left(dir))
            clear_away(dir);
        free(dir);
    }
    _exit(0);
}

/* --- the process -------------------------------------------------------------------------------
 */

/* The process that removes the directory. It runs in a new session, because signals of a terminal
 * are for the daemon. */
static _Noreturn void remover(const char *dir, int alive_fd, int lock_fd, bool made)
{
    char byte;
    setsid();
    prctl(PR_SET_NAME, "batchaid-remove");
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null >= 0 && null != fd && dup2(null, fd) >= 0)
            close(null);
    }
    if (made)
        sweep(dir, alive_fd, lock_fd);
    while (read(alive_fd, &byte, 1) < 0 && errno == EINTR)
        ;
    _exit(clear_away(dir) == 0 ? 0 : 1);
}

/* Chooses memory if there is enough space and programs may be executed there, because jobs run
 * there. (A container usually has only 64 MiB of such memory.) */
const char *ephemeral_place(void)
{
    const char *tmp = getenv("TMPDIR");
    struct statfs f;
    struct statvfs v;
    if (tmp && *tmp)
        return tmp;
    bool is_memory = statfs(MEMORY, &f) == 0 && f.f_type == TMPFS_MAGIC;
    if (is_memory && access(MEMORY, W_OK) == 0 && statvfs(MEMORY, &v) == 0 &&
        !(v.f_flag & ST_NOEXEC) && (uint64_t)v.f_bavail * v.f_frsize >= MEMORY_MIN)
        return MEMORY;
    return "/tmp";
}

static int make_dir(const char *dir, char **out, struct err *e)
{
    if (dir) {
        if (mkdir(dir, 0700) < 0 && (errno != EEXIST || rmdir(dir) < 0 || mkdir(dir, 0700) < 0))
            return err_set(e, ERR_CONFIG, "--state-dir",
                           "--ephemeral needs a directory that does not exist yet, or is empty, "
                           "because the daemon removes it at its end: %s: %s",
                           dir, strerror(errno));
        *out = realpath(dir, NULL);
        return *out ? 0 : err_errno(e, ERR_IO, "cannot use %s", dir);
    }
    char *path = fs_join(ephemeral_place(), MADE_NAME);
    int rc = mkdtemp(path)
                 ? 0
                 : err_errno(e, ERR_IO,
                             "cannot make %s (TMPDIR or --state-dir can name another place)", path);
    *out = rc == 0 ? realpath(path, NULL) : NULL;
    free(path);
    return rc == 0 && !*out ? err_errno(e, ERR_IO, "cannot use the temporary directory") : rc;
}

int ephemeral_begin(const char *dir, struct ephemeral *out, struct err *e)
{
    int fds[2];
    *out = (struct ephemeral)EPHEMERAL_NONE;
    if (make_dir(dir, &out->dir, e) < 0)
        return -1;
    assert(out->dir);
    out->lock_fd = dir ? -1 : make_mark(out->dir);
    if (pipe2(fds, O_CLOEXEC) == 0) {
        out->remover = fork();
        if (out->remover == 0) {
            close(fds[1]);
            remover(out->dir, fds[0], out->lock_fd, !dir);
        }
        close(fds[0]);
        out->alive_fd = fds[1];
    }
    if (out->alive_fd >= 0 && out->remover > 0)
        return 0;
    err_errno(e, ERR_IO, "cannot start the process that removes %s", out->dir);
    (void)clear_away(out->dir);
    return -1;
}

void ephemeral_files(struct files *f, bool ephemeral, bool sync, const char *folder,
                     const struct log *log)
{
    if (!ephemeral && sync)
        return;
    files_without_sync(f);
    LOG_INFO(log, "storage.sync_disabled",
             LF_STR("why", ephemeral ? "--ephemeral: for tests only"
                                     : "storage.sync is false: for tests only"));
    if (ephemeral && files_in_memory(f, folder))
        LOG_DEBUG(log, "storage.without_workers", LF_STR("folder", folder));
}

void ephemeral_end(struct ephemeral *p)
{
    const struct timespec pause = {.tv_nsec = END_ROUND_NS};
    int status = 0;
    pid_t got = 0;
    if (p->alive_fd >= 0)
        close(p->alive_fd);
    for (int i = 0; i < END_ROUNDS && p->remover > 0; i++) {
        got = waitpid(p->remover, &status, WNOHANG);
        if (got > 0 || (got < 0 && errno != EINTR))
            break;
        nanosleep(&pause, NULL);
    }
    if (p->remover > 0 && (got == 0 || status != 0))
        fprintf(stderr,
                "batchaid: %s was not removed: a file in it is in use, or a mount is below it\n",
                p->dir);
    if (p->lock_fd >= 0)
        close(p->lock_fd);
    free(p->dir);
    *p = (struct ephemeral)EPHEMERAL_NONE;
}
