/* SPDX-License-Identifier: MIT
 *
 * The journal of bytes that are appended to a blob: what a start completes, and what it cuts off.
 */
#include "test/unit/storage/shares/journal_room.h"

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
