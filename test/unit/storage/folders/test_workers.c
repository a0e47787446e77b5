/* SPDX-License-Identifier: MIT
 *
 * The workers of shares, and what becomes of those that wait when one hangs.
 */
#include "test/unit/storage/folders/fixture.h"

FOLDER_TEST(test_a_share_has_two_workers)
{
    struct files_told t[3] = {{0}}, other = {0};
    for (int i = 0; i < 3; i++)
        open_file(f, f->share, "ten", &t[i]);
    assert_int_equal(f->loop.lanes->base.busy, 2);
    open_file(f, f->other, "ten", &other);
    assert_int_equal(f->loop.lanes->base.busy, 1); /* it has its own */
    fake_come_back(&f->loop, 0);
    assert_int_equal(other.times, 1);
    assert_int_equal(t[0].times, 0);
    fake_come_back(&f->loop, 1);
    assert_int_equal(t[0].times, 1);
    assert_int_equal(f->loop.lanes->next->base.busy, 2); /* the third has begun */
    come_back_all(f);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(t[i].times, 1);
        assert_int_equal(t[i].n, 10);
        assert_memory_equal(t[i].bytes, "0123456789", 10);
        assert_true(t[i].is_all);
        forget(&t[i]);
    }
    forget(&other);
}

FOLDER_TEST(test_workers_go_when_there_is_nothing_to_do)
{
    struct files_told t = {0};
    put_big(f);
    open_file(f, f->share, "big", &t);
    come_back_all(f);
    assert_non_null(f->loop.lanes);
    fake_pass(&f->loop, 10 * SECOND);
    assert_null(f->loop.lanes); /* although the file is open */
    file_read(t.file, 4, 3, on_read, &t);
    come_back_all(f);
    assert_memory_equal(t.bytes, "bbb", 3);
    forget(&t);
    come_back_all(f);
    fake_pass(&f->loop, 10 * SECOND);
    assert_null(f->loop.lanes);
}

FOLDER_TEST(test_a_hung_share_refuses_until_it_answers)
{
    struct files_told t[3] = {{0}}, late = {0}, own = {0}, other = {0}, again = {0};
    struct files_counts counts;
    for (int i = 0; i < 3; i++)
        open_file(f, f->share, "ten", &t[i]);
    fake_pass(&f->loop, FILES_HUNG_US - 1);
    assert_int_equal(t[2].times, 0);
    fake_pass(&f->loop, 1);
    assert_int_equal(t[2].times, 1);
    assert_int_equal(t[2].code, ERR_UNAVAILABLE);
    assert_says(t[2].text, "does not answer");
    const struct files_open what = {.at = {f->share, "ten"}, .choose = whole};
    files_open(f->files, &what, on_opened, &late);
    assert_int_equal(late.times, 0); /* never inside the call */
    fake_turn(&f->loop);
    assert_int_equal(late.code, ERR_UNAVAILABLE);
    files_remove_tree(f->files, f->share, "/tmp/batchaid-none", on_done, &own);
    open_file(f, f->other, "ten", &other);
    fake_come_back(&f->loop, 0);
    assert_int_equal(other.times, 1);
    fake_pass(&f->loop, 60 * SECOND);
    assert_int_equal(own.times, 0);
    files_count(f->files, &counts);
    assert_int_equal(counts.hung, 1);
    assert_int_equal(counts.waiting, 1);
    assert_int_equal(counts.refused, 2);
    come_back_all(f);
    assert_int_equal(t[0].times + t[1].times, 2);
    assert_int_equal(own.times, 1);
    assert_int_equal(own.code, ERR_NONE);
    open_file(f, f->share, "ten", &again);
    come_back_all(f);
    assert_int_equal(again.code, ERR_NONE);
    files_count(f->files, &counts);
    assert_int_equal(counts.hung, 0);
    struct files_told *all[] = {&t[0], &t[1], &t[2], &late, &other, &again};
    for (size_t i = 0; i < 6; i++)
        forget(all[i]);
}

/* As a process that was stopped: nobody heard of what came back meanwhile. */
FOLDER_TEST(test_a_loop_that_stood_still_takes_no_share_for_hung)
{
    struct files_told t[3] = {{0}};
    for (int i = 0; i < 3; i++)
        open_file(f, f->share, "ten", &t[i]);
    fake_pass(&f->loop, 60 * SECOND);
    assert_int_equal(t[2].times, 0);
    fake_pass(&f->loop, FILES_HUNG_US);
    assert_int_equal(t[2].code, ERR_UNAVAILABLE);
    come_back_all(f);
    for (int i = 0; i < 3; i++)
        forget(&t[i]);
}

