/* SPDX-License-Identifier: MIT
 *
 * Changes whose bytes are not in the journal: their intents, and how a start completes them.
 */
#include <stdlib.h>
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

/* Removes an earlier put of the same blob from the journal. */
static int forget(struct journal *j, int64_t id, struct err *e)
{
    struct arena a;
    struct item_change c;
    if (j->puts == 0)
        return st_item_change_remove(j->c.storage, id, e);
    arena_init(&a);
    int rc = st_item_change_get(j->c.storage, &a, id, &c, e);
    if (rc > 0)
        rc = st_kept_put_forget_before(j->c.storage, &c, e);
    if (rc >= 0)
        rc = st_item_change_remove(j->c.storage, id, e);
    arena_free(&a);
    return rc;
}

static int forget_row(struct journal *j, const struct ended_row *row, struct err *e)
{
    return row->is_put ? st_kept_put_remove(j->c.storage, row->id, e) : forget(j, row->id, e);
}

/* Rows that one turn removes. */
struct forgetting {
    struct journal *j;
    bool failed;
    size_t n;
    struct ended_row row[];
};

static void on_time(void *ctx);

static void add_ended(struct journal *j, struct ended_row row)
{
    if (j->n_ended == j->ended_cap) {
        j->ended_cap = j->ended_cap ? j->ended_cap * 2 : 64;
        j->ended = xrealloc(j->ended, j->ended_cap * sizeof *j->ended);
    }
    j->ended[j->n_ended++] = row;
}

static void forget_later(struct journal *j, int64_t after_us)
{
    if (j->forgets)
        return;
    j->forgets = true;
    if (!j->forget)
        j->forget = loop_timer_create(j->c.loop, on_time, j);
    loop_timer_start(j->forget, loop_mono_us(j->c.loop) + after_us);
}

/* Rows whose removal was lost are there again. A stopping journal leaves them to the next start. */
static void on_forgotten(void *ctx, const struct err *why)
{
    struct forgetting *f = ctx;
    if ((why || f->failed) && !f->j->stopped) {
        for (size_t i = 0; i < f->n; i++)
            add_ended(f->j, f->row[i]);
        forget_later(f->j, FORGET_AGAIN_US);
    }
    free(f);
}

static void say_not_removed(struct journal *j, const struct ended_row *row, const struct err *why)
{
    if (row->is_put)
        LOG_ERROR(j->c.log, "journal.row_not_removed", LF_INT("put", row->id),
                  LF_STR("why", why->msg));
    else
        LOG_ERROR(j->c.log, "journal.row_not_removed", LF_INT("change", row->id),
                  LF_STR("why", why->msg));
}

/* Together with the turn's other writes. */
void journal_forget(struct journal *j)
{
    struct err e;
    if (j->n_ended == 0)
        return;
    struct forgetting *f = xcalloc(1, sizeof *f + j->n_ended * sizeof *f->row);
    f->j = j;
    f->n = j->n_ended;
    memcpy(f->row, j->ended, f->n * sizeof *f->row);
    j->n_ended = 0;
    for (size_t i = 0; i < f->n && !f->failed; i++) {
        f->failed = forget_row(j, &f->row[i], &e) < 0;
        if (f->failed)
            say_not_removed(j, &f->row[i], &e);
    }
    journal_when_guarded(j, on_forgotten, f);
}

int journal_guard(struct journal *j, const struct item_change *change, struct journal_entry *out,
                  struct err *e)
{
    struct item_change c = *change;
    c.id = j->last_id + 1;
    journal_forget(j); /* in the same transaction */
    if (st_item_change_add(j->c.storage, &c, e) < 0)
        return -1;
    *out = (struct journal_entry){c.id, 0};
    j->last_id = c.id;
    return 0;
}

void journal_when_guarded(struct journal *j, void (*cb)(void *ctx, const struct err *why),
                          void *ctx)
{
    if (j->c.unsynced)
        st_when_committed(j->c.storage, cb, ctx);
    else
        st_when_durable(j->c.storage, cb, ctx);
}

