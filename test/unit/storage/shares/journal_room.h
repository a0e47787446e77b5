/* SPDX-License-Identifier: MIT
 *
 * A journal in a room of shares, which has the share "box".
 */
#ifndef TEST_JOURNAL_ROOM_H
#define TEST_JOURNAL_ROOM_H

#include "storage/shares/journal.h"

#include "lib/loop_uv.h"
#include "model/spec.h"
#include "storage/folders/upload.h"
#include "test/unit/storage/shares/room.h"

struct jr {
    struct shares_room *w;
    struct journal *j;
    struct share share;
};

static inline void open_journal(struct jr *t)
{
    const struct journal_config c = {.storage = t->w->f->st,
                                     .loop = t->w->f->tools,
                                     .log = &t->w->f->log,
                                     .storage_dir = t->w->dir};
    t->j = journal_create(&c);
    ok(t->w->f, journal_replay(t->j, &t->w->f->e));
}

static inline int start_journal(void **state)
{
    start(state);
    struct jr *t = calloc(1, sizeof *t);
    t->w = *state;
    assert_int_equal(make(t->w, "box"), ERR_NONE);
    assert_true(find(t->w, "box", &t->share));
    open_journal(t);
    *state = t;
    return 0;
}

static inline int stop_journal(void **state)
{
    struct jr *t = *state;
    void *w = t->w;
    journal_stop(t->j);
    do /* what is settled needs a worker until it is */
        turn(t->w);
    while (loop_uv_has_work(t->w->f->tools));
    journal_free(t->j);
    free(t);
    *state = w;
    return stop(state);
}

static inline size_t rows(struct jr *t)
{
    int64_t *ids;
    size_t n;
    ok(t->w->f, st_kept_put_ids(t->w->f->st, &t->w->f->a, &ids, &n, &t->w->f->e));
    return n;
}

static inline const char *folder(struct jr *t)
{
    return share_folder(&t->w->f->a, t->w->dir, "acct", t->share.kind, t->share.name);
}

static inline size_t intents(struct jr *t)
{
    int64_t *ids;
    size_t n;
    ok(t->w->f, st_item_change_ids(t->w->f->st, &t->w->f->a, &ids, &n, &t->w->f->e));
    return n;
}

static inline const char *place(struct jr *t, const char *name)
{
    return arena_concat(&t->w->f->a, folder(t), "/", name);
}

static inline void assert_bytes(struct jr *t, const char *name, const char *bytes)
{
    char *text;
    struct err e;
    assert_int_equal(fs_read(place(t, name), 100, &text, NULL, &e), 0);
    assert_string_equal(text, bytes);
    free(text);
}

#define JOURNAL_TEST(name) TEST_IN(name, struct jr *t, *state, start_journal, stop_journal)

#endif
