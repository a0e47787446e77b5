/* SPDX-License-Identifier: MIT
 *
 * Finds the state directory, makes it, and takes its lock. The lock is an fcntl(2) lock on the file
 * `lock`, which contains the process id of the holder. The lock ends with the process, so a lock
 * file that is left over blocks nobody. The holder first removes files of interrupted writes. The
 * struct state owns its paths, which are in the order of the table. Runs on the main thread, before
 * the loop runs, and in commands.
 */
#include "daemon/config/state.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"

static const struct {
    size_t offset;
    const char *name;
} files[] = {
    {offsetof(struct state, lock), "lock"},
    {offsetof(struct state, endpoint), "endpoint"},
    {offsetof(struct state, db), "batchaid.db"},
    {offsetof(struct state, secret_key), "secret.key"},
    {offsetof(struct state, credentials), "credentials.json"},
    {offsetof(struct state, token_key), "token.key"},
    {offsetof(struct state, ca_cert), "ca.pem"},
    {offsetof(struct state, ca_key), "ca.key"},
    {offsetof(struct state, server_cert), "server.pem"},
    {offsetof(struct state, server_key), "server.key"},
    {offsetof(struct state, azure), "azure"},
    {offsetof(struct state, storage), "storage"},
    {offsetof(struct state, nodes), "nodes"},
    {offsetof(struct state, packages), "packages"},
    {offsetof(struct state, under_way), "under-way"},
    {offsetof(struct state, backed_up), "backed-up"}, /* its mtime is the time of the last backup */
    {offsetof(struct state, samples), "samples.db"},
};
enum { N_FILES = sizeof files / sizeof files[0] };
static_assert(offsetof(struct state, without_sync) == (N_FILES + 1) * sizeof(char *),
              "a name for each path");

static char **path_at(struct state *s, size_t i)
{
    return (char **)((char *)s + files[i].offset);
}

