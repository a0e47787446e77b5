/* SPDX-License-Identifier: MIT
 *
 * Changes whose bytes are not in the journal: their intents, and how a start completes them.
 */
#include <string.h>

#include "lib/arena.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "storage/folders/upload.h"
#include "storage/shares/journal_priv.h"
#include "storage/storage.h"

bool journal_guards(const struct journal *j)
{
    return !j->c.passing;
}

int journal_guard(struct journal *j, const struct item_change *change, struct journal_entry *out,
                  struct err *e)
{
    struct item_change c = *change;
    c.id = j->last_id + 1;
    journal_forget(j); /* removes the rows in this transaction */
    if (st_item_change_add(j->c.storage, &c, e) < 0)
        return -1;
    *out = (struct journal_entry){c.id, 0};
    j->last_id = c.id;
    return 0;
}

void journal_stop(struct journal *j)
{
    if (!j || j->stopped)
        return;
    puts_stop(j);
    journal_forget(j);
    if (j->forget)
        loop_timer_destroy(j->forget);
    j->forget = NULL;
}

/* --- after a start ---------------------------------------------------------------------------- */

struct found_change {
    const struct item_change *c;
    const struct share *share;
    struct file_place at;
    bool there; /* a file exists, with these facts */
    struct file_facts facts;
    bool is_other; /* a directory, or a special file, exists: not the daemon's file */
    bool noted;    /* `item` is the present row */
    struct share_item item;
};

/* Whether the file is unchanged since before the change. */
static bool is_as_before(const struct found_change *f)
{
    const struct item_change *c = f->c;
    if (!c->was_there || !f->there)
        return c->was_there == f->there;
    return (int64_t)f->facts.inode == c->was_inode && (int64_t)f->facts.size == c->was_size &&
           f->facts.mtime_ns == c->was_mtime_ns;
}

static void tell(struct journal *j, const struct found_change *f, const char *result)
{
    LOG_WARN(j->c.log, "journal.change_settled", LF_STR("share", f->share->name),
             LF_STR("path", f->c->was.path), LF_STR("result", result));
}

/* Whether the present row is the row that the change wrote. */
static bool is_row_of_it(const struct found_change *f)
{
    const struct item_change *c = f->c;
    const char *is = f->item.aside, *place = c->place;
    bool same_place = is && place ? strcmp(is, place) == 0 : !is && !place;
    return f->noted && same_place && f->item.inode == c->now_inode &&
           f->item.mtime_ns == c->now_mtime_ns;
}

static int replaces(struct journal *j, struct arena *a, const struct found_change *f, struct err *e)
{
    const struct item_change *c = f->c;
    (void)a;
    /* A file without properties to record has no row. */
    bool has_no_row = !f->noted && c->was_there && c->was_noted && !f->is_other;
    if ((!is_row_of_it(f) && !has_no_row) || !(f->is_other || is_as_before(f)))
        return 0;
    tell(j, f, "undone");
    return c->was_noted ? st_item_put(j->c.storage, &c->was, e)
                        : st_item_remove(j->c.storage, c->was.share_id, c->was.path, e);
}

/* Snapshots are removed with their blob. */
static int remove_snapshots(struct journal *j, struct arena *a, const struct found_change *f,
                            struct err *e)
{
    const struct share_item *was = &f->c->was;
    struct blob_snapshot_rows rows;
    int rc = st_snapshot_list(j->c.storage, a, was->share_id, -1,
                              &(struct st_paths){.from = was->path,
                                                 .to = arena_concat(a, was->path, "\x01"),
                                                 .limit = INT32_MAX},
                              &rows, e);
    for (size_t i = 0; rc == 0 && i < rows.n; i++) {
        const struct file_place at =
            journal_place(j, a, f->share, was->path, rows.items[i].item.aside);
        rc = st_snapshot_remove(j->c.storage, was->share_id, was->path, rows.items[i].taken_us, e);
        if (rc == 0)
            rc = files_remove_now(&at, e);
    }
    return rc;
}

