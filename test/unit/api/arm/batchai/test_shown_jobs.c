/* SPDX-License-Identifier: MIT
 *
 * A job that was shown before is found by its note for as long as it reads the same, and by no
 * other job's note ever.
 */
#include "api/arm/batchai/shown_jobs.h"
#include "test/unit/support/tests.h"

#include "test/unit/storage/fixture.h"

#define VERSION 1
#define ROOM    8192

static int64_t keep(struct shown_jobs *all, int64_t id, const char *text)
{
    const struct shown_job shown = {text, strlen(text), T0};
    return shown_jobs_keep(all, id, VERSION, &shown);
}

static bool finds(struct shown_jobs *all, int64_t note, const char *text)
{
    struct shown_job out;
    return shown_jobs_find(all, note, VERSION, &out) && out.len == strlen(text) &&
           memcmp(out.text, text, out.len) == 0;
}

#define SHOWN_TEST(name) TEST_IN(name, struct fx *f, *state, fx_start, fx_end)

SHOWN_TEST(a_text_is_found_until_its_row_changes)
{
    struct shown_jobs *all = shown_jobs_create(f->st, ROOM);
    int64_t id = fx_add_job(f, "j"), other = fx_add_job(f, "k");
    int64_t note = keep(all, id, "text"), note_of_other = keep(all, other, "other");
    assert_true(finds(all, note, "text"));
    ok(f, st_mark_deleting(f->st, RES_JOB, id, T0 + 1, &f->e));
    assert_false(finds(all, note, "text"));
    assert_true(finds(all, note_of_other, "other"));
    note = keep(all, id, "new text");
    assert_true(finds(all, note, "new text"));
    fx_flush(f);
    st_watch_jobs(f->st, NULL, NULL);
    shown_jobs_free(all);
}

/* A turn that is taken back gives the ids of its rows free. */
SHOWN_TEST(a_note_is_for_no_job_that_gets_the_same_id)
{
    struct shown_jobs *all = shown_jobs_create(f->st, ROOM);
    fx_flush(f);
    int64_t lost = fx_add_job(f, "lost");
    int64_t note = keep(all, lost, "lost");
    f->st->turn_doomed = true; /* as by a disk that is full */
    assert_true(fx_flush(f).failed);
    int64_t next = fx_add_job(f, "next");
    assert_int_equal(next, lost);
    int64_t note_of_next = keep(all, next, "next");
    assert_true(finds(all, note_of_next, "next"));
    struct shown_job out;
    assert_false(shown_jobs_find(all, note, VERSION, &out));
    st_watch_jobs(f->st, NULL, NULL);
    shown_jobs_free(all);
}

SHOWN_TEST(what_was_asked_for_longest_ago_makes_room)
{
    struct shown_jobs *all = shown_jobs_create(f->st, ROOM);
    char text[ROOM / 16] = "";
    memset(text, 'x', sizeof text - 1);
    int64_t first = keep(all, 1, text), second = keep(all, 2, text);
    for (int64_t id = 3; id < 40; id++) {
        assert_true(finds(all, first, text));
        assert_true(finds(all, keep(all, id, text), text));
    }
    assert_true(finds(all, first, text));
    assert_false(finds(all, second, text));
    char large[ROOM / 4] = "";
    memset(large, 'y', sizeof large - 1);
    assert_int_equal(keep(all, 41, large), 0);
    assert_false(finds(all, 0, ""));
    st_watch_jobs(f->st, NULL, NULL);
    shown_jobs_free(all);
}
