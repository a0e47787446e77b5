/* SPDX-License-Identifier: MIT
 *
 * Reads and writes the folder of a share or container as an object whose members are paths. Links,
 * and everything else that is no regular file, are left out. An empty directory of a share is a
 * member too: its path ends with /, its value is an empty object.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/testing/seed/steps.h"
#include "lib/fs.h"
#include "lib/jsontext.h"
#include "lib/strbuf.h"
#include "model/resource.h"
#include "model/spec.h"
#include "storage/folders/change.h"

/* levels of directories, as in Azure Files; a walk keeps one open descriptor for each */
#define DEPTH_MAX     250
#define PATH_LENGTH   2048
#define BLOB_NAME_MAX 1024
#define NS_PER_S      INT64_C(1000000000)
#define FILE_MODE     0666 /* writable for all, because jobs of other accounts write to shares */
#define DIR_MODE      0777

/* --- checks ----------------------------------------------------------------------------------- */

static bool good_path(const char *path)
{
    int names = 0;
    for (const char *p = path; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL) {
        size_t n = strcspn(p, "/");
        if (++names > DEPTH_MAX + 1 || n == 0 || n > NAME_MAX || (n == 1 && *p == '.') ||
            (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
    }
    return *path != '\0' && strlen(path) <= PATH_LENGTH;
}

static bool is_directory(const char *path, enum seed_files what)
{
    size_t n = strlen(path);
    return what == SEED_SHARE_FILES && n > 1 && path[n - 1] == '/';
}

static int check_directory(const char *path, const json_t *v, struct err *e)
{
    struct strbuf inside = STRBUF_INIT;
    strbuf_concat(&inside, path, "f");
    bool good = good_path(inside.s) && json_is_object(v) && json_object_size(v) == 0;
    strbuf_free(&inside);
    return good ? 0
                : err_set(e, ERR_INVALID_PROPERTY, NULL,
                          "'%.200s' ends with /, so it must be an empty directory: names with one "
                          "/ between them, and the value {}.",
                          path);
}

static char *decoded(const json_t *coded, size_t *n)
{
    const char *text = json_string_value(coded);
    size_t room = json_string_length(coded) / 4 * 3 + 4;
    char *bytes = xcalloc(1, room);
    if (text && sodium_base642bin((unsigned char *)bytes, room, text, strlen(text), NULL, n, NULL,
                                  sodium_base64_VARIANT_ORIGINAL) == 0)
        return bytes;
    free(bytes);
    return NULL;
}

char *seed_file_bytes(const json_t *v, size_t *n)
{
    const json_t *text = json_is_object(v) ? json_object_get(v, "text") : v;
    const json_t *coded = json_object_get(v, "base64");
    if (coded)
        return text && json_is_object(v) ? NULL : decoded(coded, n);
    if (!json_is_string(text))
        return NULL;
    *n = json_string_length(text);
    char *bytes = xcalloc(1, *n + 1);
    memcpy(bytes, json_string_value(text), *n); /* memcpy(), because the text may contain a NUL */
    return bytes;
}

static int check_file(const char *path, const json_t *v, enum seed_files what, struct err *e)
{
    size_t n;
    if (is_directory(path, what))
        return check_directory(path, v, e);
    if (!good_path(path) && (what != SEED_BLOBS || !*path || strlen(path) > BLOB_NAME_MAX))
        return err_set(
            e, ERR_INVALID_PROPERTY, NULL,
            "'%.200s' is not a valid path of a file: names with one / between them, none of "
            "which is . or ..",
            path);
    char *bytes = seed_file_bytes(v, &n);
    free(bytes);
    if (!bytes)
        return err_set(e, ERR_INVALID_PROPERTY, NULL,
                       "'%.200s' must be a text, or {\"text\": TEXT} or {\"base64\": TEXT}.", path);
    return json_is_object(v) ? seed_note_check(path, v, what, e) : 0;
}

int seed_files_check(const json_t *files, enum seed_files what, struct err *e)
{
    const char *path;
    json_t *v;
    if (!json_is_object(files))
        return err_set(e, ERR_INVALID_PROPERTY, NULL,
                       "The files must be a mapping from paths to contents.");
    json_object_foreach((json_t *)files, path, v) {
        if (check_file(path, v, what, e) < 0)
            return -1;
    }
    return 0;
}

/* --- writing -----------------------------------------------------------------------------------
 */

/* Opens the directory that contains the last name of a path. Creates missing directories, unless
 * `there`: then all must exist. -1: error. */
static int open_above(const char *folder, const char *path, bool there, const char **last)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash; fd >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        char name[NAME_MAX + 1];
        memcpy(name, path, (size_t)(slash - path));
        name[slash - path] = '\0';
        int below = -1;
        if (there || mkdirat(fd, name, DIR_MODE) == 0 || errno == EEXIST)
            below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0 && !there)
            (void)fchmod(below, DIR_MODE);
        close(fd);
        fd = below;
    }
    *last = path;
    return fd;
}

