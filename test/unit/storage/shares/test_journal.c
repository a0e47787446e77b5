/* SPDX-License-Identifier: MIT
 *
 * The journal of small blobs: rows go once the files are on disk, and what a row still says after a
 * start is put back.
 */
#include "test/unit/storage/shares/journal_room.h"

/* --- a put, as a handler does it -------------------------------------------------------------- */

struct put_of {
    struct jr *t;
    const char *path, *bytes;
    struct journal_entry entry;
    struct file_upload *u;
    bool done, not_placed, is_held;
};

static void on_placed(void *ctx, const struct err *why, const struct file_result *r)
{
    struct put_of *p = ctx;
    assert_null(why);
    (void)r;
    if (p->not_placed)
        upload_end(p->u);
    else if (!p->is_held)
        journal_placed(p->t->j, &p->entry, p->u);
    p->done = true;
}

static void on_staged(void *ctx, const struct err *why, const struct file_result *r,
                      struct file_upload *u)
{
    struct put_of *p = ctx;
    struct jr *t = p->t;
    assert_null(why);
    p->u = u;
    const struct share_item item = {.share_id = t->share.id,
                                    .path = p->path,
                                    .type = BLOB_BLOCK,
                                    .inode = (int64_t)r->facts.inode,
                                    .size = (int64_t)r->facts.size,
                                    .mtime_ns = r->facts.mtime_ns,
                                    .lease_state = LEASE_AVAILABLE,
                                    .md5 = "noted",
                                    .revision = 1,
                                    .created_us = T0};
    const struct kept_put put = {.share_id = t->share.id,
                                 .path = p->path,
                                 .inode = item.inode,
                                 .mtime_ns = item.mtime_ns,
                                 .bytes = p->bytes,
                                 .n = strlen(p->bytes)};
    ok(t->w->f, st_item_put(t->w->f->st, &item, &t->w->f->e));
    ok(t->w->f, journal_keep(t->j, &put, &p->entry, &t->w->f->e));
    upload_finish(u, NULL, on_placed, p);
}

static void put_blob(struct jr *t, struct put_of *p)
{
    const struct files_upload what = {.at = {folder(t), p->path}, .mode = 0666, .later = true};
    p->t = t;
    files_stage(t->w->files, &what,
                &(struct file_content){xstrdup(p->bytes), strlen(p->bytes), NULL}, on_staged, p);
    for (int i = 0; i < 20000 && !p->done; i++)
        turn(t->w);
    assert_true(p->done);
}

/* The daemon and the machine end before the file of this put is settled. */
static void power_cut(struct jr *t, struct put_of *p)
{
    p->not_placed = true; /* the row stays, as nobody settles it */
    put_blob(t, p);
    journal_stop(t->j);
    journal_free(t->j);
    ok(t->w->f, st_exec(t->w->f->st, "UPDATE kept_put SET boot = 'before'", "cut", &t->w->f->e));
}

JOURNAL_TEST(test_rows_go_once_the_files_are_on_disk)
{
    struct put_of p[3] = {
        {.path = "a", .bytes = "one"}, {.path = "b", .bytes = "two"}, {.path = "c", .bytes = ""}};
    for (int i = 0; i < 3; i++)
        put_blob(t, &p[i]);
    assert_int_equal(rows(t), 3);
    for (int i = 0; i < 20000 && rows(t) > 0; i++)
        turn(t->w);
    assert_int_equal(rows(t), 0);
    assert_bytes(t, "a", "one");
}

JOURNAL_TEST(test_a_stop_settles_them)
{
    struct put_of p = {.path = "a", .bytes = "one"};
    put_blob(t, &p);
    journal_stop(t->j);
    assert_false(journal_takes(t->j, 1));
    for (int i = 0; i < 20000 && rows(t) > 0; i++)
        turn(t->w);
    assert_int_equal(rows(t), 0);
}

/* They were staged before the journal refused more. The first of them begins a round at once, as
 * the journal was stopped; the others wait until it is over. */
JOURNAL_TEST(test_it_settles_puts_that_come_after_it_has_refused_more)
{
    enum { MANY = 520 };
    struct put_of *p = calloc(MANY, sizeof *p);
    for (int i = 0; i < MANY; i++) {
        p[i] = (struct put_of){.bytes = "one", .is_held = true};
        p[i].path = arena_printf(&t->w->f->a, "%d", i);
        put_blob(t, &p[i]);
    }
    assert_false(journal_takes(t->j, 1));
    journal_stop(t->j);
    for (int i = 0; i < MANY; i++)
        journal_placed(t->j, &p[i].entry, p[i].u);
    for (int i = 0; i < 20000 && rows(t) > 0; i++)
        turn(t->w);
    assert_int_equal(rows(t), 0);
    assert_bytes(t, "519", "one");
    free(p);
}

