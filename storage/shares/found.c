/* SPDX-License-Identifier: MIT
 *
 * Folders without rows, made by older builds or people. At each start they are searched, and get
 * rows as if a mount had named them. Exception: folders of deleted shares that could not be moved
 * away.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/strbuf.h"
#include "model/spec.h"
#include "scheduler/wake/wake.h"
#include "storage/folders/change.h"
#include "storage/shares/shares_priv.h"
#include "storage/storage.h"

#define FOUND_MAX 10000 /* more are found at the next start */

struct found_folder {
    enum share_kind kind;
    char account[ACCOUNT_NAME_MAX + 1], share[SHARE_NAME_MAX + 1];
};

struct found_search {
    struct shares *sh;
    struct wakes *wakes;
    char *root;
    bool gives_rows;
    struct found_folder *item;
    size_t n, cap;
};

/* --- on a worker ------------------------------------------------------------------------------ */

static void add(struct found_search *s, const char *account, enum share_kind kind,
                const char *share)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 64;
        s->item = xrealloc(s->item, s->cap * sizeof *s->item);
    }
    struct found_folder *f = &s->item[s->n++];
    f->kind = kind;
    snprintf(f->account, sizeof f->account, "%s", account);
    snprintf(f->share, sizeof f->share, "%s", share);
}

static bool is_lower(const char *name)
{
    return strpbrk(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

typedef void (*entry_fn)(struct found_search *s, const char *path, const char *name, void *ctx);

/* Calls `fn` for each folder in a folder whose name is in lower case; if the folder is missing, for
 * none. */
static void each_folder(struct found_search *s, const char *folder, entry_fn fn, void *ctx)
{
    DIR *d = opendir(folder);
    for (const struct dirent *de; d && s->n < FOUND_MAX && (de = readdir(d));) {
        struct strbuf path = STRBUF_INIT;
        strbuf_printf(&path, "%s/%s", folder, de->d_name);
        if (de->d_name[0] != '.' && is_lower(de->d_name) && is_folder(path.s))
            fn(s, path.s, de->d_name, ctx);
        strbuf_free(&path);
    }
    if (d)
        closedir(d);
}

struct found_above {
    const char *account;
    enum share_kind kind;
};

static void on_share(struct found_search *s, const char *path, const char *name, void *ctx)
{
    const struct found_above *up = ctx;
    (void)path;
    if (share_name_valid(name))
        add(s, up->account, up->kind, name);
}

static void on_account(struct found_search *s, const char *path, const char *name, void *ctx)
{
    (void)ctx;
    if (!account_name_valid(name))
        return;
    for (int kind = SHARE_FILES; kind <= SHARE_BLOBS; kind++) {
        struct found_above up = {name, (enum share_kind)kind};
        struct strbuf below = STRBUF_INIT;
        strbuf_printf(&below, "%s/%s", path, enum_to_name(share_kind_names, kind));
        each_folder(s, below.s, on_share, &up);
        strbuf_free(&below);
    }
}

static void on_worker(void *ctx)
{
    struct found_search *s = ctx;
    files_sweep(s->root);
    if (s->gives_rows)
        each_folder(s, s->root, on_account, NULL);
}

/* --- on the loop ------------------------------------------------------------------------------ */

/* 1: a share of this name was deleted, and its folder could not be moved; 0: there is no such
 * share; -1: err. */
static int was_deleted(struct shares *sh, const struct found_folder *f, struct err *e)
{
    struct arena a;
    struct share_rows rows;
    int rc = 0;
    arena_init(&a);
    for (int64_t after = 0; rc == 0; after = rows.items[rows.n - 1].id) {
        rc = st_share_deleted(sh->c.storage, &a, INT64_MAX,
                              &(struct st_page){.after = after, .limit = FOUND_MAX}, &rows, e);
        for (size_t i = 0; rc == 0 && i < rows.n; i++)
            rc = rows.items[i].kind == f->kind && strcmp(rows.items[i].name, f->share) == 0 &&
                 strcmp(rows.items[i].account, f->account) == 0;
        if (rc != 0 || rows.n < FOUND_MAX)
            break;
    }
    arena_free(&a);
    return rc;
}

static int give_row(struct shares *sh, const struct found_folder *f, struct err *e)
{
    const struct share_name name = {.account = f->account, .share = f->share, .kind = f->kind};
    int rc = shares_is_named(sh, &name, e);
    if (rc == 0)
        rc = was_deleted(sh, f, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return shares_make_named(sh, &name, sh->principal, wakes_wall(sh->c.wakes), e);
}

static void search_free(void *ctx)
{
    struct found_search *s = ctx;
    free(s->root);
    free(s->item);
    free(s);
}

static void on_found(void *ctx, const struct err *why)
{
    struct found_search *s = ctx;
    struct wakes *wakes = s->wakes;
    struct err e;
    for (size_t i = 0; !why && !wakes_stopping(wakes) && i < s->n; i++)
        if (give_row(s->sh, &s->item[i], &e) < 0) {
            LOG_ERROR(s->sh->c.log, "share.not_written", LF_STR("account", s->item[i].account),
                      LF_STR("share", s->item[i].share), LF_STR("why", e.msg));
            break; /* the next start will try again */
        }
    if (!why)
        search_free(s);
    wakes_unref(wakes);
}

void shares_find(struct shares *sh)
{
    static const struct files_task task = {on_worker, on_found, search_free};
    struct found_search *s = xcalloc(1, sizeof *s);
    *s = (struct found_search){.sh = sh,
                               .wakes = sh->c.wakes,
                               .root = xstrdup(sh->storage_dir),
                               .gives_rows = !sh->c.strict};
    wakes_ref(sh->c.wakes);
    files_run(sh->c.files, sh->storage_dir, &task, s);
}
