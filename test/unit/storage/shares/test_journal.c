/* SPDX-License-Identifier: MIT
 *
 * The journal of small blobs: rows go once the files are on disk, and what a row still says after a
 * start is put back.
 */
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

static void open_journal(struct jr *t)
{
    const struct journal_config c = {.storage = t->w->f->st,
                                     .loop = t->w->f->tools,
                                     .log = &t->w->f->log,
                                     .storage_dir = t->w->dir};
    t->j = journal_create(&c);
    ok(t->w->f, journal_replay(t->j, &t->w->f->e));
}

static int start_journal(void **state)
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

static int stop_journal(void **state)
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

static size_t rows(struct jr *t)
{
    int64_t *ids;
    size_t n;
    ok(t->w->f, st_kept_put_ids(t->w->f->st, &t->w->f->a, &ids, &n, &t->w->f->e));
    return n;
}

static const char *folder(struct jr *t)
{
    return share_folder(&t->w->f->a, t->w->dir, "acct", t->share.kind, t->share.name);
}

/* --- a put, as a handler does it -------------------------------------------------------------- */

struct put_of {
    struct jr *t;
    const char *path, *bytes;
    struct journal_entry entry;
    struct file_upload *u;
    bool done, not_placed;
};

static void on_placed(void *ctx, const struct err *why, const struct file_result *r)
{
    struct put_of *p = ctx;
    assert_null(why);
    (void)r;
    if (!p->not_placed)
        journal_placed(p->t->j, &p->entry, p->u);
    else
        upload_end(p->u);
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
    assert_true(journal_takes(t->j, strlen(p->bytes)));
    files_stage(t->w->files, &what,
                &(struct file_content){xstrdup(p->bytes), strlen(p->bytes), NULL}, on_staged, p);
    for (int i = 0; i < 20000 && !p->done; i++)
        turn(t->w);
    assert_true(p->done);
}

static const char *place(struct jr *t, const char *name)
{
    return arena_concat(&t->w->f->a, folder(t), "/", name);
}

static void assert_bytes(struct jr *t, const char *name, const char *bytes)
{
    char *text;
    struct err e;
    assert_int_equal(fs_read(place(t, name), 100, &text, NULL, &e), 0);
    assert_string_equal(text, bytes);
    free(text);
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

#define JOURNAL_TEST(name) TEST_IN(name, struct jr *t, *state, start_journal, stop_journal)

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

static size_t intents(struct jr *t)
{
    int64_t *ids;
    size_t n;
    ok(t->w->f, st_item_change_ids(t->w->f->st, &t->w->f->a, &ids, &n, &t->w->f->e));
    return n;
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

/* --- bytes that are added to a file that is there --------------------------------------------- */

static struct file_facts facts(struct jr *t, const char *name)
{
    struct file_facts out;
    const struct file_place at = {folder(t), name};
    assert_int_equal(files_facts_now(&at, &out), FILE_FINE);
    return out;
}

static void write_bytes(struct jr *t, const char *name, const char *bytes)
{
    int fd = open(place(t, name), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
    close(fd);
}

static void set_mtime(struct jr *t, const char *name, int64_t ns)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT},
                                     {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, place(t, name), times, 0), 0);
}

#define GROWN_NS INT64_C(1700000000000000000)

static void note_file(struct jr *t, const struct file_facts *f, int64_t created_us)
{
    const struct share_item item = {.share_id = t->share.id,
                                    .path = "a",
                                    .type = BLOB_APPEND,
                                    .inode = (int64_t)f->inode,
                                    .size = (int64_t)f->size,
                                    .mtime_ns = f->mtime_ns,
                                    .lease_state = LEASE_AVAILABLE,
                                    .revision = 1,
                                    .created_us = created_us};
    ok(t->w->f, st_item_put(t->w->f->st, &item, &t->w->f->e));
}

/* As a handler that is about to add "two" to "one", or to what `was` says. */
static void note_growth(struct jr *t, const struct file_facts *was, const char *bytes,
                        int64_t mtime_ns, struct journal_entry *entry)
{
    struct fx *f = t->w->f;
    struct file_facts now = *was;
    now.size += strlen(bytes);
    now.mtime_ns = mtime_ns;
    const struct kept_put put = {.share_id = t->share.id,
                                 .path = "a",
                                 .inode = (int64_t)was->inode,
                                 .mtime_ns = mtime_ns,
                                 .bytes = bytes,
                                 .n = strlen(bytes),
                                 .was_inode = (int64_t)was->inode,
                                 .was_mtime_ns = was->mtime_ns,
                                 .grows = true,
                                 .grows_from = (int64_t)was->size};
    note_file(t, &now, T0);
    ok(f, journal_keep(t->j, &put, entry, &f->e));
}

static void start_again(struct jr *t, bool cut)
{
    struct fx *f = t->w->f;
    if (cut)
        ok(f, st_exec(f->st, "UPDATE kept_put SET boot = 'before'", "cut", &f->e));
    journal_stop(t->j);
    journal_free(t->j);
    open_journal(t);
    assert_int_equal(rows(t) + intents(t), 0);
}

static void assert_noted(struct jr *t, bool is_of_it)
{
    struct fx *f = t->w->f;
    struct share_item item;
    const struct file_facts now = facts(t, "a");
    ok(f, st_item_get(f->st, &f->a, t->share.id, "a", &item, &f->e));
    assert_int_equal(item.size == (int64_t)now.size && item.mtime_ns == now.mtime_ns, is_of_it);
}

static void ends_after_keeping(struct jr *t, struct journal_entry *entry)
{
    write_bytes(t, "a", "one");
    const struct file_facts was = facts(t, "a");
    note_growth(t, &was, "two", GROWN_NS, entry);
    journal_leave(t->j, entry);
}