JOURNAL_TEST(test_other_bytes_or_none_take_the_row_away)
{
    struct fx *f = t->w->f;
    struct put_of p = {.path = "a", .bytes = "one", .not_placed = true};
    struct put_of again = {.path = "a", .bytes = "two", .not_placed = true};
    put_blob(t, &p);
    put_blob(t, &again);
    assert_int_equal(rows(t), 1); /* the later one's */
    ok(f, st_item_remove(f->st, t->share.id, "a", &f->e));
    assert_int_equal(rows(t), 0);
    journal_drop(t->j, &p.entry);
    journal_drop(t->j, &again.entry);
}

JOURNAL_TEST(test_what_is_left_is_made_whole_by_the_next_start)
{
    struct put_of p = {.path = "a", .bytes = "one", .not_placed = true};
    put_blob(t, &p);
    journal_leave(t->j, &p.entry);
    assert_int_equal(rows(t), 1);
    int fd = open(place(t, "a"), O_WRONLY | O_TRUNC); /* as another's, older bytes */
    close(fd);
    const struct timespec old[] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, place(t, "a"), old, 0), 0);
    ok(t->w->f, st_exec(t->w->f->st, "UPDATE kept_put SET boot = 'before'", "cut", &t->w->f->e));
    journal_stop(t->j);
    journal_free(t->j);
    open_journal(t);
    assert_bytes(t, "a", "one");
    assert_int_equal(rows(t), 0);
}

JOURNAL_TEST(test_it_takes_no_more_than_it_can_keep)
{
    assert_false(journal_takes(t->j, JOURNAL_PUT_MAX + 1));
    struct journal_entry entry[600];
    char name[600][8];
    size_t n = 0;
    while (journal_takes(t->j, 1)) {
        snprintf(name[n], sizeof name[n], "%zu", n);
        const struct kept_put put = {
            .share_id = t->share.id, .path = name[n], .bytes = "x", .n = 1};
        ok(t->w->f, journal_keep(t->j, &put, &entry[n], &t->w->f->e));
        n++;
    }
    assert_int_equal(n, 512);
    while (n > 0)
        journal_drop(t->j, &entry[--n]);
    assert_true(journal_takes(t->j, 1));
    assert_int_equal(rows(t), 0);
}

JOURNAL_TEST(test_bytes_that_a_power_cut_took_are_put_back)
{
    struct fx *f = t->w->f;
    struct put_of p = {.path = "a/b", .bytes = "one"};
    power_cut(t, &p);
    assert_int_equal(unlink(place(t, "a/b")), 0);
    assert_int_equal(rmdir(place(t, "a")), 0);
    open_journal(t);
    assert_bytes(t, "a/b", "one");
    assert_int_equal(rows(t), 0);
    struct stat st;
    struct share_item item;
    assert_int_equal(stat(place(t, "a/b"), &st), 0);
    ok(f, st_item_get(f->st, &f->a, t->share.id, "a/b", &item, &f->e));
    assert_int_equal(item.inode, st.st_ino); /* so that what was noted of it still counts */
    assert_string_equal(item.md5, "noted");
}

JOURNAL_TEST(test_a_file_that_is_whole_only_loses_its_row)
{
    struct put_of p = {.path = "a", .bytes = "one"};
    power_cut(t, &p);
    open_journal(t);
    assert_bytes(t, "a", "one");
    assert_int_equal(rows(t), 0);
}

JOURNAL_TEST(test_what_cannot_be_put_back_is_tried_again)
{
    struct put_of p = {.path = "a", .bytes = "one"};
    power_cut(t, &p);
    assert_int_equal(unlink(place(t, "a")), 0);
    assert_int_equal(rename(folder(t), arena_concat(&t->w->f->a, folder(t), ".away")), 0);
    open_journal(t);
    assert_int_equal(rows(t), 1);
    assert_int_equal(rename(arena_concat(&t->w->f->a, folder(t), ".away"), folder(t)), 0);
    journal_stop(t->j);
    journal_free(t->j);
    open_journal(t);
    assert_int_equal(rows(t), 0);
    assert_bytes(t, "a", "one");
}

