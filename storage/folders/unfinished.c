/* SPDX-License-Identifier: MIT
 *
 * States of a file: open (without a name, or with a name that marks it as unfinished) > written >
 * in its place by a link or a rename, or abandoned and removed. An unfinished file of a killed
 * daemon has this mark in its name, and nobody holds its lock; unfinished_sweep() removes it. Runs
 * on workers; the descriptor belongs to the struct.
 */
#include "storage/folders/unfinished_priv.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/crc64.h"
#include "lib/fs.h"

/* Written bytes are sent to the disk in windows of this size, at most two at a time. So the last
 * sync is short, and workers do not seem to hang in it. */
#define WINDOW (8 * 1024 * 1024)
/* How often the directory is opened, or made, that another request removes meanwhile. */
#define TRIES 10

struct unfinished *unfinished_new(const struct files_upload *what, bool sync, int64_t time_ns)
{
    struct unfinished *u = xcalloc(1, sizeof *u);
    *u = (struct unfinished){.share = xstrdup(what->at.share),
                             .path = xstrdup(what->at.path),
                             .beside = what->beside ? xstrdup(what->beside) : NULL,
                             .mode = what->mode,
                             .directory_mode = what->directory_mode,
                             .is_new = what->is_new,
                             .in_there = what->in_there,
                             .wants_md5 = what->wants_md5,
                             .has_crc64 = what->has_crc64,
                             .wants_crc64 = what->has_crc64 || what->wants_crc64,
                             .crc64_wanted = what->crc64,
                             .zeros = what->zeros,
                             .has_time = what->has_time,
                             .mtime_ns = what->mtime_ns,
                             .sync = sync,
                             .later = what->later && sync && time_ns == FILES_TIME_KEPT,
                             .time_ns = time_ns,
                             .is_brief = what->later,
                             .fd = -1,
                             .dir = -1,
                             .above = -1,
                             .replaced = -1};
    return u;
}

void unfinished_free(struct unfinished *u)
{
    if (!u)
        return;
    free(u->share);
    free(u->path);
    free(u->beside);
    free(u->name);
    free(u);
}

void unfinished_give_up(struct unfinished *u)
{
    if (u->name)
        unlinkat(u->dir, u->name, 0);
    if (u->dir >= 0)
        close(u->dir);
    if (u->fd >= 0)
        close(u->fd);
    if (u->above >= 0)
        close(u->above);
    if (u->replaced >= 0)
        close(u->replaced);
    if (u->md5)
        gnutls_hash_deinit(u->md5, NULL);
    u->md5 = NULL;
    u->dir = u->above = u->replaced = u->fd = -1;
}

static enum file_fault failed(struct unfinished *u, enum file_fault fault)
{
    if (fault && !u->fault) {
        u->fault = fault;
        u->error = errno;
    }
    errno = u->error;
    return u->fault;
}

/* --- beginning -------------------------------------------------------------------------------- */

static bool is_same_mount(int a, int b)
{
    struct statx x, y;
    return statx(a, "", AT_EMPTY_PATH, STATX_MNT_ID, &x) == 0 &&
           statx(b, "", AT_EMPTY_PATH, STATX_MNT_ID, &y) == 0 && x.stx_mnt_id == y.stx_mnt_id &&
           x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor;
}

/* Opens a directory in which the unfinished file may have a name, and from which it can be renamed
 * into `dir`. */