static int removes(struct journal *j, struct arena *a, const struct found_change *f, struct err *e)
{
    if (f->noted || (f->there && !is_as_before(f)))
        return 0; /* the blob was made anew */
    if (f->there) {
        tell(j, f, "done");
        if (files_remove_now(&f->at, e) < 0)
            return -1;
    }
    return remove_snapshots(j, a, f, e);
}

/* Whether the blob's row was written or removed after the change, for this blob or for a new blob
 * of the same path: then the bytes were acknowledged, or were taken back. */
static bool is_known(const struct found_change *f)
{
    const struct share_item *was = &f->c->was, *now = &f->item;
    bool is_of_file = now->inode == (int64_t)f->facts.inode &&
                      now->size == (int64_t)f->facts.size && now->mtime_ns == f->facts.mtime_ns;
    return !f->noted || now->revision != was->revision || now->created_us != was->created_us ||
           is_of_file;
}

static int grows(struct journal *j, struct arena *a, const struct found_change *f, struct err *e)
{
    const struct item_change *c = f->c;
    (void)a;
    if (!f->there || is_known(f) || (int64_t)f->facts.inode != c->was_inode ||
        (int64_t)f->facts.size < c->was_size || is_as_before(f))
        return 0;
    tell(j, f, "undone");
    return files_cut_now(&f->at, (uint64_t)c->was_size, c->was_mtime_ns, e);
}

/* Finds the present file and row. */
static int look(struct journal *j, struct arena *a, struct found_change *f, struct err *e)
{
    const struct share_item *was = &f->c->was;
    f->at = journal_place(j, a, f->share, was->path, f->c->place);
    enum file_fault fault = files_facts_now(&f->at, &f->facts);
    f->is_other = fault == FILE_IS_DIRECTORY || fault == FILE_SPECIAL;
    if (fault && fault != FILE_MISSING && !f->is_other)
        return err_set(e, ERR_IO, NULL, "its file cannot be looked at");
    f->there = !fault;
    int rc = st_item_get(j->c.storage, a, was->share_id, was->path, &f->item, e);
    f->noted = rc > 0;
    return rc < 0 ? -1 : 0;
}

static int settle(struct journal *j, struct arena *a, struct found_change *f, struct err *e)
{
    static int (*const kinds[])(struct journal *, struct arena *, const struct found_change *,
                                struct err *) = {
        [CHANGE_REPLACES] = replaces, [CHANGE_REMOVES] = removes, [CHANGE_GROWS] = grows};
    if (look(j, a, f, e) < 0)
        return -1;
    if (f->is_other && f->c->kind != CHANGE_REPLACES)
        return 0;
    return kinds[f->c->kind](j, a, f, e);
}

static int replay_one(struct journal *j, struct arena *a, int64_t id, struct err *e)
{
    struct item_change c;
    struct share s;
    struct err why;
    int rc = st_item_change_get(j->c.storage, a, id, &c, e);
    if (rc > 0)
        rc = st_share_by_id(j->c.storage, a, c.was.share_id, &s, e);
    if (rc < 0)
        return -1;
    if (rc == 0) /* the share was removed */
        return st_item_change_remove(j->c.storage, id, e);
    if (s.state != SHARE_THERE)
        return 0;
    struct found_change f = {.c = &c, .share = &s};
    if (settle(j, a, &f, &why) == 0)
        return st_item_change_remove(j->c.storage, id, e);
    LOG_ERROR(j->c.log, "journal.change_not_finished", LF_STR("share", s.name),
              LF_STR("path", c.was.path), LF_STR("why", why.msg));
    return 0;
}

static int changes_replay(struct journal *j, struct err *e)
{
    struct arena a;
    int64_t *ids;
    size_t n;
    arena_init(&a);
    int rc = st_item_change_ids(j->c.storage, &a, &ids, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct arena one;
        arena_init(&one);
        rc = replay_one(j, &one, ids[i], e);
        arena_free(&one);
    }
    arena_free(&a);
    return rc;
}

/* Puts are replayed first, because a change may have replaced a put's file. */
int journal_replay(struct journal *j, struct err *e)
{
    return puts_replay(j, e) < 0 ? -1 : changes_replay(j, e);
}