static void on_time(void *ctx)
{
    struct journal *j = ctx;
    j->forgets = false;
    journal_forget(j);
}

void journal_forget_put(struct journal *j, int64_t id)
{
    add_ended(j, (struct ended_row){id, true});
}

struct ending {
    struct journal *j;
    int64_t id;
};

static void on_ended(void *ctx, const struct err *why)
{
    struct ending *x = ctx;
    if (!why)
        add_ended(x->j, (struct ended_row){x->id, false});
    if (x->j->stopped)
        journal_forget(x->j);
    else if (!why)
        forget_later(x->j, SETTLE_AFTER_US);
    free(x);
}

void journal_ended(struct journal *j, const struct journal_entry *entry)
{
    struct ending *x = xcalloc(1, sizeof *x);
    *x = (struct ending){j, entry->id};
    journal_when_guarded(j, on_ended, x);
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
    bool noted; /* a row, this one */
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

static void tell(struct journal *j, const struct found_change *f, const char *how)
{
    LOG_WARN(j->c.log, "journal.change_finished", LF_STR("share", f->share->name),
             LF_STR("path", f->c->was.path), LF_STR("how", how));
}

static int replaces(struct journal *j, struct arena *a, const struct found_change *f, struct err *e)
{
    const struct item_change *c = f->c;
    (void)a;
    /* A file without properties to record has no row. */
    bool is_of_it = f->noted ? f->item.inode == c->now_inode && f->item.mtime_ns == c->now_mtime_ns
                             : c->was_there && c->was_noted;
    if (!is_of_it || !is_as_before(f))
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
        return 0; /* it was made anew */
    if (f->there) {
        tell(j, f, "done");
        if (files_remove_now(&f->at, e) < 0)
            return -1;
    }
    return remove_snapshots(j, a, f, e);
}

static int grows(struct journal *j, struct arena *a, const struct found_change *f, struct err *e)
{
    const struct item_change *c = f->c;
    (void)a;
    bool is_known =
        f->noted && f->item.size == (int64_t)f->facts.size && f->item.mtime_ns == f->facts.mtime_ns;
    if (!f->there || is_known || (int64_t)f->facts.inode != c->was_inode ||
        (int64_t)f->facts.size < c->was_size || is_as_before(f))
        return 0;
    tell(j, f, "undone");
    return files_cut_now(&f->at, (uint64_t)c->was_size, c->was_mtime_ns, e);
}

static int look(struct journal *j, struct arena *a, struct found_change *f, struct err *e)
{
    const struct share_item *was = &f->c->was;
    f->at = journal_place(j, a, f->share, was->path, f->c->place);
    enum file_fault fault = files_facts_now(&f->at, &f->facts);
    if (fault && fault != FILE_MISSING && fault != FILE_IS_DIRECTORY && fault != FILE_SPECIAL)
        return err_set(e, ERR_IO, NULL, "its file cannot be looked at");
    f->there = !fault;
    int rc = st_item_get(j->c.storage, a, was->share_id, was->path, &f->item, e);
    f->noted = rc > 0;
    if (rc < 0)
        return -1;
    return fault == FILE_IS_DIRECTORY || fault == FILE_SPECIAL; /* somebody else's */
}

static int settle(struct journal *j, struct arena *a, struct found_change *f, struct err *e)
{
    static int (*const kinds[])(struct journal *, struct arena *, const struct found_change *,
                                struct err *) = {
        [CHANGE_REPLACES] = replaces, [CHANGE_REMOVES] = removes, [CHANGE_GROWS] = grows};
    int rc = look(j, a, f, e);
    return rc == 0 ? kinds[f->c->kind](j, a, f, e) : rc < 0 ? -1 : 0;
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
    if (rc == 0) /* its share has gone */
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

/* Puts first: a change may have replaced a put's file. */
int journal_replay(struct journal *j, struct err *e)
{
    return puts_replay(j, e) < 0 ? -1 : changes_replay(j, e);
}