static int open_beside(const struct unfinished *u, int dir)
{
    int fd = u->beside ? open(u->beside, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0 && is_same_mount(fd, dir))
        return fd;
    if (fd >= 0)
        close(fd);
    return openat(dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static char *new_name(void)
{
    char name[sizeof PLACE_UNFINISHED + 16];
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        abort();
    snprintf(name, sizeof name, PLACE_UNFINISHED "%016llx", (unsigned long long)random);
    return xstrdup(name);
}

static bool has_no_unnamed(int error)
{
    return error == EOPNOTSUPP || error == EISDIR || error == EINVAL || error == ENOSYS;
}

/* Locks an unfinished file to show that it has a writer. False: unfinished_sweep() came first and
 * has removed the file. On a file system without locks, nothing is swept. */
static bool lock(int fd)
{
    struct stat st;
    return flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0 || st.st_nlink > 0;
}

static int open_named(struct unfinished *u)
{
    for (;;) {
        u->name = new_name();
        u->fd =
            openat(u->dir, u->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, u->mode);
        if (u->fd >= 0 && lock(u->fd))
            return u->fd;
        free(u->name); /* there is no name to remove */
        u->name = NULL;
        if (u->fd < 0)
            return -1;
        close(u->fd);
    }
}

static int open_new(struct unfinished *u, int dir)
{
    u->fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, u->mode);
    if (u->fd >= 0 || !has_no_unnamed(errno))
        return u->fd;
    u->dir = open_beside(u, dir);
    return u->dir < 0 ? -1 : open_named(u);
}

/* Lets the file begin with zeros, which need no sync. */
static int begin_with_zeros(struct unfinished *u)
{
    if (u->zeros > INT64_MAX) {
        errno = EFBIG;
        return -1;
    }
    u->size = u->sent = u->safe = u->zeros;
    return u->zeros > 0 ? ftruncate(u->fd, (off_t)u->zeros) : 0;
}

/* Opens the file near its place; *dir: the directory, or -1. */
static int open_near(struct unfinished *u, int *dir, bool *is_above)
{
    for (int i = 1;; i++) {
        *dir = place_open_nearest(u->share, u->path, is_above);
        if (*dir < 0 || open_new(u, *dir) >= 0)
            return *dir;
        if (i == TRIES || u->dir >= 0 || !place_was_removed(*dir))
            return -1;
        close(*dir);
    }
}

enum file_fault unfinished_begin(struct unfinished *u)
{
    if (!*u->path || !place_is_good(u->path))
        return failed(u, FILE_BAD_NAME);
    bool is_above;
    int dir, rc = open_near(u, &dir, &is_above);
    if (dir < 0)
        return failed(u, errno == ENOTDIR ? FILE_PARENT_MISSING : fault_of(errno));
    if (rc < 0 || fchmod(u->fd, u->mode) < 0 || begin_with_zeros(u) < 0)
        failed(u, fault_of(errno));
    if (is_above && !u->fault && u->is_brief && (u->later || !u->sync))
        u->above = dir; /* so the directory need not be opened once more */
    else
        close(dir);
    u->later = u->later && !u->fault && place_syncs_whole(u->fd);
    u->sync = u->sync && !u->later;
    if (!u->fault && u->wants_md5 && gnutls_hash_init(&u->md5, GNUTLS_DIG_MD5) < 0)
        failed(u, FILE_BROKEN);
    return u->fault;
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* Calls sync_file_range(); returns errno. 0 if the file system does not support it: then the last
 * sync does the work. */
static int to_disk(int fd, uint64_t from, uint64_t to, unsigned how)
{
    if (from == to || sync_file_range(fd, (off_t)from, (off_t)(to - from), how) == 0)
        return 0;
    return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == ESPIPE ? 0 : errno;
}

/* Waits until the previous window is on disk, then starts to write the next. */
static int window_out(struct unfinished *u, uint64_t end)
{
    int error =
        to_disk(u->fd, u->safe, u->sent,
                SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    u->safe = u->sent;
    if (!error && end > u->sent)
        error = to_disk(u->fd, u->sent, end, SYNC_FILE_RANGE_WRITE);
    u->sent = end;
    return error;
}

static int windows_out(struct unfinished *u)
{
    int error = 0;
    while (u->sync && !error && u->size - u->sent >= WINDOW)
        error = window_out(u, u->sent + WINDOW);
    return error;
}

bool unfinished_hashes(const struct unfinished *u)
{
    return u->wants_md5 || u->wants_crc64;
}

void unfinished_hash(struct unfinished *u, const char *bytes, size_t n)
{
    if (u->md5)
        gnutls_hash(u->md5, bytes, n);
    if (u->wants_crc64)
        u->crc64 = crc64_add(u->crc64, bytes, n);
}

enum file_fault unfinished_write(struct unfinished *u, const char *bytes, size_t n)
{
    if (u->fault)
        return failed(u, u->fault);
    errno = place_write(u->fd, bytes, n, u->size);
    u->size += n;
    if (!errno)
        errno = windows_out(u);
    return failed(u, fault_of(errno));
}

enum file_fault unfinished_add(struct unfinished *u, const char *bytes, size_t n)
{
    if (!u->fault)
        unfinished_hash(u, bytes, n);
    return unfinished_write(u, bytes, n);
}

bool unfinished_settle(struct unfinished *u)
{
    if (!u->sync || u->fault || u->size - u->safe <= WINDOW)
        return false;
    errno = window_out(u, u->size - u->sent > WINDOW ? u->sent + WINDOW : u->size);
    return !failed(u, fault_of(errno)) && u->size - u->safe > WINDOW;
}

/* --- copies ----------------------------------------------------------------------------------- */

static bool cannot_copy(int error)
{
    return error == EXDEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP ||
           error == EBADF || error == ETXTBSY || error == EPERM;
}

/* Copies through memory: for hashes, or if the kernel cannot copy. */
static ssize_t carry(struct unfinished *u, int from, uint64_t offset, uint64_t max)
{
    size_t n = max < FILES_PIECE_MAX ? (size_t)max : FILES_PIECE_MAX;
    char *bytes = xrealloc(NULL, n);
    ssize_t got = pread(from, bytes, n, (off_t)offset);
    int error = got < 0 ? errno : place_write(u->fd, bytes, (size_t)got, u->size);
    if (got > 0 && !error)
        unfinished_hash(u, bytes, (size_t)got);
    free(bytes);
    errno = error;
    return error ? -1 : got;
}

/* Copies some bytes of data, up to the next hole. */
static ssize_t copy_some(struct unfinished *u, int from, uint64_t offset, uint64_t max)
{
    off_t in = (off_t)offset, out = (off_t)u->size;
    bool hashes = unfinished_hashes(u);
    off_t hole = hashes ? -1 : lseek(from, in, SEEK_HOLE);
    if (hole > in && (uint64_t)(hole - in) < max)
        max = (uint64_t)(hole - in);
    ssize_t n = hashes ? -1 : copy_file_range(from, &in, u->fd, &out, (size_t)max, 0);
    if (n < 0 && (hashes || cannot_copy(errno)))
        n = carry(u, from, offset, max);
    if (n > 0)
        u->size += (uint64_t)n;
    return n;
}

/* How much of the next `max` bytes is a hole. */
static uint64_t hole_at(const struct unfinished *u, int from, uint64_t offset, uint64_t max)
{
    if (unfinished_hashes(u))
        return 0;
    off_t data = lseek(from, (off_t)offset, SEEK_DATA), end;
    if (data < 0 && errno == ENXIO) { /* there is no more data */
        end = lseek(from, 0, SEEK_END);
        data = end > (off_t)offset ? end : (off_t)offset;
    }
    if (data < (off_t)offset)
        return 0;
    uint64_t hole = (uint64_t)data - offset;
    return hole < max ? hole : max;
}

static enum file_fault skip_hole(struct unfinished *u, uint64_t hole)
{
    bool is_large = u->sync && hole >= WINDOW;
    if (hole > (uint64_t)INT64_MAX - u->size)
        return FILE_TOO_LARGE;
    errno = is_large ? window_out(u, u->size) : 0;
    if (errno)
        return fault_of(errno);
    u->size += hole;
    if (is_large)
        u->sent = u->size;
    return ftruncate(u->fd, (off_t)u->size) < 0 ? fault_of(errno) : FILE_FINE;
}

enum file_fault unfinished_copy(struct unfinished *u, int from, uint64_t *offset, uint64_t *left,
                                uint64_t max)
{
    while (!u->fault && *left > 0 && max > 0) {
        uint64_t done = hole_at(u, from, *offset, *left);
        if (done > 0) {
            failed(u, skip_hole(u, done));
        } else {
            ssize_t n = copy_some(u, from, *offset, *left < max ? *left : max);
            if (n < 0)
                return failed(u, fault_of(errno));
            if (n == 0 && *left != FILES_ALL)
                return failed(u, FILE_BEYOND_END);
            if (n == 0)
                *left = 0;
            done = (uint64_t)n;
            max -= done;
        }
        *offset += done;
        *left -= *left == FILES_ALL ? 0 : done;
        errno = windows_out(u);
        failed(u, fault_of(errno));
    }
    return failed(u, u->fault);
}

/* --- into place ------------------------------------------------------------------------------- */

static int link_to(const struct unfinished *u, int dir, const char *name)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", u->fd);
    return linkat(AT_FDCWD, link, dir, name, AT_SYMLINK_FOLLOW);
}

/* Gives a file without a name a temporary name, so that it can be renamed. */
static int get_name(struct unfinished *u, int dir)
{
    u->dir = open_beside(u, dir);
    if (u->dir < 0)
        return -1;
    u->name = new_name();
    lock(u->fd);
    if (link_to(u, u->dir, u->name) == 0)
        return 0;
    free(u->name);
    u->name = NULL;
    return -1;
}

static int rename_to(struct unfinished *u, int dir, const char *name, bool replaces)
{
    int rc = replaces ? renameat(u->dir, u->name, dir, name)
                      : place_rename_new(u->dir, u->name, dir, name);
    if (rc < 0)
        return -1;
    flock(u->fd, LOCK_UN); /* a process that opens it by its name may lock it */
    free(u->name);
    u->name = NULL;
    return 0;
}

/* Keeps a large file that is to be replaced open until the upload is closed, after its answer:
 * otherwise renaming would free its blocks, which takes 0.1 s for 256 MiB. Only on a local file
 * system: NFS gives a replaced file that is open another name first, so for a moment nothing has
 * the name, and a crash of the machine would leave it so. */
static void keep_replaced(struct unfinished *u, int dir, const char *name, uint64_t size)
{
    if (size >= WINDOW && u->replaced < 0 && place_syncs_whole(u->fd))
        u->replaced = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (u->replaced >= 0)
        u->replaced_size = size;
}

/* Puts the file in its place. If the place must be empty, the file is put there only if it is still
 * empty. */
static int take_place(struct unfinished *u, int dir, const char *name, bool replaces)
{
    if (!replaces && !u->name)
        return link_to(u, dir, name);
    if (!u->name && get_name(u, dir) < 0)
        return -1;
    return rename_to(u, dir, name, replaces);
}

static enum file_fault into_place(struct unfinished *u, int dir, const char *name, bool *existed)
{
    struct file_facts there;
    bool is_link = false;
    enum file_fault fault = facts_at(dir, name, &there, &is_link);
    *existed = fault != FILE_MISSING;
    if (*existed && fault && !is_link)
        return fault;
    if (*existed && !is_link && there.is_directory)
        return FILE_IS_DIRECTORY;
    if (*existed && u->is_new)
        return FILE_IS_FILE;
    if (*existed && !is_link)
        keep_replaced(u, dir, name, there.size);
    if (take_place(u, dir, name, *existed) == 0) {
        place_set_time(dir, u->time_ns);
        return FILE_FINE;
    }
    if (errno == EEXIST && !*existed && !u->is_new) /* a file has just been put there */
        return into_place(u, dir, name, existed);
    return errno == EEXIST ? FILE_IS_FILE : fault_of(errno);
}

static const char *name_of(const struct unfinished *u)
{
    const char *slash = strrchr(u->path, '/');
    return slash ? slash + 1 : u->path;
}

static int open_parent(const struct unfinished *u, const char *above)
{
    const struct new_directory how = {u->directory_mode, u->time_ns};
    return u->in_there ? fs_open_beneath(u->share, above, O_RDONLY | O_DIRECTORY)
                       : place_make_directories(u->share, above, &how, u->sync);
}

static enum file_fault into_parent(struct unfinished *u, const char *above, bool *existed)
{
    int dir = open_parent(u, above);
    if (dir < 0)
        return errno == ENOTDIR || (u->in_there && errno == ENOENT) ? FILE_PARENT_MISSING
                                                                    : fault_of(errno);
    enum file_fault fault = into_place(u, dir, name_of(u), existed);
    if (!fault && u->sync)
        fault = fault_of(errno = place_sync_directory(dir));
    int error = errno;
    if (fault == FILE_MISSING)
        place_was_removed(dir);
    close(dir);
    errno = error;
    return fault;
}

static enum file_fault into_directory(struct unfinished *u, bool *existed)
{
    enum file_fault fault = FILE_MISSING;
    /* Tries the directory that unfinished_begin() opened. If it was removed since, it is made again
     * below. */
    if (u->above >= 0 && !u->sync)
        fault = into_place(u, u->above, name_of(u), existed);
    char *above = strchr(u->path, '/') ? fs_folder(u->path) : xstrdup("");
    for (int i = 0; i < TRIES && fault == FILE_MISSING; i++)
        fault = into_parent(u, above, existed);
    int error = errno;
    free(above);
    errno = error;
    return fault;
}

void unfinished_move(struct unfinished *u, const struct file_place *to)
{
    assert(u->above < 0); /* only a small file keeps the directory of its place open */
    free(u->share);
    free(u->path);
    u->share = xstrdup(to->share);
    u->path = xstrdup(to->path);
    if (u->fault == FILE_IS_DIRECTORY || u->fault == FILE_PARENT_MISSING)
        u->fault = FILE_FINE;
}

/* Call after the last byte: compares the hashes with the expected ones. */
static enum file_fault check_hashes(struct unfinished *u, const uint8_t *md5, struct file_result *r)
{
    r->crc64 = u->crc64;
    if (u->has_crc64 && u->crc64 != u->crc64_wanted)
        return FILE_CRC64_WRONG;
    if (!u->wants_md5)
        return FILE_FINE;
    if (u->md5) /* this may be called twice: when the file is staged and when it is finished */
        gnutls_hash_deinit(u->md5, u->is);
    u->md5 = NULL;
    memcpy(r->md5, u->is, FILES_MD5);
    return md5 && memcmp(md5, u->is, FILES_MD5) != 0 ? FILE_MD5_WRONG : FILE_FINE;
}

enum file_fault unfinished_look(const struct unfinished *u, struct file_facts *out)
{
    bool is_link = false;
    enum file_fault fault =
        u->above < 0 ? FILE_MISSING : facts_at(u->above, name_of(u), out, &is_link);
    if (u->above >= 0 && !is_link)
        return fault;
    int fd;
    fault = place_find(u->share, u->path, &fd, out);
    if (!fault)
        close(fd);
    return fault;
}

enum file_fault unfinished_stage(struct unfinished *u, const uint8_t *md5, struct file_result *r)
{
    if (!u->fault)
        failed(u, check_hashes(u, md5, r));
    place_set_time(u->fd, u->has_time ? u->mtime_ns : u->time_ns);
    if (!u->fault && u->sync)
        failed(u, fault_of(errno = place_sync_data(u->fd)));
    u->is_safe = true;
    if (!u->fault)
        failed(u, facts_of(u->fd, &r->facts));
    u->device = r->facts.device;
    r->owes = u->later;
    return failed(u, u->fault);
}

enum file_fault unfinished_finish(struct unfinished *u, const uint8_t *md5, struct file_result *r)
{
    if (!u->fault)
        failed(u, check_hashes(u, md5, r));
    if (!u->is_safe)
        place_set_time(u->fd, u->has_time ? u->mtime_ns : u->time_ns);
    if (!u->fault && u->sync && !u->is_safe)
        failed(u, fault_of(errno = place_sync_data(u->fd)));
    if (!u->fault)
        failed(u, into_directory(u, &r->existed));
    if (u->above >= 0) /* only the file stays open until it is settled */
        close(u->above);
    u->above = -1;
    if (!u->fault)
        failed(u, facts_of(u->fd, &r->facts));
    return failed(u, u->fault);
}

/* --- later syncs --- */

/* Syncs each file system once for all its files; then a wait on each file shows whether the kernel
 * failed to write that file. */
int unfinished_settle_all(struct unfinished *const *all, size_t n)
{
    int error = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = all[k]->device != all[i]->device;
        if (is_first && syncfs(all[i]->fd) < 0 && !error)
            error = errno;
    }
    for (size_t i = 0; i < n; i++) {
        int own = to_disk(all[i]->fd, 0, all[i]->size, SYNC_FILE_RANGE_WAIT_BEFORE);
        error = error ? error : own;
        unfinished_give_up(all[i]);
    }
    return error;
}
