/* SPDX-License-Identifier: MIT
 *
 * Shares in memory: what is quick there is done by the loop in its next turn, and no worker starts.
 */
#include "storage/folders/change.h"
#include "storage/folders/upload.h"
#include "test/unit/storage/folders/fixture.h"

#define MEMORY "/dev/shm"

struct memory_placed {
    struct file_upload *upload;
    struct file_result r;
    int times;
};

static int start_in_memory(void **state)
{
    start(state);
    struct files_fx *f = *state;
    struct err e;
    assert_int_equal(fs_remove_tree(f->share, &e), 0);
    snprintf(f->share, sizeof f->share, MEMORY "/batchaid-files-XXXXXX");
    if (!mkdtemp(f->share) || !files_in_memory(f->files, f->share)) {
        bool removed = fs_remove_tree(f->other, &e) == 0 && fs_remove_tree(f->share, &e) == 0;
        assert_true(removed);
        fprintf(stderr, "[  SKIPPED ] " MEMORY " is no memory that can be written here\n");
        exit(0);
    }
    put(f->share, "ten", "0123456789", 10);
    return 0;
}

static size_t workers(struct files_fx *f)
{
    struct files_counts c;
    files_count(f->files, &c);
    return c.shares;
}

#define MEMORY_TEST(name) TEST_IN(name, struct files_fx *f, *state, start_in_memory, end)

MEMORY_TEST(test_a_file_is_read_in_the_next_turn)
{
    struct files_told t = {0};
    const struct files_open what = {.at = {f->share, "ten"}, .choose = whole};
    files_open(f->files, &what, on_opened, &t);
    assert_int_equal(t.times, 0); /* never inside the call */
    fake_turn(&f->loop);
    assert_int_equal(t.times, 1);
    assert_true(t.is_all && t.n == 10 && memcmp(t.bytes, "0123456789", 10) == 0);
    assert_null(f->loop.lanes);
    forget(&t);
}

MEMORY_TEST(test_a_file_can_be_read_at_once)
{
    struct files_told t = {0};
    struct files_open what = {.at = {f->share, "ten"}, .choose = whole};
    assert_true(files_open_now(f->files, &what, on_opened, &t));
    assert_true(t.times == 1 && t.n == 10);
    forget(&t);
    what.at.path = "none";
    assert_true(files_open_now(f->files, &what, on_opened, &t));
    assert_true(t.times == 1 && t.code == ERR_FILE_NOT_FOUND);
    what.at.share = f->other;
    assert_false(files_open_now(f->files, &what, on_opened, &t));
    assert_int_equal(t.times, 1);
}

MEMORY_TEST(test_others_have_workers_as_ever)
{
    struct files_told t = {0};
    open_file(f, f->other, "ten", &t);
    assert_int_equal(t.times, 0);
    assert_int_equal(workers(f), 1);
    come_back_all(f);
    assert_int_equal(t.times, 1);
    forget(&t);
}

static void on_staged(void *ctx, const struct err *why, const struct file_result *r,
                      struct file_upload *upload)
{
    struct memory_placed *p = ctx;
    assert_null(why);
    p->upload = upload;
    p->r = *r;
    p->times++;
}

static void on_placed(void *ctx, const struct err *why, const struct file_result *r)
{
    struct memory_placed *p = ctx;
    assert_null(why);
    p->r = *r;
    p->times++;
}

MEMORY_TEST(test_a_file_is_put_without_workers_or_debts)
{
    struct memory_placed p = {0};
    struct files_told t = {0};
    files_without_sync(f->files);
    const struct files_upload what = {
        .at = {f->share, "d/new"}, .mode = 0666, .directory_mode = 0777, .later = true};
    files_stage(f->files, &what, &(struct file_content){xstrdup("bytes"), 5, NULL}, on_staged, &p);
    fake_turn(&f->loop);
    assert_true(p.times == 1 && p.upload && !p.r.owes && !p.r.existed);
    upload_finish(p.upload, NULL, on_placed, &p);
    fake_turn(&f->loop);
    assert_int_equal(p.times, 2);
    upload_end(p.upload);
    fake_turn(&f->loop);
    open_file(f, f->share, "d/new", &t);
    assert_true(t.n == 5 && memcmp(t.bytes, "bytes", 5) == 0);
    assert_null(f->loop.lanes);
    forget(&t);
}

