/* SPDX-License-Identifier: MIT
 *
 * State: the folder of the file, and the partial file in it. The partial file has a random name
 * that ends in ".part".
 *
 *   open -> write... -> end, whole: renamed; not whole, or a signal: removed
 *
 * One file is written at a time; `under_way` is static, because the signal handler needs it. The
 * caller owns struct get_file. Runs on the only thread of a command.
 */
#include "daemon/cli/get_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ENDING = sizeof ending / sizeof ending[0] };

/* The partial file that the signal handler removes; only one is written at a time. */
static struct get_file *volatile under_way;
static struct sigaction before[N_ENDING];

static void on_end(int signo)
{
    if (under_way && *under_way->partial)
        (void)unlinkat(under_way->dir, under_way->partial, 0);
    signal(signo, SIG_DFL);
    raise(signo);
}

/* Sets the signal handler; signals that are ignored, for example by nohup, stay ignored. */
static void watch_signals(struct get_file *f)
{
    const struct sigaction on = {.sa_handler = on_end};
    under_way = f;
    for (size_t i = 0; i < N_ENDING; i++) {
        sigaction(ending[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(ending[i], &on, NULL);
    }
}

static void leave_signals(void)
{
    for (size_t i = 0; under_way && i < N_ENDING; i++)
        sigaction(ending[i], &before[i], NULL);
    under_way = NULL;
}

/* Opens the folder `name` in `dir`; makes the folder if it is missing. Closes `dir`. */
static int enter(int dir, const char *name)
{
    int made = mkdirat(dir, name, 0777);
    int next = made < 0 && errno != EEXIST
                   ? -1
                   : openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int why = errno;
    close(dir);
    errno = why;
    return next;
}

/* Opens the folder that contains `name`, below `root`; *last: the last part of the name. */
static int open_folder(const char *root, const char *name, const char **last)
{
    int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *slash;
    for (; dir >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
        char part[sizeof((struct get_file *)0)->name];
        size_t n = (size_t)(slash - name);
        if (n >= sizeof part) {
            close(dir);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(part, name, n);
        part[n] = '\0';
        dir = enter(dir, part);
    }
    *last = name;
    return dir;
}

/* Checks that nothing has the final name yet, or only a file that may be replaced. */
static int look_at_place(struct get_file *f)
{
    struct stat st;
    if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -1;
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : S_ISLNK(st.st_mode) ? ELOOP : EEXIST;
        return -1;
    }
    f->mode = st.st_mode & 0777;
    return faccessat(f->dir, f->name, W_OK, 0);
}

static int open_partial(struct get_file *f)
{
    unsigned char bytes[8];
    char hex[2 * sizeof bytes + 1];
    randombytes_buf(bytes, sizeof bytes);
    snprintf(f->partial, sizeof f->partial, ".batchaid-%s.part",
             sodium_bin2hex(hex, sizeof hex, bytes, sizeof bytes));
    watch_signals(f);
    f->fd = openat(f->dir, f->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return f->fd < 0 || (f->mode && fchmod(f->fd, f->mode) < 0) ? -1 : 0;
}

/* Closes all descriptors, and removes the partial file. */
static void drop(struct get_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (*f->partial)
        (void)unlinkat(f->dir, f->partial, 0);
    leave_signals();
    if (f->dir >= 0)
        close(f->dir);
}

static int open_last(struct get_file *f, const char *last)
{
    if (strlen(last) >= sizeof f->name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(f->name, last, strlen(last) + 1);
    return look_at_place(f) < 0 ? -1 : open_partial(f);
}

int get_file_open(const char *root, const char *name, struct get_file *out, struct err *e)
{
    const char *last = NULL;
    *out = (struct get_file){.dir = -1, .fd = -1};
    if (!fs_path_is_safe(name))
        return err_set(e, ERR_CONFIG, NULL,
                       "'%.200s' leads out of the folder, so it was not written", name);
    if (fs_mkdirs(root, 0777, e) < 0)
        return -1;
    out->dir = open_folder(root, name, &last);
    if (out->dir >= 0 && open_last(out, last) == 0)
        return 0;
    err_errno(e, ERR_IO, "%.200s/%.200s cannot be written", root, name);
    drop(out);
    return -1;
}

int get_file_write(void *file, const void *bytes, size_t n)
{
    struct get_file *f = file;
    int rc = fs_write_all(f->fd, bytes, n);
    if (rc < 0)
        f->trouble = errno;
    else
        f->bytes += (int64_t)n;
    return rc;
}

int get_file_end(struct get_file *f, bool whole, struct err *e)
{
    int fd = f->fd, rc = 0;
    f->fd = -1;
    errno = f->trouble;
    if (f->trouble || (close(fd) < 0 && whole))
        rc = err_errno(e, ERR_IO, "it cannot be written");
    else if (whole && renameat(f->dir, f->partial, f->dir, f->name) < 0)
        rc = err_errno(e, ERR_IO, "it cannot be written");
    else if (whole)
        *f->partial = '\0'; /* the file has its final name, so drop() must remove nothing */
    drop(f);
    return rc;
}
