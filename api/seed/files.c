/* SPDX-License-Identifier: MIT
 *
 * What is in the folder of a share or container, as a tree by path. Links and everything else that
 * is no file are left out. Folders without files are left out too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/seed/steps.h"
#include "lib/jsontext.h"
#include "lib/strbuf.h"

#define DEPTH_MAX 64
#define FILE_MODE 0666 /* jobs of other accounts write there too, as in shares in general */
#define DIR_MODE  0777

/* --- what may be written -----------------------------------------------------------------------
 */

static bool good_path(const char *path)
{
    for (const char *p = path; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL) {
        size_t n = strcspn(p, "/");
        if (n == 0 || n > NAME_MAX || (n == 1 && *p == '.') ||
            (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
    }
    return *path != '\0';
}

/* The bytes of a value; malloc. NULL: it is none. */
static char *bytes_of(const json_t *v, size_t *n)
{
    const char *text = json_string_value(v);
    if (text) {
        *n = json_string_length(v);
        return xstrdup(text);
    }
    const json_t *coded = json_object_get(v, "base64");
    text = json_string_value(coded);
    if (!text || json_object_size(v) != 1)
        return NULL;
    size_t room = json_string_length(coded) / 4 * 3 + 4;
    char *bytes = xcalloc(1, room);
    if (sodium_base642bin((unsigned char *)bytes, room, text, strlen(text), NULL, n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) == 0)
        return bytes;
    free(bytes);
    return NULL;
}

int seed_files_check(struct arena *a, const json_t *files, struct err *e)
{
    const char *path;
    json_t *v;
    (void)a;
    if (!json_is_object(files))
        return err_set(e, ERR_INVALID_PROPERTY, NULL, "Files stand by their paths.");
    json_object_foreach((json_t *)files, path, v) {
        size_t n;
        if (!good_path(path))
            return err_set(e, ERR_INVALID_PROPERTY, NULL,
                           "'%.200s' is no path of a file: names with one / between them, none of "
                           "which is . or ..",
                           path);
        char *bytes = bytes_of(v, &n);
        if (!bytes)
            return err_set(e, ERR_INVALID_PROPERTY, NULL,
                           "'%.200s' is to be a text, or {\"base64\": TEXT}.", path);
        free(bytes);
    }
    return 0;
}

/* --- writing -----------------------------------------------------------------------------------
 */

/* The directory above the last name, made as far as it is missing; -1. */
static int open_above(const char *folder, const char *path, const char **last)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash; fd >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        char name[NAME_MAX + 1];
        memcpy(name, path, (size_t)(slash - path));
        name[slash - path] = '\0';
        int below = -1;
        if (mkdirat(fd, name, DIR_MODE) == 0 || errno == EEXIST)
            below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0)
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

static int write_file(const char *folder, const char *path, const json_t *v, struct err *e)
{
    const char *last;
    size_t n = 0;
    char *bytes = bytes_of(v, &n);
    int above = open_above(folder, path, &last), fd = -1, rc = -1;
    if (above >= 0)
        fd = openat(above, last, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (fd >= 0 && bytes)
        rc = write_all(fd, bytes, n);
    if (rc < 0)
        err_errno(e, ERR_IO, "'%.200s' cannot be written", path);
    if (fd >= 0 && close(fd) < 0 && rc == 0)
        rc = err_errno(e, ERR_IO, "'%.200s' cannot be written", path);
    if (above >= 0)
        close(above);
    free(bytes);
    return rc;
}

int seed_files_write(const char *folder, const json_t *files, struct err *e)
{
    const char *path;
    json_t *v;
    json_object_foreach((json_t *)files, path, v) {
        if (write_file(folder, path, v, e) < 0)
            return -1;
    }
    return 0;
}

/* --- reading -----------------------------------------------------------------------------------
 */

struct walk {
    json_t *out;
    size_t *left;
    struct strbuf path; /* below the folder */
    struct err *e;
};

static json_t *value_of(const char *bytes, size_t n)
{
    if (jsontext_is_utf8(bytes, n) && !memchr(bytes, '\0', n))
        return json_stringn(bytes, n);
    size_t room = sodium_base64_encoded_len(n, sodium_base64_VARIANT_ORIGINAL);
    char *text = xcalloc(1, room);
    sodium_bin2base64(text, room, (const unsigned char *)bytes, n, sodium_base64_VARIANT_ORIGINAL);
    json_t *v = json_pack("{s:s}", "base64", text);
    free(text);
    return v;
}

static int too_much(const struct walk *w)
{
    return err_set(w->e, ERR_INVALID_CONTENT, NULL,
                   "The files of shares and containers are too large for a dump.");
}

static int read_file(struct walk *w, int fd, size_t size)
{
    struct strbuf b = STRBUF_INIT;
    ssize_t n;
    if (size > *w->left)
        return too_much(w);
    do {
        n = read(fd, strbuf_room(&b, size + 1), size + 1);
        if (n > 0)
            b.len += (size_t)n;
    } while ((n > 0 || (n < 0 && errno == EINTR)) && b.len <= *w->left);
    int rc = n < 0 ? err_errno(w->e, ERR_IO, "'%.200s' cannot be read", w->path.s) : 0;
    if (rc == 0 && b.len > *w->left)
        rc = too_much(w);
    if (rc == 0) {
        *w->left -= b.len;
        json_object_set_new(w->out, w->path.s, value_of(b.s ? b.s : "", b.len));
    }
    strbuf_free(&b);
    return rc;
}

static int walk_folder(struct walk *w, int fd, int depth);

/* Takes fd. A name that is no text of JSON is left out. */
static int walk_entry(struct walk *w, int above, const char *name, int depth)
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
    if (S_ISDIR(s.st_mode) && depth < DEPTH_MAX)
        return walk_folder(w, fd, depth + 1) < 0 ? -1 : (strbuf_cut(&w->path, len), 0);
    if (S_ISREG(s.st_mode))
        rc = read_file(w, fd, (size_t)s.st_size);
    close(fd);
    strbuf_cut(&w->path, len);
    return rc;
}

/* Takes fd. */
static int walk_folder(struct walk *w, int fd, int depth)
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

int seed_files_read(const char *folder, size_t *left, json_t **out, struct err *e)
{
    struct walk w = {.out = json_object(), .left = left, .path = STRBUF_INIT, .e = e};
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? (errno == ENOENT ? 0 : err_errno(e, ERR_IO, "%.200s", folder))
                    : walk_folder(&w, fd, 0);
    strbuf_free(&w.path);
    *out = w.out;
    if (rc < 0)
        json_decref(w.out);
    return rc;
}