static int write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -1;
        bytes += done;
        n -= (size_t)done;
    }
    return fchmod(fd, FILE_MODE);
}

/* Sets the error of a failed write, by errno. */
static int not_written(const char *path, struct err *e)
{
    if (errno != ENOTDIR && errno != EISDIR)
        return err_errno(e, ERR_IO, "'%.200s' cannot be written", path);
    return err_set(e, ERR_INVALID_PROPERTY, NULL, "'%.200s' is below a path that is a file.", path);
}

/* Creates the directories of a path up to its last /. */
static int write_directory(const struct seed_folder *f, const char *path, struct err *e)
{
    const char *last;
    int fd = open_above(f->path, path, false, &last);
    if (fd < 0)
        return not_written(path, e);
    close(fd);
    return 0;
}

/* Writes a file, and sets *facts to the facts of the written file. */
static int write_file(const char *folder, const char *path, const json_t *v, int64_t time_ns,
                      struct stat *facts)
{
    const char *last;
    size_t n = 0;
    char *bytes = seed_file_bytes(v, &n);
    int above = open_above(folder, path, false, &last), fd = -1, rc = -1;
    if (above >= 0)
        fd = openat(above, last, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (fd >= 0 && bytes && write_all(fd, bytes, n) == 0) {
        if (time_ns != FILES_TIME_KEPT)
            fs_set_mtime(fd, time_ns);
        rc = fstat(fd, facts);
    }
    int why = errno;
    if (fd >= 0 && close(fd) < 0 && rc == 0)
        rc = -1;
    else
        errno = why;
    why = errno;
    if (above >= 0)
        close(above);
    free(bytes);
    errno = why;
    return rc;
}

/* Whether the blob's file must be in the hidden folder ("aside"), as after a PUT: its name cannot
 * be the name of a file, or a file or directory is in the way (errno). */
static bool goes_aside(const struct seed_folder *f, const char *path)
{
    return f->what == SEED_BLOBS && (!good_path(path) || errno == ENOTDIR || errno == EISDIR);
}

static int write_one(const struct seed_folder *f, const char *path, const json_t *v,
                     struct seed_written *out, struct err *e)
{
    struct stat facts;
    unsigned char random[16];
    char name[2 * sizeof random + 1];
    if (is_directory(path, f->what))
        return write_directory(f, path, e);
    errno = 0;
    int rc = good_path(path) ? write_file(f->path, path, v, f->time_ns, &facts) : -1;
    if (rc < 0 && goes_aside(f, path)) {
        randombytes_buf(random, sizeof random);
        sodium_bin2hex(name, sizeof name, random, sizeof random);
        snprintf(out->aside, sizeof out->aside, SHARE_ASIDE "/%lld/%s", (long long)f->share_id,
                 name);
        rc = write_file(f->account, out->aside, v, f->time_ns, &facts);
    }
    if (rc < 0)
        return not_written(path, e);
    out->inode = (int64_t)facts.st_ino;
    out->size = facts.st_size;
    out->mtime_ns = facts.st_mtim.tv_sec * NS_PER_S + facts.st_mtim.tv_nsec;
    return 0;
}

static void unwrite(const char *folder, const char *path)
{
    const char *last;
    int above = open_above(folder, path, true, &last);
    if (above >= 0) {
        (void)unlinkat(above, last, 0);
        close(above);
    }
}

void seed_files_unwrite(const struct seed_folder *f)
{
    const char *path;
    json_t *v;
    const struct seed_written *w = f->written;
    json_object_foreach((json_t *)f->files, path, v) {
        if (*w->aside)
            unwrite(f->account, w->aside);
        else if (good_path(path))
            unwrite(f->path, path);
        w++;
    }
}

static int sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : syncfs(fd);
    if (fd >= 0)
        close(fd);
    return rc;
}