/* What the file is when the daemon, or the machine with it, has ended; what it is after the start,
 * and whether it is the blob that was noted. */
static const struct growth {
    const char *bytes; /* NULL: it was not touched */
    int64_t time_ns;   /* 0: the kernel's */
    bool cut;
    const char *becomes;
    bool is_noted;
} growths[] = {
    {NULL, 0, false, "onetwo", true},
    {"onet", 0, false, "onetwo", true},
    {"onetwo", 0, false, "onetwo", true},
    {"onetwo", GROWN_NS, false, "onetwo", true},
    {NULL, 0, true, "onetwo", true},
    {"one", 0, true, "onetwo", true},
    {"onet", 1, true, "onetwo", true},
    {"one???", GROWN_NS, true, "onetwo", true},
    {"onetwo", 1, true, "onetwo", true},
    /* others' */
    {"one", 1, false, "one", false},
    {"one???", 0, false, "one???", false},
    {"on", 0, false, "on", false},
    {"on", 0, true, "on", false},
    {"two", 0, false, "two", false},
};

JOURNAL_TEST(test_what_was_added_is_whole_after_a_start)
{
    for (size_t i = 0; i < sizeof growths / sizeof *growths; i++) {
        const struct growth *g = &growths[i];
        struct journal_entry entry;
        ends_after_keeping(t, &entry);
        if (g->bytes)
            write_bytes(t, "a", g->bytes);
        if (g->time_ns)
            set_mtime(t, "a", g->time_ns);
        start_again(t, g->cut);
        assert_bytes(t, "a", g->becomes);
        assert_noted(t, g->is_noted);
    }
}

JOURNAL_TEST(test_one_addition_after_the_other_is_put_back)
{
    struct journal_entry first, second;
    write_bytes(t, "a", "one");
    struct file_facts was = facts(t, "a");
    note_growth(t, &was, "two", GROWN_NS, &first);
    was.size += 3;
    was.mtime_ns = GROWN_NS;
    note_growth(t, &was, "three", GROWN_NS + 1, &second);
    journal_leave(t->j, &first);
    journal_leave(t->j, &second);
    start_again(t, true);
    assert_bytes(t, "a", "onetwothree");
    assert_noted(t, true);
}

JOURNAL_TEST(test_another_file_gets_nothing_added)
{
    struct journal_entry entry;
    ends_after_keeping(t, &entry);
    write_bytes(t, "b", "one");
    assert_int_equal(rename(place(t, "b"), place(t, "a")), 0);
    start_again(t, true);
    assert_bytes(t, "a", "one");
}

JOURNAL_TEST(test_no_file_that_is_gone_comes_back_by_an_addition)
{
    struct journal_entry entry;
    ends_after_keeping(t, &entry);
    assert_int_equal(unlink(place(t, "a")), 0);
    start_again(t, true);
    assert_int_equal(access(place(t, "a"), F_OK), -1);
}

/* An inode's number serves again. */
JOURNAL_TEST(test_another_blob_gets_nothing_added)
{
    struct fx *f = t->w->f;
    struct journal_entry entry;
    write_bytes(t, "a", "");
    const struct file_facts was = facts(t, "a");
    note_growth(t, &was, "two", GROWN_NS, &entry);
    journal_leave(t->j, &entry);
    ok(f, st_exec(f->st, "UPDATE share_item SET size = 0", "made anew", &f->e));
    start_again(t, true);
    assert_bytes(t, "a", "");
}

/* --- a large block, of which the journal has the intent alone --------------------------------- */

/* As a handler that is about to add much to the empty file "a". */
static void guard_growth(struct jr *t)
{
    struct journal_entry entry;
    write_bytes(t, "a", "");
    const struct file_facts was = facts(t, "a");
    const struct item_change c = {.kind = CHANGE_GROWS,
                                  .was_there = true,
                                  .was_inode = (int64_t)was.inode,
                                  .was_mtime_ns = was.mtime_ns,
                                  .was_noted = true,
                                  .was = {.share_id = t->share.id,
                                          .path = "a",
                                          .type = BLOB_APPEND,
                                          .lease_state = LEASE_AVAILABLE,
                                          .revision = 1,
                                          .created_us = T0}};
    note_file(t, &was, T0);
    ok(t->w->f, journal_guard(t->j, &c, &entry, &t->w->f->e));
}

JOURNAL_TEST(test_bytes_that_no_row_has_are_cut_off)
{
    guard_growth(t);
    write_bytes(t, "a", "added");
    start_again(t, false);
    assert_bytes(t, "a", "");
    assert_noted(t, true);
}

JOURNAL_TEST(test_a_file_whose_blob_was_deleted_stays)
{
    struct fx *f = t->w->f;
    guard_growth(t);
    ok(f, st_item_remove(f->st, t->share.id, "a", &f->e));
    write_bytes(t, "a", "of a job");
    start_again(t, false);
    assert_bytes(t, "a", "of a job");
}

/* An inode's number serves again, and each new blob has the first revision. */
JOURNAL_TEST(test_bytes_of_a_blob_that_was_made_anew_stay)
{
    for (int writes_later = 0; writes_later < 2; writes_later++) {
        guard_growth(t);
        write_bytes(t, "a", "anew");
        const struct file_facts now = facts(t, "a");
        note_file(t, &now, writes_later ? T0 + 1 : T0);
        if (writes_later)
            write_bytes(t, "a", "of a job");
        start_again(t, false);
        assert_bytes(t, "a", writes_later ? "of a job" : "anew");
    }
}