bool state_is_in(int dirfd, const char *name)
{
    int fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool is = fd >= 0 && faccessat(fd, "batchaid.db", F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
              faccessat(fd, "token.key", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

static const char *env_or_null(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

/* Chooses the directory; caller frees. NULL if neither option, file nor environment names one. */
static char *choose_dir(const char *given, const char *configured)
{
    if (given && *given)
        return xstrdup(given);
    if (configured && *configured)
        return xstrdup(configured);
    const char *v = env_or_null("BATCHAID_STATE_DIR");
    if (v || (v = env_or_null("STATE_DIRECTORY")))
        return xstrdup(v);
    if ((v = env_or_null("XDG_STATE_HOME")))
        return fs_join(v, "batchaid");
    if ((v = env_or_null("HOME")))
        return fs_join(v, ".local/state/batchaid");
    return NULL;
}

/* Frees `path`, and returns it as an absolute path; caller frees. NULL if there is no current
 * directory. */
static char *make_absolute(char *path)
{
    if (*path == '/')
        return path;
    char *cwd = getcwd(NULL, 0);
    char *whole = cwd ? fs_join(cwd, path) : NULL;
    free(cwd);
    free(path);
    return whole;
}

/* Resolves the symbolic links of the part of the path that exists, because nodes compare paths from
 * the daemon with the path that the kernel shows for their root. Frees `path`, which is absolute;
 * caller frees the result. */
static char *resolve(char *path)
{
    char *real = realpath(path, NULL);
    char *slash = strrchr(path, '/');
    if (real || slash == path) {
        char *whole = real ? real : xstrdup(path);
        free(path);
        return whole;
    }
    char *last = xstrdup(slash + 1);
    *slash = '\0';
    char *parent = resolve(path);
    char *whole = fs_join(parent, last);
    free(parent);
    free(last);
    return whole;
}

int state_locate(const char *given, const char *configured, struct state *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    char *dir = choose_dir(given, configured);
    if (!dir)
        return err_set(e, ERR_CONFIG, NULL,
                       "no state directory: neither --state-dir nor one of BATCHAID_STATE_DIR, "
                       "STATE_DIRECTORY, XDG_STATE_HOME and HOME is set; use --state-dir DIR");
    char *absolute = make_absolute(dir);
    if (!absolute)
        return err_errno(e, ERR_CONFIG, "cannot find the current directory");
    out->dir = resolve(absolute);
    for (size_t i = 0; i < N_FILES; i++)
        *path_at(out, i) = fs_join(out->dir, files[i].name);
    return 0;
}

void state_free(struct state *s)
{
    for (size_t i = 0; i < N_FILES; i++)
        free(*path_at(s, i));
    free(s->dir);
    memset(s, 0, sizeof *s);
}

/* The lock of the whole file. It is an open-file-description lock, because unlike flock(2) others
 * can query it without taking it; it also ends with the process. */
static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

#define PID_SIZE 32

static void read_holder(int fd, char pid[PID_SIZE])
{
    ssize_t n = fd < 0 ? 0 : pread(fd, pid, PID_SIZE - 1, 0);
    pid[n > 0 ? n : 0] = '\0';
    pid[strcspn(pid, "\n")] = '\0';
}

/* After a daemon was killed, a child that it has forked, and that has not executed its program yet,
 * still holds the lock for a moment. */
#define DYING_STEP_MS 10
#define DYING_STEPS   300

static bool holder_is_dead(int fd)
{
    char pid[PID_SIZE];
    read_holder(fd, pid);
    long n = strtol(pid, NULL, 10);
    return n > 0 && kill((pid_t)n, 0) < 0 && errno == ESRCH;
}

/* 0: the lock is taken; -1: error in errno. */
static int take_lock(int fd)
{
    struct flock lk = whole_file();
    for (int i = 0;; i++) {
        if (fcntl(fd, F_OFD_SETLK, &lk) == 0)
            return 0;
        int why = errno;
        bool held = why == EAGAIN || why == EACCES;
        if (!held || i == DYING_STEPS || !holder_is_dead(fd)) {
            errno = held ? EAGAIN : why;
            return -1;
        }
        usleep(DYING_STEP_MS * 1000);
    }
}

static int already_running(const struct state *s, int fd, struct err *e)
{
    char pid[PID_SIZE];
    read_holder(fd, pid);
    return err_set(e, ERR_ALREADY_RUNNING, NULL,
                   "a batchaid daemon (process %s) is already serving %s; stop it, or use another "
                   "--state-dir",
                   *pid ? pid : "unknown", s->dir);
}

/* Removes unfinished files of a killed daemon; some contain half a secret. */
static void remove_leftovers(const struct state *s)
{
    const char *const written[] = {s->endpoint, s->secret_key, s->credentials, s->token_key,
                                   s->ca_cert,  s->ca_key,     s->server_cert, s->server_key};
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++)
        fs_remove_leftovers(written[i]);
}

/* Some file systems have no locks of directories; there only the lock of the file protects. */
static int lock_directory(const struct state *s, struct state_lock *out, struct err *e)
{
    out->directory = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->directory < 0)
        return err_errno(e, ERR_IO, "cannot open %s", s->dir);
    int named = open(s->lock, O_RDONLY | O_CLOEXEC), rc = 0;
    for (int i = 0; flock(out->directory, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK; i++) {
        if (i == DYING_STEPS || named < 0 || !holder_is_dead(named)) {
            rc = already_running(s, named, e);
            break;
        }
        usleep(DYING_STEP_MS * 1000);
    }
    if (named >= 0)
        close(named);
    return rc;
}

/* If root makes the file, as in `batchaid restore`, the account of the service must be able to open
 * the file later. */
static int open_lock(const struct state *s)
{
    int fd = open(s->lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return open(s->lock, O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        (void)!fs_give_to_owner(fd, s->dir); /* or it stays root's, who can use it */
    return fd;
}

static int lock_file(const struct state *s, struct state_lock *out, struct err *e)
{
    int fd = out->file = open_lock(s);
    if (fd < 0)
        return err_errno(e, ERR_IO, "cannot open %s", s->lock);
    if (take_lock(fd) < 0)
        return errno == EAGAIN ? already_running(s, fd, e)
                               : err_errno(e, ERR_IO, "cannot lock %s", s->lock);
    remove_leftovers(s);
    /* The directory may exist with another mode. The permission to pass it is kept, because jobs
     * that still run may need it; state_make_dirs() sets the final mode. */
    struct stat st;
    char pid[32];
    int n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (stat(s->dir, &st) < 0 || chmod(s->dir, 0700 | (st.st_mode & 0011)) < 0 ||
        ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) != n)
        return err_errno(e, ERR_IO, "cannot claim %s", s->dir);
    return 0;
}

int state_make(const struct state *s, struct err *e)
{
    const char *slash = strrchr(s->dir, '/');
    char *above = strndup(s->dir, slash ? (size_t)(slash - s->dir) : 0);
    int rc = above && *above ? fs_mkdirs(above, geteuid() == 0 ? 0711 : 0700, e) : 0;
    free(above);
    return rc == 0 ? fs_mkdirs(s->dir, 0700, e) : -1;
}

int state_acquire(const struct state *s, struct state_lock *out, struct err *e)
{
    *out = (struct state_lock)STATE_LOCK_NONE;
    if (state_make(s, e) == 0 && lock_directory(s, out, e) == 0 && lock_file(s, out, e) == 0)
        return 0;
    state_release(out);
    return -1;
}

void state_release(struct state_lock *lock)
{
    if (lock->file >= 0)
        close(lock->file);
    if (lock->directory >= 0)
        close(lock->directory);
    *lock = (struct state_lock)STATE_LOCK_NONE;
}

/* Lets jobs, and only jobs, pass to the folders of shares, because these are open to everybody who
 * can reach them. */
static int open_to_jobs(const struct state *s, gid_t jobs, struct err *e)
{
    if (chown(s->storage, (uid_t)-1, jobs) == 0 && chmod(s->storage, 0710) == 0 &&
        chmod(s->nodes, 0755) == 0 && chmod(s->dir, 0711) == 0)
        return 0;
    return err_errno(e, ERR_IO, "cannot open %s for the accounts of jobs", s->dir);
}

int state_make_dirs(const struct state *s, gid_t jobs, struct err *e)
{
    if (fs_mkdirs(s->azure, 0700, e) < 0 || fs_mkdirs(s->storage, 0755, e) < 0 ||
        fs_mkdirs(s->nodes, 0755, e) < 0 || fs_mkdirs(s->packages, 0700, e) < 0)
        return -1;
    /* a part of the disk in which many directories were removed is slow, so fs_spread() uses
     * others */
    fs_spread(s->nodes);
    if (jobs > 0 && geteuid() == 0)
        return open_to_jobs(s, jobs, e);
    return chmod(s->dir, 0700) == 0 ? 0 : err_errno(e, ERR_IO, "cannot close %s", s->dir);
}