JOURNAL_TEST(test_ids_go_on_where_they_were)
{
    struct put_of p = {.path = "a", .bytes = "one"}, q = {.path = "b", .bytes = "two"};
    power_cut(t, &p);
    ok(t->w->f,
       st_exec(t->w->f->st, "UPDATE share SET state = 4, deleted_us = 1", "delete", &t->w->f->e));
    open_journal(t);
    put_blob(t, &q);
    assert_true(q.entry.id > p.entry.id); /* a row of a deleted share waits for its restoring */
}

/* Goes on until no row is left. The first turn that removes one is lost. */
static void forget_in_a_lost_turn(struct jr *t, size_t (*left)(struct jr *))
{
    struct storage *st = t->w->f->st;
    for (int i = 0; i < 20000 && left(t) > 0; i++)
        turn(t->w);
    assert_int_equal(left(t), 0);
    assert_true(st->in_turn);
    lose_turn(t->w);
    assert_int_equal(left(t), 1);
    for (int i = 0; i < 20000 && (st->in_turn || left(t) > 0); i++)
        turn(t->w);
    assert_int_equal(left(t), 0);
}

JOURNAL_TEST(test_the_row_of_a_put_goes_after_a_lost_turn)
{
    struct put_of p = {.path = "a", .bytes = "one"};
    put_blob(t, &p);
    forget_in_a_lost_turn(t, rows);
}

static struct journal_entry guard(struct jr *t)
{
    struct journal_entry entry;
    const struct item_change c = {.kind = CHANGE_REMOVES,
                                  .was = {.share_id = t->share.id, .path = "a"}};
    ok(t->w->f, journal_guard(t->j, &c, &entry, &t->w->f->e));
    assert_false(fx_flush(t->w->f).failed);
    return entry;
}

/* A job has made a directory where the file was to be placed; and the daemon was killed. */
JOURNAL_TEST(test_a_directory_does_not_keep_the_row_of_a_file_that_was_not_placed)
{
    struct fx *f = t->w->f;
    const struct share_item was = {.share_id = t->share.id,
                                   .path = "d",
                                   .inode = 1,
                                   .mtime_ns = 1,
                                   .lease_state = LEASE_AVAILABLE,
                                   .metadata = "{\"of\":\"the directory\"}",
                                   .revision = 1,
                                   .created_us = T0};
    assert_int_equal(mkdir(place(t, "d"), 0700), 0);
    for (int was_noted = 0; was_noted < 2; was_noted++) {
        struct journal_entry entry;
        struct share_item now = was;
        now.inode = now.mtime_ns = 2;
        now.metadata = NULL;
        const struct item_change c = {.kind = CHANGE_REPLACES,
                                      .now_inode = 2,
                                      .now_mtime_ns = 2,
                                      .was_noted = was_noted == 1,
                                      .was = was};
        ok(f, st_item_put(f->st, &now, &f->e));
        ok(f, journal_guard(t->j, &c, &entry, &f->e));
        journal_stop(t->j);
        journal_free(t->j);
        open_journal(t);
        assert_int_equal(intents(t), 0);
        int rc = st_item_get(f->st, &f->a, t->share.id, "d", &now, &f->e);
        assert_int_equal(rc, was_noted);
        if (was_noted)
            assert_string_equal(now.metadata, was.metadata);
    }
}

JOURNAL_TEST(test_an_intent_goes_after_a_lost_turn)
{
    const struct journal_entry entry = guard(t);
    journal_ended(t->j, &entry);
    forget_in_a_lost_turn(t, intents);
}

JOURNAL_TEST(test_an_intent_stays_if_the_turn_of_its_end_is_lost)
{
    struct fx *f = t->w->f;
    const struct journal_entry entry = guard(t), other = guard(t);
    ok(f, st_item_remove(f->st, t->share.id, "b", &f->e));
    journal_ended(t->j, &entry);
    lose_turn(t->w);
    journal_ended(t->j, &other);
    for (int i = 0; i < 20000 && (f->st->in_turn || intents(t) > 1); i++)
        turn(t->w);
    journal_stop(t->j);
    st_turn_end(f->st);
    assert_int_equal(intents(t), 1);
}

/* What was noted of it is there again as well, and the next start completes it. */
JOURNAL_TEST(test_a_put_stays_if_the_turn_that_drops_it_is_lost)
{
    struct put_of p = {.path = "a", .bytes = "one", .not_placed = true};
    struct put_of other = {.path = "b", .bytes = "two", .not_placed = true};
    put_blob(t, &p);
    put_blob(t, &other);
    journal_drop(t->j, &p.entry);
    lose_turn(t->w);
    journal_drop(t->j, &other.entry);
    assert_false(fx_flush(t->w->f).failed);
    journal_stop(t->j);
    st_turn_end(t->w->f->st);
    assert_int_equal(rows(t), 1);
}
