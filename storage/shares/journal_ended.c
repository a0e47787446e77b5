/* SPDX-License-Identifier: MIT
 *
 * The end of changes: their rows are removed together, a moment later or with other writes. A row
 * is removed when that turn is durable.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "storage/shares/journal_priv.h"
#include "storage/storage.h"

void journal_when_guarded(struct journal *j, void (*cb)(void *ctx, const struct err *why),
                          void *ctx)
{
    if (j->c.unsynced)
        st_when_committed(j->c.storage, cb, ctx);
    else
        st_when_durable(j->c.storage, cb, ctx);
}

/* Removes a change from the journal, and an earlier put of the same blob. */
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
struct ended_rows {
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

/* If the turn that removed rows is lost, the rows are there again and are removed later. A stopping
 * journal leaves them to the next start. */
static void on_forgotten(void *ctx, const struct err *why)
{
    struct ended_rows *f = ctx;
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
        LOG_ERROR(j->c.log, "journal.row_not_removed", LF_INT("write_id", row->id),
                  LF_STR("why", why->msg));
    else
        LOG_ERROR(j->c.log, "journal.row_not_removed", LF_INT("change_id", row->id),
                  LF_STR("why", why->msg));
}

void journal_remove_put(struct journal *j, int64_t id)
{
    const struct ended_row row = {id, true};
    struct err e;
    if (forget_row(j, &row, &e) < 0)
        say_not_removed(j, &row, &e);
}

/* Removes the ended rows together with the turn's other writes. */
void journal_forget(struct journal *j)
{
    struct err e;
    if (j->n_ended == 0)
        return;
    struct ended_rows *f = xcalloc(1, sizeof *f + j->n_ended * sizeof *f->row);
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

struct durable_end {
    struct journal *j;
    int64_t id;
};

static void on_ended(void *ctx, const struct err *why)
{
    struct durable_end *x = ctx;
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
    struct durable_end *x = xcalloc(1, sizeof *x);
    *x = (struct durable_end){j, entry->id};
    journal_when_guarded(j, on_ended, x);
}