int seed_files_write(const struct seed_folder *f, struct err *e)
{
    const char *path;
    json_t *v;
    size_t i = 0;
    json_object_foreach((json_t *)f->files, path, v) {
        if (write_one(f, path, v, &f->written[i++], e) < 0)
            return -1;
    }
    return !f->sync || sync_folder(f->path) == 0 ? 0 : err_errno(e, ERR_IO, "%.200s", f->path);
}

/* --- reading -----------------------------------------------------------------------------------
 */

struct file_walk {
    json_t *out;
    size_t *left;
    bool directories;   /* whether empty directories are added too */
    struct strbuf path; /* path relative to the folder */
    struct err *e;
};

static json_t *coded(const char *bytes, size_t n)
{
    size_t room = sodium_base64_encoded_len(n, sodium_base64_VARIANT_ORIGINAL);
    char *text = xcalloc(1, room);
    sodium_bin2base64(text, room, (const unsigned char *)bytes, n, sodium_base64_VARIANT_ORIGINAL);
    json_t *v = json_pack("{s:s}", "base64", text);
    free(text);
    return v;
}

json_t *seed_file_value(const char *bytes, size_t n)
{
    return jsontext_is_utf8(bytes, n) && !memchr(bytes, '\0', n) ? json_stringn(bytes, n)
                                                                 : coded(bytes, n);
}

static int too_much(const struct file_walk *w)
{
    return err_set(w->e, ERR_INVALID_CONTENT, NULL,
                   "The files of shares and containers are too large for a dump.");
}

static int read_bytes(struct file_walk *w, int fd, size_t size, struct strbuf *b)
{
    ssize_t n;
    if (size > *w->left)
        return too_much(w);
    do {
        n = read(fd, strbuf_room(b, size + 1), size + 1);
        if (n > 0)
            b->len += (size_t)n;
    } while ((n > 0 || (n < 0 && errno == EINTR)) && b->len <= *w->left);
    if (n < 0)
        return err_errno(w->e, ERR_IO, "'%.200s' cannot be read", w->path.s);
    if (b->len > *w->left)
        return too_much(w);
    *w->left -= b->len;
    return 0;
}

static int read_file(struct file_walk *w, int fd, size_t size)
{
    struct strbuf b = STRBUF_INIT;
    int rc = read_bytes(w, fd, size, &b);
    if (rc == 0)
        json_object_set_new(w->out, w->path.s, seed_file_value(b.s ? b.s : "", b.len));
    strbuf_free(&b);
    return rc;
}

int seed_archive_read(const char *path, size_t *left, json_t *into, struct err *e)
{
    struct file_walk w = {.left = left, .path = STRBUF_INIT, .e = e};
    struct strbuf b = STRBUF_INIT;
    struct stat s;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    strbuf_puts(&w.path, path);
    int rc = fd < 0 || fstat(fd, &s) < 0 ? err_errno(e, ERR_IO, "'%.200s' cannot be read", path)
                                         : read_bytes(&w, fd, (size_t)s.st_size, &b);
    if (rc == 0) {
        json_t *v = coded(b.s ? b.s : "", b.len);
        json_object_update(into, v);
        json_decref(v);
    }
    if (fd >= 0)
        close(fd);
    strbuf_free(&b);
    strbuf_free(&w.path);
    return rc;
}

static int walk_folder(struct file_walk *w, int fd, int depth);

/* Takes fd. */
static int walk_directory(struct file_walk *w, int fd, int depth)
{
    size_t before = json_object_size(w->out), len = w->path.len;
    if (walk_folder(w, fd, depth) < 0)
        return -1;
    strbuf_cut(&w->path, len);
    if (w->directories && json_object_size(w->out) == before) {
        strbuf_puts(&w->path, "/");
        json_object_set_new(w->out, w->path.s, json_object());
    }
    return 0;
}

/* Adds an entry of the directory `above`. Skips a name that is not UTF-8, because JSON cannot
 * contain it. */
