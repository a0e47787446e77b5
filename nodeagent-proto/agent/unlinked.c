/* SPDX-License-Identifier: MIT */
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

/* What tasks may make of the directories of links must not hold up the agent. */
#define LINKS_MAX 10000

struct names {
    char **items;
    size_t n;
};

static void add(struct names *all, const char *name, size_t n)
{
    all->items = xrealloc(all->items, (all->n + 1) * sizeof *all->items);
    all->items[all->n++] = strndup(name, n);
}

static bool has(const struct names *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->items[i], name) == 0)
            return true;
    return false;
}

static void forget(struct names *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->items[i]);
    free(all->items);
}

/* The name right below `dir` that a link leads to, *n bytes of `target`; NULL: it leads elsewhere.
 */
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

static int find_used(const struct unlinked *u, struct names *out, struct err *e)
{
    char *paths[] = {xstrdup(u->used), NULL}, target[PATH_MAX];
    size_t seen = 0, n;
    FTSENT *at;
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR | FTS_NOSTAT, NULL);
    while (tree && seen <= LINKS_MAX && (at = fts_read(tree))) {
        const char *name = led_to(AT_FDCWD, at->fts_path, u->dir, target, &n);
        if (name)
            add(out, name, n);
        seen++;
    }
    if (tree)
        fts_close(tree);
    free(paths[0]);
    return seen <= LINKS_MAX
               ? 0
               : err_set(e, ERR_QUOTA, "used", "%s has more than %d entries", u->used, LINKS_MAX);
}

/* The entries of a directory, but "." and "..". */
static void list(const char *dir, struct names *out)
{
    DIR *d = opendir(dir);
    struct dirent *de;
    while (d && out->n <= LINKS_MAX && (de = readdir(d)))
        if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
            add(out, de->d_name, strlen(de->d_name));
    if (d)
        closedir(d);
}

static void remove_links(const struct unlinked *u, const struct names *used)
{
    struct names links = {0};
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
    struct names used = {0}, there = {0};
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
