/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "nodeagent-proto/agent/zip/zip_priv.h"

/* bytes; Linux allows 4096 with the path of the directory into which the archive is unpacked */
#define PATH_BYTES 4000
#define PART_BYTES 255

static int refuse(const char *path, const char *why, struct err *e)
{
    return err_set(e, ERR_INVALID_CONTENT, NULL, "The entry '%.200s' of the archive %s.", path,
                   why);
}

/* Checks one part of a path. 1: keep it; 0: skip it ("." or empty). */
static int check_part(const char *path, const char *part, size_t n, struct err *e)
{
    if (n == 0 || (n == 1 && part[0] == '.'))
        return 0;
    if (n == 2 && part[0] == '.' && part[1] == '.')
        return refuse(path, "leaves the archive ('..')", e);
    return n > PART_BYTES ? refuse(path, "has a name that is too long", e) : 1;
}

/* Copies the name, with "/" for each "\", because programs on Windows put "\" between the parts. */
static char *copy_name(struct zip *z, const char *name, size_t n)
{
    char *path = arena_strndup(&z->a, name, n);
    for (char *p = path; *p; p++)
        if (*p == '\\')
            *p = '/';
    return path;
}

int zip_name(struct zip *z, const char *name, size_t n, struct zip_entry *entry, struct err *e)
{
    const char *path = copy_name(z, name, n);
    char *kept = arena_alloc(&z->a, n + 1), *to = kept;
    if (n > PATH_BYTES || memchr(name, '\0', n))
        return refuse(path, "has a name that no file can have", e);
    if (path[0] == '/' || (n >= 2 && path[1] == ':'))
        return refuse(path, "has an absolute name", e);
    entry->is_directory = n > 0 && path[n - 1] == '/';
    for (const char *part = path; *part;) {
        size_t len = strcspn(part, "/");
        int keep = check_part(path, part, len, e);
        if (keep < 0)
            return -1;
        if (keep) {
            if (to > kept)
                *to++ = '/';
            to = mempcpy(to, part, len);
        }
        part += len + (part[len] == '/');
    }
    if (to == kept && !entry->is_directory)
        return refuse(path, "has no name", e);
    entry->path = kept;
    return 0;
}

/* Sorts the content of a directory right after the directory: "a", "a/b", "a-b". */
static int by_path(const void *x, const void *y)
{
    const unsigned char *a = (const unsigned char *)(*(const struct zip_entry *const *)x)->path;
    const unsigned char *b = (const unsigned char *)(*(const struct zip_entry *const *)y)->path;
    for (; *a && *a == *b; a++, b++)
        ;
    int one = *a == '/' ? 1 : *a ? *a + 1 : 0, other = *b == '/' ? 1 : *b ? *b + 1 : 0;
    return one - other;
}

static bool is_below(const char *path, const char *file)
{
    size_t n = strlen(file);
    return strncmp(path, file, n) == 0 && path[n] == '/';
}

int zip_check_paths(struct zip *z, struct err *e)
{
    const struct zip_entry **sorted = arena_alloc(&z->a, (z->n + 1) * sizeof(*sorted));
    /* the last file (not directory) that could be a parent of the next entries */
    const struct zip_entry *file = NULL;
    for (size_t i = 0; i < z->n; i++)
        sorted[i] = &z->entries[i];
    qsort(sorted, z->n, sizeof(*sorted), by_path);
    for (size_t i = 0; i < z->n; i++) {
        const struct zip_entry *one = sorted[i];
        bool twice = i > 0 && strcmp(sorted[i - 1]->path, one->path) == 0;
        if (twice && !(one->is_directory && sorted[i - 1]->is_directory))
            return refuse(one->path, "is there twice", e);
        if (file && is_below(one->path, file->path))
            return refuse(one->path, "is below a file", e);
        if (!one->is_directory)
            file = one;
    }
    return 0;
}