static int walk_entry(struct file_walk *w, int above, const char *name, int depth)
{
    struct stat s;
    size_t len = w->path.len;
    int fd = openat(above, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc = 0;
    if (fd < 0 || !jsontext_is_utf8(name, strlen(name)) || fstat(fd, &s) < 0 ||
        !(S_ISDIR(s.st_mode) || S_ISREG(s.st_mode))) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    strbuf_concat(&w->path, len ? "/" : "", name);
    if (S_ISDIR(s.st_mode) && depth >= DEPTH_MAX) {
        close(fd);
        return err_set(w->e, ERR_INVALID_CONTENT, NULL,
                       "'%.200s...' is nested too deep for a dump: more than %d directories.",
                       w->path.s, DEPTH_MAX);
    }
    if (S_ISDIR(s.st_mode))
        return walk_directory(w, fd, depth + 1) < 0 ? -1 : (strbuf_cut(&w->path, len), 0);
    if (S_ISREG(s.st_mode))
        rc = read_file(w, fd, (size_t)s.st_size);
    close(fd);
    strbuf_cut(&w->path, len);
    return rc;
}

/* Takes fd. */
static int walk_folder(struct file_walk *w, int fd, int depth)
{
    DIR *dir = fdopendir(fd);
    int rc = 0;
    if (!dir) {
        close(fd);
        return err_errno(w->e, ERR_IO, "a folder cannot be listed");
    }
    for (const struct dirent *d; rc == 0 && (d = readdir(dir));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            rc = walk_entry(w, dirfd(dir), d->d_name, depth);
    closedir(dir);
    return rc;
}

/* Reads a blob whose file is in the hidden folder. */
static int read_aside(struct file_walk *w, const char *account, const char *aside, const char *path)
{
    struct stat s;
    char *at = fs_join(account, aside);
    int fd = open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc = 0;
    free(at);
    strbuf_cut(&w->path, 0);
    strbuf_puts(&w->path, path);
    if (fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && jsontext_is_utf8(path, strlen(path)))
        rc = read_file(w, fd, (size_t)s.st_size);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Removes the MD5 from a row if the file has changed since the row was written. */
static void check_md5(const char *folder, const char *account, struct share_item *i)
{
    struct stat s;
    char *at = i->aside ? fs_join(account, i->aside) : fs_join(folder, i->path);
    if (stat(at, &s) < 0 || (int64_t)s.st_ino != i->inode || s.st_size != i->size ||
        s.st_mtim.tv_sec * NS_PER_S + s.st_mtim.tv_nsec != i->mtime_ns)
        i->md5 = NULL;
    free(at);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void seed_files_code(json_t *files, const char *word)
{
    void *next;
    const char *path;
    json_t *v;
    json_object_foreach_safe(files, next, path, v) {
        const char *text = json_string_value(v);
        if (word && text && strcasestr(text, word))
            json_object_set_new(files, path, coded(text, json_string_length(v)));
    }
}

void seed_files_sort(json_t *files)
{
    size_t n = 0;
    const char **name = xcalloc(json_object_size(files) + 1, sizeof *name), *one;
    json_t *all = json_object(), *v;
    json_object_foreach(files, one, v) {
        name[n++] = one;
    }
    qsort(name, n, sizeof *name, by_name);
    for (size_t i = 0; i < n; i++)
        json_object_set(all, name[i], json_object_get(files, name[i]));
    free(name);
    json_object_clear(files);
    json_object_update(files, all);
    json_decref(all);
}

int seed_files_read(const struct seed_source *f, size_t *left, json_t **out, struct err *e)
{
    struct file_walk w = {.out = json_object(),
                          .left = left,
                          .directories = f->directories,
                          .path = STRBUF_INIT,
                          .e = e};
    int fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? (errno == ENOENT ? 0 : err_errno(e, ERR_IO, "%.200s", f->path))
                    : walk_folder(&w, fd, 0);
    for (size_t i = 0; i < f->n_items && rc == 0; i++) {
        if (f->items[i].aside)
            rc = read_aside(&w, f->account, f->items[i].aside, f->items[i].path);
        if (f->items[i].md5)
            check_md5(f->path, f->account, &f->items[i]);
    }
    strbuf_free(&w.path);
    seed_files_sort(w.out);
    *out = w.out;
    if (rc < 0)
        json_decref(w.out);
    return rc;
}
