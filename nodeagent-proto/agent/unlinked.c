/* SPDX-License-Identifier: MIT
 *
 * Lists the targets of all links below `used`, moves directories without a link to the trash, and
 * removes the links in `links` that led to them. A directory that cannot be read is an error,
 * because it may hold a link.
 */
#include "nodeagent-proto/agent/unlinked.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/files.h"

/* Bound: tasks may fill the directories of links, and must not block the agent. */
#define LINKS_MAX 10000

struct unlinked_names {
    char **items;
    size_t n;
};

static void add(struct unlinked_names *all, const char *name, size_t n)
{
    char *copy = xcalloc(1, n + 1);
    memcpy(copy, name, n);
    all->items = xrealloc(all->items, (all->n + 1) * sizeof *all->items);
    all->items[all->n++] = copy;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* `all` is sorted. */
static bool has(const struct unlinked_names *all, const char *name)
{
    return all->n > 0 && bsearch(&name, all->items, all->n, sizeof *all->items, by_text);
}

static void forget(struct unlinked_names *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->items[i]);
    free(all->items);
}

/* The name of the entry of `dir` that a link leads to or below: *n bytes of `target`. NULL: the
 * link leads elsewhere. */
static const char *led_to(int at, const char *link, const char *dir, char target[PATH_MAX],
                          size_t *n)
{
    ssize_t len = readlinkat(at, link, target, PATH_MAX - 1);
    size_t above = strlen(dir);
    if (len <= 0)
        return NULL;
    target[len] = '\0';
    if (strncmp(target, dir, above) != 0 || target[above] != '/')
        return NULL;
    *n = strcspn(target + above + 1, "/");
    return *n > 0 ? target + above + 1 : NULL;
}

/* Whether an entry could not be read; a missing entry holds no links. */
static bool is_unseen(const FTSENT *at)
{
    bool failed = at->fts_info == FTS_DNR || at->fts_info == FTS_ERR || at->fts_info == FTS_NS;
    return failed && at->fts_errno != ENOENT;
}

/* Finds the names of entries of `dir` that links lead to, sorted. */
static int find_used(const struct unlinked *u, struct unlinked_names *out, struct err *e)
{
    char *paths[] = {xstrdup(u->used), NULL}, target[PATH_MAX];
    size_t seen = 0, n;
    int rc = 0;
    FTSENT *at;
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR | FTS_NOSTAT, NULL);
    while (rc == 0 && tree && (at = fts_read(tree))) {
        const char *name = led_to(AT_FDCWD, at->fts_path, u->dir, target, &n);
        if (name)
            add(out, name, n);
        if (is_unseen(at))
            rc = err_set(e, ERR_IO, "used", "%.1000s cannot be looked through for links: %s",
                         at->fts_path, strerror(at->fts_errno));
        else if (++seen > LINKS_MAX)
            rc = err_set(e, ERR_QUOTA, "used", "%s has more than %d entries", u->used, LINKS_MAX);
    }
    if (tree)
        fts_close(tree);
    free(paths[0]);
    if (out->n > 0)
        qsort(out->items, out->n, sizeof *out->items, by_text);
    return rc;
}

/* The entries of a directory, except "." and "..". */
static void list(const char *dir, struct unlinked_names *out)
{
    DIR *d = opendir(dir);
    struct dirent *de;
    while (d && out->n <= LINKS_MAX && (de = readdir(d)))
        if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
            add(out, de->d_name, strlen(de->d_name));
    if (d)
        closedir(d);
}

static void remove_links(const struct unlinked *u, const struct unlinked_names *used)
{
    struct unlinked_names links = {0};
    char target[PATH_MAX];
    size_t n;
    int at = open(u->links, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    list(u->links, &links);
    for (size_t i = 0; at >= 0 && i < links.n; i++) {
        const char *name = led_to(at, links.items[i], u->dir, target, &n);
        if (!name)
            continue;
        target[(size_t)(name - target) + n] = '\0';
        if (!has(used, name))
            (void)unlinkat(at, links.items[i], 0);
    }
    if (at >= 0)
        close(at);
    forget(&links);
}

int unlinked_discard(const struct unlinked *u, struct err *e)
{
    struct unlinked_names used = {0}, there = {0};
    int moved = 0, rc = find_used(u, &used, e);
    if (rc == 0) {
        list(u->dir, &there);
        remove_links(u, &used);
    }
    for (size_t i = 0; rc >= 0 && i < there.n; i++) {
        if (has(&used, there.items[i]))
            continue;
        char *path = fs_join(u->dir, there.items[i]);
        rc = file_discard(u->root, path, u->trash, u->mounts, e);
        moved = rc > 0 ? 1 : moved;
        free(path);
    }
    forget(&there);
    forget(&used);
    return rc < 0 ? -1 : moved;
}