#define MUCH (17 * 1024 * 1024)

static void on_freed(void *ctx, const struct err *why, const struct file_result *r)
{
    struct files_told *t = ctx;
    (void)r;
    note(t, why);
}

static void remove_it(struct files_fx *f, struct files_told *t)
{
    files_remove_file(f->files, &(struct file_place){f->share, "much"}, on_freed, t);
}

static void cut_it(struct files_fx *f, struct files_told *t)
{
    files_set_size(f->files, &(struct file_place){f->share, "much"}, 1, on_freed, t);
}

static void clear_it(struct files_fx *f, struct files_told *t)
{
    const struct files_clear what = {.at = {f->share, "much"}, .range = {0, MUCH}};
    files_clear(f->files, &what, on_freed, t);
}

static void rename_over_it(struct files_fx *f, struct files_told *t)
{
    put(f->share, "little", "x", 1);
    const struct files_rename what = {.at = {f->share, "little"}, .to = "much", .replaces = true};
    files_rename(f->files, &what, on_freed, t);
}

static void put_over_it(struct files_fx *f, struct files_told *t)
{
    const struct files_upload what = {.at = {f->share, "much"}, .mode = 0666};
    files_put(f->files, &what, &(struct file_content){xstrdup("x"), 1, NULL}, on_freed, t);
}

static off_t held_by_much(struct files_fx *f)
{
    char path[100];
    struct stat st;
    snprintf(path, sizeof path, "%s/much", f->share);
    return stat(path, &st) == 0 ? st.st_blocks * 512 : 0;
}

MEMORY_TEST(test_what_frees_much_is_for_a_worker)
{
    static void (*const all[])(struct files_fx *, struct files_told *) = {
        remove_it, cut_it, clear_it, rename_over_it, put_over_it};
    FREED char *much = xcalloc(1, MUCH);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct files_told t = {0};
        put(f->share, "much", much, MUCH);
        all[i](f, &t);
        fake_turn(&f->loop);
        assert_int_equal(t.times, 0);
        assert_int_equal(held_by_much(f), MUCH);
        come_back_all(f);
        assert_true(t.times == 1 && t.code == ERR_NONE);
        assert_true(held_by_much(f) <= 4096);
    }
}

MEMORY_TEST(test_much_that_nobody_has_any_more_is_for_a_worker)
{
    struct files_told t = {0}, gone = {0};
    FREED char *much = xcalloc(1, MUCH);
    put(f->share, "much", much, MUCH);
    const struct files_open what = {.at = {f->share, "much"}, .choose = whole};
    assert_true(files_open_now(f->files, &what, on_opened, &t) && t.file);
    remove_it(f, &gone);
    fake_turn(&f->loop);
    come_back_all(f);
    assert_int_equal(gone.times, 1);
    assert_int_equal(f->loop.lanes->base.busy, 0);
    forget(&t); /* closes it */
    fake_turn(&f->loop);
    assert_int_equal(f->loop.lanes->base.busy, 1);
    come_back_all(f);
}

MEMORY_TEST(test_the_end_waits_for_what_was_asked)
{
    struct files_told t = {0};
    const struct files_open what = {.at = {f->share, "ten"}, .choose = whole};
    files_open(f->files, &what, on_opened, &t);
    files_stop(f->files, on_stopped, f);
    assert_int_equal(t.times, 1);
    assert_int_equal(t.code, ERR_UNAVAILABLE);
    fake_turn(&f->loop);
    assert_true(f->stopped);
}

MEMORY_TEST(test_where_no_memory_is_nothing_changes)
{
    assert_false(files_in_memory(f->files, "/proc/self"));
    assert_false(files_in_memory(f->files, "/nowhere"));
}
