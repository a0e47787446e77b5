/* SPDX-License-Identifier: MIT
 *
 * Chooses where nodes and shares are if the accounts of jobs cannot reach the state directory: in a
 * folder below the first usable directory of `places`. A later start finds the folder by a link to
 * it in the state directory. The folder of an ephemeral daemon is removed with the daemon.
 */
#include "daemon/config/open_place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"

#define LINK     "open"
#define PREFIX   "open-"
#define TEMPLATE PREFIX "XXXXXX"

static const char *const places[] = {"/var/lib/batchaid", "/var/lib/batchaid-nodes",
                                     "/run/batchaid-nodes"};
enum { N_PLACES = sizeof places / sizeof places[0] };

char *open_place_closed(const char *path)
{
    struct stat st;
    for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
        char *part = xstrdup(path);
        part[slash - path] = '\0';
        if (stat(part, &st) == 0 && !(st.st_mode & S_IXOTH))
            return part;
        free(part);
    }
    return NULL;
}

/* Where a link leads; caller frees. NULL: there is no link at this path. */
static char *link_target(const char *path)
{
    char to[PATH_MAX];
    ssize_t n = readlink(path, to, sizeof to - 1);
    if (n <= 0)
        return NULL;
    to[n] = '\0';
    return xstrdup(to);
}

/* Whether the path is that of a place or is below a place. */
static bool is_of_place(const char *path)
{
    return path[0] == '/' && strstr(path, "/" PREFIX);
}

char *open_place_of(const char *state_dir)
{
    char *link = fs_join(state_dir, LINK), *to = link_target(link);
    free(link);
    if (to && !is_of_place(to)) {
        free(to);
        to = NULL;
    }
    return to;
}

/* Whether only root can create or change entries of the directory. */
static bool is_roots(const char *dir)
{
    struct stat st;
    return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == 0 &&
           !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Makes a new directory below `place`. Returns its path without symbolic links; caller frees. NULL:
 * that is impossible there. */
static char *make_in(const char *place)
{
    char *real = NULL, *path = NULL;
    bool made = mkdir(place, 0755) == 0;
    if (made && chmod(place, 0755) < 0) /* mkdir() obeys the umask */
        return NULL;
    if ((made || errno == EEXIST) && is_roots(place))
        real = realpath(place, NULL);
    if (real)
        path = fs_join(real, TEMPLATE);
    char *closed = path ? open_place_closed(path) : NULL;
    if (path && (closed || !mkdtemp(path) || chmod(path, 0711) < 0)) {
        free(path);
        path = NULL;
    }
    free(closed);
    free(real);
    return path;
}

static char *make_place(const struct state *s, bool ephemeral, struct err *e)
{
    char *place = NULL;
    for (int i = 0; i < N_PLACES && !place; i++)
        place = make_in(places[ephemeral ? N_PLACES - 1 - i : i]);
    char *link = fs_join(s->dir, LINK);
    if (!place)
        err_set(e, ERR_CONFIG, NULL, "nor can a directory of root be made below %s or %s",
                places[0], places[N_PLACES - 1]);
    else if ((unlink(link) < 0 && errno != ENOENT) || symlink(place, link) < 0) {
        err_errno(e, ERR_IO, "cannot make %s", link);
        rmdir(place);
        free(place);
        place = NULL;
    }
    free(link);
    return place;
}

/* Removes the link that an earlier start has left at `path`, unless it leads to `to`. ERR_CONFIG:
 * the link leads to no place, so somebody else has made it, and it is kept. */
static int remove_old_link(const char *path, const char *to, struct err *e)
{
    char *now = link_target(path);
    int rc = 0;
    if (now && !is_of_place(now))
        rc = err_set(e, ERR_CONFIG, NULL, "nor can %s be moved to %s: %s is a link to %s", path, to,
                     path, now);
    else if (now && strcmp(now, to) != 0 && unlink(path) < 0)
        rc = err_errno(e, ERR_CONFIG, "nor can the link %s be removed", path);
    free(now);
    return rc;
}

/* Moves a part of the state directory to the place, and leaves a link. It may be moved already, or
 * an earlier move may have been interrupted. */
static int move(char **path, const char *place, const char *name, struct err *e)
{
    struct stat st;
    char *to = fs_join(place, name);
    if (remove_old_link(*path, to, e) < 0) {
        free(to);
        return -1;
    }
    int rc = lstat(*path, &st);
    if (rc == 0 && S_ISDIR(st.st_mode)) {
        rc = rename(*path, to);
        if (rc < 0 && errno == EXDEV)
            rc = rmdir(*path); /* succeeds only if it is empty */
    } else {
        rc = rc < 0 && errno == ENOENT ? 0 : rc;
    }
    if (rc == 0 && (mkdir(to, 0755) == 0 || errno == EEXIST))
        rc = symlink(to, *path) == 0 || errno == EEXIST ? 0 : -1;
    else
        rc = -1;
    if (rc < 0)
        err_errno(e, ERR_CONFIG, "nor can %s be moved to %s", *path, to);
    else
        *path = (free(*path), to);
    if (rc < 0)
        free(to);
    return rc;
}

/* Only a place that is not there may be replaced. The content of a place that cannot be used must
 * not be replaced by an empty place. */
static int check_place(const char *place, bool *gone, struct err *e)
{
    struct stat st;
    bool there = lstat(place, &st) == 0;
    *gone = !there && errno == ENOENT;
    if (!there && !*gone)
        return err_errno(e, ERR_CONFIG, "cannot look at %s, where nodes and shares are", place);
    if (there && !is_roots(place))
        return err_set(e, ERR_CONFIG, NULL,
                       "nodes and shares are in %s, which others than root can change; run "
                       "`chown root %s && chmod go-w %s`, after a look at what is in it",
                       place, place, place);
    return 0;
}

static int move_parts(struct state *s, const char *place, struct err *e)
{
    char *closed = open_place_closed(s->dir);
    int rc = place && move(&s->nodes, place, "nodes", e) == 0 &&
                     move(&s->storage, place, "storage", e) == 0
                 ? 0
                 : -1;
    if (rc < 0)
        err_prefix(e,
                   "accounts of jobs cannot reach %s, because %s is closed to others; chmod o+x "
                   "it, or keep the state elsewhere (--state-dir /var/lib/batchaid), or let jobs "
                   "run as root (jobs.uids: 0)",
                   s->dir, closed ? closed : "a parent directory");
    free(closed);
    return rc;
}

int open_place_make(struct state *s, bool ephemeral, struct open_place *made, struct err *e)
{
    char *place = open_place_of(s->dir);
    bool gone = true;
    *made = (struct open_place){.made = NULL};
    int rc = place ? check_place(place, &gone, e) : 0;
    if (rc == 0 && gone) {
        made->gone = place;
        place = make_place(s, ephemeral, e);
        made->made = place ? xstrdup(place) : NULL;
    }
    if (rc == 0)
        rc = move_parts(s, place, e);
    free(place);
    return rc;
}

void open_place_free(struct open_place *p)
{
    free(p->made);
    free(p->gone);
}
