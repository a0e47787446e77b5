/* SPDX-License-Identifier: MIT
 *
 * Files in `.aside` that no row names: a file has its place before its snapshot has a row, and a
 * row is removed before its file, so a kill between the two leaves a file that nobody sees. They
 * are searched at each start and once a day, on a worker, some at a time:
 *
 *   listed -> no row names them -> that is on disk -> still none does -> marked, or removed -> ...
 *             a row names them  -> the mark is taken away
 *
 * A file is marked at first, and removed a week later. So a change that is under way keeps its
 * file, and so does a database that was replaced by its backup for some days. The mark is a bit of
 * the mode that means nothing for files; it leaves the file's mtime as it is, and its ctime shows
 * since when the file is marked.
 *
 * <storage_dir>/ACCOUNT/.aside/SHARE/FILE
 */
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/strbuf.h"
#include "model/spec.h"
#include "scheduler/wake/wake.h"
#include "storage/folders/change.h"
#include "storage/folders/files.h"
#include "storage/shares/shares_priv.h"
#include "storage/storage.h"

#define FILES_PER_STEP 500 /* some milliseconds of the loop */
#define MARK           S_ISVTX
#define LEVELS         3 /* the storage directory, `.aside` of an account, a share's folder */

struct aside_sweep {
    struct shares *sh;
    struct wakes *wakes;
    char *root;
    int64_t before_us; /* files that were marked before this instant are removed */
    DIR *open[LEVELS];
    size_t depth; /* how many are open; 0 after a step: there are no more files */
    bool has_begun;
    struct strbuf folder; /* of the share, or of the account; below the storage directory */
    size_t n;
    char *file[FILES_PER_STEP]; /* below the storage directory; owned */
    bool is_named[FILES_PER_STEP];
    int64_t removed;
};

/* --- on a worker ------------------------------------------------------------------------------ */

static DIR *open_aside(int root, const char *account)
{
    DIR *above = account_name_valid(account) ? sweep_open(root, account) : NULL;
    DIR *aside = above ? sweep_open(dirfd(above), SHARE_ASIDE) : NULL;
    if (above)
        closedir(above);
    return aside;
}

static void sweep_unfinished(const struct aside_sweep *s)
{
    struct strbuf path = STRBUF_INIT;
    strbuf_printf(&path, "%s/%s", s->root, s->folder.s);
    files_sweep(path.s);
    strbuf_free(&path);
}

/* Opens a directory inside the directory that was opened last. */
static void enter(struct aside_sweep *s, const char *name)
{
    DIR *outer = s->open[s->depth - 1];
    assert(outer);
    int above = dirfd(outer);
    bool is_account = s->depth == 1;
    DIR *d = is_account ? open_aside(above, name) : sweep_open(above, name);
    if (!d)
        return;
    s->open[s->depth++] = d;
    if (is_account)
        strbuf_reset(&s->folder);
    strbuf_printf(&s->folder, is_account ? "%s/" SHARE_ASIDE : "/%s", name);
    if (!is_account)
        sweep_unfinished(s);
}

static void leave(struct aside_sweep *s)
{
    DIR *left = s->open[--s->depth];
    assert(left);
    closedir(left);
    const char *slash = s->folder.len > 0 ? strrchr(s->folder.s, '/') : NULL;
    if (slash)
        strbuf_cut(&s->folder, (size_t)(slash - s->folder.s));
}

static bool is_file(const struct aside_sweep *s, const char *name)
{
    struct stat st;
    return fstatat(dirfd(s->open[LEVELS - 1]), name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode);
}

static void add(struct aside_sweep *s, const char *name)
{
    struct strbuf path = STRBUF_INIT;
    strbuf_printf(&path, "%s/%s", s->folder.s, name);
    s->is_named[s->n] = false;
    s->file[s->n++] = strbuf_take(&path);
}

static void list_some(void *ctx)
{
    struct aside_sweep *s = ctx;
    if (!s->has_begun && (s->open[0] = opendir(s->root)) != NULL)
        s->depth = 1;
    s->has_begun = true;
    while (s->depth > 0 && s->n < FILES_PER_STEP) {
        const char *name = sweep_next(s->open[s->depth - 1]);
        if (!name)
            leave(s);
        else if (s->depth < LEVELS)
            enter(s, name);
        else if (is_file(s, name))
            add(s, name);
    }
}

