/* SPDX-License-Identifier: MIT
 *
 * Makes ROOT/ssh and its content. Each step may be repeated after a crash: the program is linked,
 * or copied if it is on another file system, and a socket gets its name only after it listens.
 */
#include "nodeagent-proto/agent/remote_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/fs.h"
#include "nodeagent-proto/wire/remote.h"

#define BACKLOG 128

/* --- the program ---------------------------------------------------------------------------- */

/* Whether the file is this program: a complete copy gets the program's modification time. */
static bool is_ours(int dir, const char *name, const struct stat *own)
{
    struct stat st;
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size == own->st_size &&
           st.st_mtim.tv_sec == own->st_mtim.tv_sec && st.st_mtim.tv_nsec == own->st_mtim.tv_nsec;
}

static int copy(int from, int to, const struct stat *own)
{
    const struct timespec times[] = {own->st_atim, own->st_mtim};
    off_t at = 0;
    while (at < own->st_size) {
        ssize_t n = sendfile(to, from, &at, (size_t)(own->st_size - at));
        if (n == 0)
            errno = EIO; /* the file became shorter while it was copied */
        if (n <= 0)
            return -1;
    }
    return fchmod(to, 0755) == 0 ? futimens(to, times) : -1;
}

/* A hard link takes no space. It needs the file system of the program, and everybody must be
 * allowed to run the program. */
static bool is_linked(int dir, const char *name, const struct stat *own)
{
    return (own->st_mode & 0005) == 0005 &&
           linkat(AT_FDCWD, "/proc/self/exe", dir, name, AT_SYMLINK_FOLLOW) == 0;
}

static int put_program(int dir, const char *name, struct err *e)
{
    static const char unfinished[] = REMOTE_NODE FS_UNFINISHED "copied";
    struct stat own;
    int rc = -1, from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = -1;
    if (from >= 0 && fstat(from, &own) == 0 &&
        (is_ours(dir, name, &own) || is_linked(dir, name, &own))) {
        close(from);
        return 0;
    }
    if (from >= 0)
        to = openat(dir, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to >= 0)
        rc = copy(from, to, &own);
    if (to >= 0 && close(to) < 0)
        rc = -1;
    if (rc == 0)
        rc = renameat(dir, unfinished, dir, name);
    if (rc < 0)
        err_errno(e, ERR_IO, "cannot put the node's program into its root");
    if (from >= 0)
        close(from);
    return rc;
}

static int put_programs(int dir, struct err *e)
{
    if (put_program(dir, REMOTE_NODE, e) < 0)
        return -1;
    if (symlinkat(REMOTE_NODE, dir, "ssh") == 0 || errno == EEXIST)
        return 0;
    return err_errno(e, ERR_IO, "cannot make the link 'ssh' in the node root");
}

/* --- the socket ----------------------------------------------------------------------------- */

/* Names the socket by the directory's descriptor, because the path of a socket has at most 107
 * bytes. */
static int name_socket(int dir, const char *job, struct sockaddr_un *out, struct err *e)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(out->sun_path, sizeof out->sun_path, "/proc/self/fd/%d/%s", dir, job);
    return n > 0 && (size_t)n < sizeof out->sun_path
               ? 0
               : err_set(e, ERR_INVALID_PROPERTY, "job", "the name '%s' is too long", job);
}

static int bind_closed(int fd, const struct sockaddr_un *to)
{
    mode_t before = umask(0177);
    int rc = bind(fd, (const struct sockaddr *)to, sizeof *to);
    umask(before);
    return rc;
}

/* Only the agent writes in `dir`, so nobody can exchange the name meanwhile. */
static int listen_in(int dir, const char *job, const struct account *as, struct err *e)
{
    struct sockaddr_un to;
    if (name_socket(dir, job, &to, e) < 0)
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)unlinkat(dir, job, 0);
    if (fd >= 0 && bind_closed(fd, &to) == 0 &&
        (!as || fchownat(dir, job, as->uid, as->gid, AT_SYMLINK_NOFOLLOW) == 0) &&
        listen(fd, BACKLOG) == 0)
        return fd;
    err_errno(e, ERR_IO, "cannot listen for remote commands of %s", job);
    if (fd >= 0)
        close(fd);
    return -1;
}

static int open_folder(const char *root, const char *name, mode_t mode, struct err *e)
{
    char *path = fs_join(root, name);
    int rc = mkdir(path, mode), fd = -1;
    if (rc == 0 || errno == EEXIST)
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fchmod(fd, mode) < 0) { /* fchmod() sets the mode, whatever the umask is */
        err_errno(e, ERR_IO, "cannot make %s", path);
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    free(path);
    return fd;
}

int remote_place(const char *root, const char *job, const struct account *as, struct err *e)
{
    int dir = open_folder(root, REMOTE_DIR, 0711, e), fd = -1;
    int bin = dir >= 0 ? open_folder(root, REMOTE_BIN, 0755, e) : -1;
    if (bin >= 0 && put_programs(bin, e) == 0)
        fd = listen_in(dir, job, as, e);
    if (bin >= 0)
        close(bin);
    if (dir >= 0)
        close(dir);
    return fd;
}

void remote_displace(const char *root, const char *job)
{
    char *dir = fs_join(root, REMOTE_DIR), *path = fs_join(dir, job);
    (void)unlink(path);
    free(path);
    free(dir);
}

/* Removes the sockets of agents that were killed. */
static void remove_sockets(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *de;
    while (d && (de = readdir(d)))
        if (de->d_type == DT_SOCK)
            (void)unlinkat(dirfd(d), de->d_name, 0);
    if (d)
        closedir(d);
}

void remote_clear(const char *root)
{
    static const char *const files[] = {REMOTE_BIN "/ssh", REMOTE_BIN "/" REMOTE_NODE};
    static const char *const folders[] = {REMOTE_BIN, REMOTE_DIR};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *path = fs_join(root, files[i]);
        (void)unlink(path);
        free(path);
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char *path = fs_join(root, folders[i]);
        remove_sockets(path);
        (void)rmdir(path);
        free(path);
    }
}