/* Folders that are one on the disk, and many to storage/folders/. */
static const char *spelled(struct files_fx *f, int nth, char *buf, size_t size)
{
    assert_true((size_t)nth + sizeof f->share < size);
    memset(buf, '/', (size_t)nth);
    snprintf(buf + nth, size - (size_t)nth, "%s", f->share);
    return buf;
}

static void open_spelled(struct files_fx *f, int nth, const char *name, struct files_told *t)
{
    char folder[1024];
    open_file(f, spelled(f, nth, folder, sizeof folder), name, t);
}

/* As many shares as may have workers at once, and one. */
#define CROWD 257

FOLDER_TEST(test_open_files_of_many_shares_take_no_room)
{
    struct files_told t[CROWD] = {{0}};
    put_big(f);
    for (int i = 0; i < CROWD; i++) {
        open_spelled(f, i, "big", &t[i]);
        come_back_all(f);
        assert_int_equal(t[i].code, ERR_NONE);
        assert_non_null(t[i].file);
    }
    file_read(t[0].file, 4, 3, on_read, &t[0]); /* its workers made room for the last one's */
    come_back_all(f);
    assert_memory_equal(t[0].bytes, "bbb", 3);
    for (int i = 0; i < CROWD; i++)
        forget(&t[i]);
}

FOLDER_TEST(test_many_hung_shares_are_no_word_about_another)
{
    struct files_told t[2 * (CROWD - 1)] = {{0}}, other = {0};
    struct files_counts counts;
    for (int i = 0; i < CROWD - 1; i++) {
        open_spelled(f, i, "ten", &t[2 * i]);
        open_spelled(f, i, "ten", &t[2 * i + 1]);
    }
    fake_pass(&f->loop, FILES_HUNG_US);
    files_count(f->files, &counts);
    assert_int_equal(counts.hung, CROWD - 1);
    const struct files_open what = {.at = {f->other, "ten"}, .choose = whole};
    files_open(f->files, &what, on_opened, &other);
    fake_turn(&f->loop);
    assert_int_equal(other.code, ERR_UNAVAILABLE);
    assert_string_equal(other.text,
                        "requests use files of 256 other shares now, which is the limit, and 256 "
                        "of these shares do not answer; try again in a moment");
    come_back_all(f);
    files_open(f->files, &what, on_opened, &other);
    come_back_all(f);
    assert_int_equal(other.code, ERR_NONE);
    for (int i = 0; i < 2 * (CROWD - 1); i++)
        forget(&t[i]);
    forget(&other);
}

FOLDER_TEST(test_one_slow_call_is_no_hang)
{
    struct files_told slow = {0}, quick = {0};
    open_file(f, f->share, "ten", &slow);
    fake_pass(&f->loop, 60 * SECOND);
    const struct files_open what = {.at = {f->share, "ten"}, .choose = whole};
    files_open(f->files, &what, on_opened, &quick);
    fake_pass(&f->loop, SECOND);
    assert_int_equal(quick.times, 0);
    come_back_all(f);
    assert_int_equal(slow.code, ERR_NONE);
    assert_int_equal(quick.code, ERR_NONE);
    forget(&slow);
    forget(&quick);
}

/* With a file that does not answer a share goes on, one request after the other. */
FOLDER_TEST(test_one_worker_hangs_and_the_other_goes_on)
{
    struct files_told hung = {0}, next[5] = {{0}};
    struct files_counts counts;
    open_file(f, f->share, "ten", &hung);
    for (int i = 0; i < 5; i++)
        open_file(f, f->share, "ten", &next[i]);
    for (int i = 0; i < 5; i++) {
        fake_pass(&f->loop, FILES_HUNG_US - 1); /* since this one began */
        assert_int_equal(f->loop.lanes->base.busy, 2);
        fake_come_back_of(&f->loop, 0, 1); /* the later of the two */
        assert_int_equal(next[i].times, 1);
        assert_int_equal(next[i].code, ERR_NONE);
        assert_int_equal(next[i].n, 10);
        files_count(f->files, &counts);
        assert_int_equal(counts.hung, 0);
        assert_int_equal(counts.waiting, i < 3 ? 3 - i : 0);
    }
    assert_int_equal(hung.times, 0);
    assert_int_equal(f->loop.lanes->base.busy, 1);
    fake_come_back(&f->loop, 0);
    assert_int_equal(hung.code, ERR_NONE);
    assert_int_equal(hung.n, 10);
    files_count(f->files, &counts);
    assert_int_equal(counts.refused, 0);
    for (int i = 0; i < 5; i++)
        forget(&next[i]);
    forget(&hung);
}
