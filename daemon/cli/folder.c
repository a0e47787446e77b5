/* SPDX-License-Identifier: MIT
 *
 * Walks the folder without following links. An entry that is neither file, directory nor link is
 * left out and never opened, so a FIFO cannot hang the walk. The state directory of a daemon is
 * left out too, because whoever reads the job's files would have the daemon's keys.
 */
#include "daemon/cli/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config/state.h"
#include "lib/strbuf.h"

#define DEPTH_MAX 200

/* `all`: git lists a directory above as a whole (it is another repository), so everything in it is
 * taken. */
struct walk {
    struct folder *f;
    const struct folder_names *names;
    bool all;
};

void folder_note(struct folder *f, struct folder_notes *notes, const char *path, const char *why)
{
    if (notes->n == notes->cap) {
        notes->cap = notes->cap ? 2 * notes->cap : 16;
        notes->items = xrealloc(notes->items, notes->cap * sizeof *notes->items);
    }
    notes->items[notes->n++] =
        (struct folder_note){arena_strdup(&f->arena, path), arena_strdup(&f->arena, why)};
}

static struct folder_entry *add(struct folder *f, const char *path, enum folder_kind kind,
                                const struct stat *st)
{
    if (f->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 64;
        f->entries = xrealloc(f->entries, f->cap * sizeof *f->entries);
    }
    f->entries[f->n] = (struct folder_entry){.path = path,
                                             .kind = kind,
                                             .executable = st->st_mode & S_IXUSR,
                                             .size = kind == FOLDER_FILE ? st->st_size : 0,
                                             .changed = st->st_mtim};
    return &f->entries[f->n++];
}

/* Whether a symbolic link points out of the folder; looks only at the link's text. */
static bool leads_out(const char *path, const char *target)
{
    int depth = 0;
    for (const char *at = path; (at = strchr(at, '/')); at++)
        depth++;
    if (*target == '/')
        return true;
    for (const char *at = target; *at;) {
        size_t n = strcspn(at, "/");
        bool up = n == 2 && at[0] == '.' && at[1] == '.', stays = n == 0 || (n == 1 && *at == '.');
        depth += up ? -1 : stays ? 0 : 1;
        if (depth < 0)
            return true;
        at += n + strspn(at + n, "/");
    }
    return false;
}

static void add_link(struct folder *f, int dirfd, const char *name, const char *path,
                     const struct stat *st)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(dirfd, name, target, sizeof target - 1);
    if (n < 0) {
        folder_note(f, &f->left, path, strerror(errno));
        return;
    }
    target[n] = '\0';
    add(f, path, FOLDER_LINK, st)->target = arena_strdup(&f->arena, target);
    if (leads_out(path, target))
        folder_note(f, &f->warnings, path,
                    arena_printf(&f->arena,
                                 "is a link out of the folder, to %s, and is copied as that link; "
                                 "on the nodes it leads to their own files",
                                 target));
}

static void add_file(struct folder *f, int dirfd, const char *name, const char *path,
                     const struct stat *st)
{
    if (faccessat(dirfd, name, R_OK, AT_EACCESS) < 0) {
        folder_note(f, &f->left, path, strerror(errno));
        return;
    }
    add(f, path, FOLDER_FILE, st);
    f->files++;
    f->bytes += st->st_size;
}

static const char *kind_of(mode_t mode)
{
    return S_ISFIFO(mode) ? "is a FIFO" : S_ISSOCK(mode) ? "is a socket" : "is a device";
}

static bool is_empty(int dirfd, const char *name)
{
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    int n = 0;
    if (!d && fd >= 0)
        close(fd);
    while (d && n < 3 && readdir(d))
        n++;
    if (d)
        closedir(d);
    return d && n == 2; /* "." and ".." */
}

static void walk_dir(const struct walk *w, int dirfd, const char *name, const char *path,
                     int depth);

/* Takes a directory, and walks into it, if something below it is taken, or if it is empty. */
static void take_dir(const struct walk *w, int dirfd, const char *name, const char *path,
                     const struct stat *st, int depth)
{
    struct walk below = *w;
    bool whole = !w->all && (folder_names_have(w->names, path) ||
                             folder_names_have(w->names, arena_concat(&w->f->arena, path, "/")));
    below.all = w->all || whole;
    if (strcmp(name, ".git") == 0) {
        folder_note(w->f, &w->f->left, path, "is git's own");
        return;
    }
    if (!below.all && !folder_names_below(w->names, path) && !is_empty(dirfd, name)) {
        folder_note(w->f, &w->f->left, arena_concat(&w->f->arena, path, "/"), "is ignored");
        return;
    }
    if (state_is_in(dirfd, name)) {
        folder_note(w->f, &w->f->left, arena_concat(&w->f->arena, path, "/"),
                    "is the state directory of a batchaid, which contains its keys");
        return;
    }
    if (depth >= DEPTH_MAX) {
        folder_note(w->f, &w->f->left, path, "is more than 200 folders deep");
        return;
    }
    add(w->f, path, FOLDER_DIR, st);
    walk_dir(&below, dirfd, name, path, depth + 1);
}

static void take_one(const struct walk *w, int dirfd, const char *name, const char *path, int depth)
{
    struct stat st;
    bool there = fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there)
        folder_note(w->f, &w->f->left, path, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        take_dir(w, dirfd, name, path, &st, depth);
    else if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        folder_note(w->f, &w->f->left, path, kind_of(st.st_mode));
    else if (!w->all && !folder_names_have(w->names, path))
        folder_note(w->f, &w->f->left, path, "is ignored");
    else if (S_ISLNK(st.st_mode))
        add_link(w->f, dirfd, name, path, &st);
    else
        add_file(w->f, dirfd, name, path, &st);
}

static void walk_dir(const struct walk *w, int dirfd, const char *name, const char *path, int depth)
{
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *one;
    if (!d) {
        folder_note(w->f, &w->f->left, path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((one = readdir(d)))
        if (strcmp(one->d_name, ".") != 0 && strcmp(one->d_name, "..") != 0)
            take_one(w, fd, one->d_name,
                     arena_concat(&w->f->arena, path, *path ? "/" : "", one->d_name), depth);
    closedir(d);
}

int folder_list(const char *dir, struct folder *out, struct err *e)
{
    struct folder_names names;
    struct stat st;
    *out = (struct folder){.dir = xstrdup(dir)};
    arena_init(&out->arena);
    if (stat(dir, &st) < 0)
        return err_errno(e, ERR_CONFIG, "the folder %.300s cannot be copied", dir);
    if (!S_ISDIR(st.st_mode))
        return err_set(e, ERR_CONFIG, NULL, "'%.300s' is not a folder; --folder names one", dir);
    if (access(dir, R_OK | X_OK) < 0)
        return err_errno(e, ERR_CONFIG, "the folder %.300s cannot be read", dir);
    if (state_is_in(AT_FDCWD, dir))
        return err_set(
            e, ERR_CONFIG, NULL,
            "the folder %.300s is the state directory of a batchaid; its keys must not be "
            "copied to a job; --folder names another folder",
            dir);
    int rc = folder_names_read(dir, &names, e);
    const struct walk w = {.f = out, .names = &names, .all = names.all};
    if (rc == 0)
        walk_dir(&w, AT_FDCWD, dir, "", 0);
    folder_names_free(&names);
    return rc;
}

void folder_free(struct folder *f)
{
    free(f->dir);
    free(f->entries);
    free(f->left.items);
    free(f->warnings.items);
    arena_free(&f->arena);
}
