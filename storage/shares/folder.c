/* SPDX-License-Identifier: MIT
 *
 * Folders of shares: made, moved away, moved back, removed. Changed directories are synced, so that
 * the row that is written afterwards is true after a power cut too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "model/spec.h"
#include "storage/shares/shares_priv.h"

#define SHARE_MODE 0777 /* jobs may run as any account */
#define ABOVE_MODE 0755
#define AWAY_MODE  0700

bool share_is_detached(const char *account)
{
    return strchr(account, '#') != NULL;
}

struct folder_work *folder_work_new(const char *root, const struct share *s, enum folder_task task)
{
    struct folder_work *w = xcalloc(1, sizeof *w);
    struct arena a;
    struct strbuf away = STRBUF_INIT;
    arena_init(&a);
    /* A deleted share of an account that is detached later still has its folder at the old place.
     */
    const char *account = arena_strndup(&a, s->account, strcspn(s->account, "#"));
    strbuf_printf(&away, "%s/" DELETED_DIR "/%s.%s.%s.%lld", root, arena_lower(&a, account),
                  enum_to_name(share_kind_names, (int)s->kind), arena_lower(&a, s->name),
                  (long long)s->deleted_us);
    char *by_time = xstrdup(away.s);
    strbuf_printf(&away, ".%lld", (long long)s->id);
    *w = (struct folder_work){
        .task = task,
        .root = xstrdup(root),
        .place = xstrdup(share_folder(&a, root, s->account, s->kind, s->name)),
        .away = strbuf_take(&away),
        .away_by_time = by_time,
        .hidden = {xstrdup(share_hidden_folder(&a, root, s->account, SHARE_ASIDE, s->id)),
                   xstrdup(share_hidden_folder(&a, root, s->account, SHARE_BLOCKS, s->id))},
        .restore = s->deleted_us != 0,
        .tidy = share_is_detached(s->account)};
    arena_free(&a);
    return w;
}

void folder_work_free(struct folder_work *w)
{
    free(w->root);
    free(w->place);
    free(w->away);
    free(w->away_by_time);
    free(w->hidden[0]);
    free(w->hidden[1]);
    free(w);
}

static int fail(struct folder_work *w, const char *what, const char *path)
{
    w->failed = true;
    return err_errno(&w->why, ERR_IO, "cannot %s %s", what, path);
}

static int sync_dir(struct folder_work *w, const char *path)
{
    if (!w->sync)
        return 0;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0)
        close(fd);
    return rc < 0 ? fail(w, "sync", path) : 0;
}

static int sync_folder_of(struct folder_work *w, const char *path)
{
    char *above = fs_folder(path);
    int rc = sync_dir(w, above);
    free(above);
    return rc;
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* Makes a directory with this mode, whatever the umask is; an existing one stays unchanged. */
static int make_dir(struct folder_work *w, const char *path, mode_t mode)
{
    struct stat st;
    if (mkdir(path, mode) == 0) {
        if (chmod(path, mode) < 0)
            return fail(w, "open", path);
        return sync_dir(w, path) < 0 ? -1 : sync_folder_of(w, path);
    }
    if (errno != EEXIST)
        return fail(w, "make", path);
    if (stat(path, &st) < 0)
        return fail(w, "look at", path);
    errno = ENOTDIR;
    return S_ISDIR(st.st_mode) ? 0 : fail(w, "use", path);
}

/* Makes the directories of the account and of the kind, in which the folder is. */
static int make_above(struct folder_work *w)
{
    char *kind = fs_folder(w->place), *account = fs_folder(kind);
    int rc = make_dir(w, account, ABOVE_MODE);
    if (rc == 0)
        rc = make_dir(w, kind, ABOVE_MODE);
    free(kind);
    free(account);
    return rc;
}

static int move(struct folder_work *w, const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) < 0)
        return fail(w, "move", from);
    return sync_folder_of(w, from) < 0 || sync_folder_of(w, to) < 0 ? -1 : 0;
}

/* Removes hidden folders under the number of a new share. They belong to an earlier share of this
 * number, from before a backup of the database was restored, and nobody may find its blocks. */
static void forget_hidden(struct folder_work *w)
{
    for (size_t i = 0; i < sizeof w->hidden / sizeof *w->hidden; i++)
        if (exists(w->hidden[i]) && fs_remove_tree(w->hidden[i], &w->why) < 0)
            w->failed = true;
}

static void make(struct folder_work *w)
{
    if (make_above(w) < 0)
        return;
    if (w->restore && exists(w->away)) {
        move(w, w->away, w->place);
        return;
    }
    if (!w->restore)
        forget_hidden(w);
    make_dir(w, w->place, SHARE_MODE);
}

/* Whether the folder cannot be moved: it is a mount point, or it is on another file system than the
 * folder for deleted shares. */
static bool cannot_move(int error)
{
    return error == EBUSY || error == EXDEV;
}

static void move_away(struct folder_work *w)
{
    char *above = fs_folder(w->away);
    if (exists(w->place) && make_dir(w, above, AWAY_MODE) == 0 && move(w, w->place, w->away) < 0 &&
        cannot_move(errno)) {
        w->failed = false;
        w->stays = true;
    }
    free(above);
}

/* Removes folders beside and above the share if they are empty; other folders may belong to the
 * site. */
static void tidy(const struct folder_work *w)
{
    char *kind = fs_folder(w->place), *account = fs_folder(kind);
    for (size_t i = 0; i < sizeof w->hidden / sizeof *w->hidden; i++) {
        char *above = fs_folder(w->hidden[i]);
        (void)rmdir(above);
        free(above);
    }
    (void)rmdir(kind);
    (void)rmdir(account);
    free(kind);
    free(account);
}

static void purge(struct folder_work *w)
{
    w->stays = !exists(w->away) && exists(w->place);
    if (fs_remove_tree(w->away, &w->why) < 0 || fs_remove_tree(w->hidden[0], &w->why) < 0 ||
        fs_remove_tree(w->hidden[1], &w->why) < 0)
        w->failed = true;
    else if (w->tidy)
        tidy(w);
}

static void choose_away(struct folder_work *w)
{
    if (exists(w->away) || !exists(w->away_by_time))
        return;
    free(w->away);
    w->away = w->away_by_time;
    w->away_by_time = NULL;
}

void folder_work_do(struct folder_work *w)
{
    static void (*const tasks[])(struct folder_work *) = {
        [FOLDER_MAKE] = make, [FOLDER_MOVE_AWAY] = move_away, [FOLDER_PURGE] = purge};
    if (w->task != FOLDER_MOVE_AWAY)
        choose_away(w);
    tasks[w->task](w);
}