/* Marks or removes a file that no row names. A file that a row names again loses its mark; if that
 * row is removed too, the file's week begins anew. */
static void end_file(struct aside_sweep *s, const char *path, bool is_named)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return;
    mode_t mode = st.st_mode & 07777;
    bool is_marked = (mode & MARK) != 0;
    if (is_named == is_marked)
        (void)!chmod(path, is_named ? mode & ~(mode_t)MARK : mode | MARK); /* or it stays */
    else if (is_marked && st.st_ctim.tv_sec < s->before_us / INT64_C(1000000))
        s->removed += unlink(path) == 0;
}

static void end_listed(void *ctx)
{
    struct aside_sweep *s = ctx;
    for (size_t i = 0; i < s->n; i++) {
        struct strbuf path = STRBUF_INIT;
        strbuf_printf(&path, "%s/%s", s->root, s->file[i]);
        end_file(s, path.s, s->is_named[i]);
        strbuf_free(&path);
    }
}

/* --- on the loop ------------------------------------------------------------------------------ */

static void forget_listed(struct aside_sweep *s)
{
    while (s->n > 0)
        free(s->file[--s->n]);
}

static void sweep_free(void *ctx)
{
    struct aside_sweep *s = ctx;
    forget_listed(s);
    while (s->depth > 0)
        closedir(s->open[--s->depth]);
    strbuf_free(&s->folder);
    free(s->root);
    free(s);
}

static void end(struct aside_sweep *s)
{
    struct wakes *wakes = s->wakes;
    if (s->removed > 0)
        LOG_INFO(s->sh->c.log, "aside_files.removed", LF_INT("files", s->removed),
                 LF_STR("why", "no blob or snapshot has used these files for a week"));
    sweep_free(s);
    wakes_unref(wakes);
}

static int ask_rows(struct aside_sweep *s, struct err *e)
{
    for (size_t i = 0; i < s->n; i++) {
        bool is_named = false;
        const char *place = strchr(s->file[i], '/') + 1;
        if (st_aside_is_named(s->sh->c.storage, place, &is_named, e) < 0)
            return -1;
        s->is_named[i] = s->is_named[i] || is_named;
    }
    return 0;
}

static bool look(struct aside_sweep *s)
{
    struct err e;
    if (wakes_stopping(s->wakes))
        return false;
    if (ask_rows(s, &e) == 0)
        return true;
    LOG_ERROR(s->sh->c.log, "share.not_read", LF_STR("why", e.msg));
    return false;
}

static void list_more(struct aside_sweep *s);

static void on_ended(void *ctx, const struct err *why)
{
    struct aside_sweep *s = ctx;
    struct wakes *wakes = s->wakes;
    if (why) { /* the daemon stops */
        wakes_unref(wakes);
        return;
    }
    forget_listed(s);
    list_more(s);
}

/* Called when the removal of the files' last row is on disk, so that no power cut brings a row
 * back. */
static void on_durable(void *ctx, const struct err *why)
{
    static const struct files_task task = {end_listed, on_ended, sweep_free};
    struct aside_sweep *s = ctx;
    if (why || !look(s)) /* the next sweep tries again */
        end(s);
    else
        files_run(s->sh->c.files, s->root, &task, s);
}

static void on_listed(void *ctx, const struct err *why)
{
    struct aside_sweep *s = ctx;
    struct wakes *wakes = s->wakes;
    if (why) { /* the daemon stops */
        wakes_unref(wakes);
        return;
    }
    if (!look(s))
        end(s);
    else if (s->n > 0)
        st_when_durable(s->sh->c.storage, on_durable, s);
    else
        list_more(s);
}

static void list_more(struct aside_sweep *s)
{
    static const struct files_task task = {list_some, on_listed, sweep_free};
    if (s->has_begun && s->depth == 0)
        end(s);
    else
        files_run(s->sh->c.files, s->root, &task, s);
}

void shares_sweep_aside(struct shares *sh, int64_t before_us)
{
    struct aside_sweep *s = xcalloc(1, sizeof *s);
    *s = (struct aside_sweep){.sh = sh,
                              .wakes = sh->c.wakes,
                              .root = xstrdup(sh->storage_dir),
                              .before_us = before_us,
                              .folder = STRBUF_INIT};
    wakes_ref(sh->c.wakes);
    list_more(s);
}
