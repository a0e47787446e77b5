/* SPDX-License-Identifier: MIT
 *
 * Changes to shares: what is made, removed, renamed and written in place, and what is refused.
 */
#include "storage/folders/change.h"

#include <errno.h>
#include <sys/mount.h>

#include "test/unit/storage/folders/changes.h"
#include "test/unit/support/skip.h"

/* --- names ------------------------------------------------------------------------------------ */

FOLDER_TEST(test_what_is_there_is_told_apart)
{
    struct changed c;
    static const struct {
        const char *path;
        enum file_fault fault;
    } cases[] = {
        {"ten", FILE_FINE},
        {"", FILE_FINE},
        {"inside", FILE_FINE},
        {"none", FILE_MISSING},
        {"none/none", FILE_PARENT_MISSING},
        {"ten/x", FILE_PARENT_MISSING},
        {"ten/x/y", FILE_PARENT_MISSING},
        {"pipe", FILE_SPECIAL},
        {"out", FILE_LEADS_OUT},
        {"out/passwd", FILE_LEADS_OUT},
        {"round", FILE_LEADS_OUT},
        {"../x", FILE_BAD_NAME},
        {"a//b", FILE_BAD_NAME},
        {"a/", FILE_BAD_NAME},
        {".", FILE_BAD_NAME},
        {"/etc/passwd", FILE_BAD_NAME},
        {".batchaid-unfinished-x", FILE_BAD_NAME},
        {"a/.batchaid-unfinished-x", FILE_BAD_NAME},
        {".batchaid-unfinished-x/a", FILE_BAD_NAME},
    };
    link_in(f, "out", "/etc");
    link_in(f, "round", "round");
    link_in(f, "inside", "ten");
    pipe_in(f, "pipe");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        facts(f, cases[i].path, &c);
        if (c.r.fault != cases[i].fault)
            fail_msg("%s: %d, not %d", cases[i].path, c.r.fault, cases[i].fault);
        assert_int_equal(c.told, cases[i].fault != FILE_FINE);
    }
    facts(f, "ten", &c);
    assert_false(c.r.facts.is_directory);
    assert_int_equal(c.r.facts.size, 10);
    assert_int_equal(c.r.facts.mtime_ns / 1000, c.r.facts.mtime_us);
    assert_true(c.r.facts.inode > 0 && c.r.facts.ctime_ns > 0);
    facts(f, "", &c);
    assert_true(c.r.facts.is_directory);
}

FOLDER_TEST(test_a_name_too_long_is_a_bad_one)
{
    struct changed c;
    char name[300];
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    assert_int_equal(make_file(f, name, 1, &c), FILE_BAD_NAME);
    name[255] = '\0';
    assert_int_equal(make_file(f, name, 1, &c), FILE_FINE);
}

FOLDER_TEST(test_directories_are_made_and_removed)
{
    struct changed c;
    mode_t mask = umask(077);
    make_directory(f, "d", &c);
    umask(mask);
    assert_int_equal(c.r.fault, FILE_FINE);
    assert_true(c.r.facts.is_directory);
    assert_int_equal(mode_of(f, "d"), 0777);
    assert_int_equal(make_directory(f, "d", &c), FILE_IS_DIRECTORY);
    assert_int_equal(make_directory(f, "", &c), FILE_IS_DIRECTORY);
    assert_int_equal(make_directory(f, "ten", &c), FILE_IS_FILE);
    assert_int_equal(make_directory(f, "no/d", &c), FILE_PARENT_MISSING);
    make_directory(f, "d/e", &c);
    assert_int_equal(remove_directory(f, "d", &c), FILE_NOT_EMPTY);
    assert_int_equal(remove_directory(f, "ten", &c), FILE_IS_FILE);
    assert_int_equal(remove_directory(f, "d/e", &c), FILE_FINE);
    assert_int_equal(remove_directory(f, "d/e", &c), FILE_MISSING);
    assert_int_equal(remove_directory(f, "", &c), FILE_BAD_NAME);
}

FOLDER_TEST(test_files_are_removed_but_nothing_special)
{
    struct changed c;
    pipe_in(f, "pipe");
    link_in(f, "inside", "ten");
    link_in(f, "out", "/etc/passwd");
    link_in(f, "here", ".");
    assert_int_equal(remove_file(f, "pipe", &c), FILE_SPECIAL);
    assert_int_equal(remove_file(f, "out", &c), FILE_LEADS_OUT);
    assert_int_equal(remove_file(f, "here", &c), FILE_IS_DIRECTORY);
    assert_int_equal(remove_file(f, "inside", &c), FILE_FINE);
    assert_int_equal(facts(f, "ten", &c), FILE_FINE);
    assert_int_equal(remove_file(f, "ten", &c), FILE_FINE);
    assert_int_equal(remove_file(f, "ten", &c), FILE_MISSING);
    assert_int_equal(remove_file(f, "no/ten", &c), FILE_PARENT_MISSING);
}

FOLDER_TEST(test_renaming)
{
    struct changed c;
    make_directory(f, "d", &c);
    make_directory(f, "e", &c);
    put(f->share, "one", "1", 1);
    assert_int_equal(rename_file(f, "none", "x", false, &c), FILE_MISSING);
    assert_int_equal(rename_file(f, "none/x", "x", false, &c), FILE_MISSING);
    assert_int_equal(rename_file(f, "ten", "none/x", false, &c), FILE_PARENT_MISSING);
    assert_int_equal(rename_file(f, "ten", "one", false, &c), FILE_IS_FILE);
    assert_int_equal(rename_file(f, "ten", "d", true, &c), FILE_IS_DIRECTORY);
    assert_int_equal(rename_file(f, "d", "one", true, &c), FILE_IS_FILE);
    assert_int_equal(rename_file(f, "d", "d/d", false, &c), FILE_BAD_NAME);
    assert_int_equal(rename_file(f, "ten", "one", true, &c), FILE_FINE);
    assert_true(c.r.existed);
    assert_int_equal(c.r.facts.size, 10);
    assert_int_equal(rename_file(f, "one", "d/eleven", false, &c), FILE_FINE);
    assert_false(c.r.existed);
    assert_int_equal(rename_file(f, "d", "e/d", false, &c), FILE_FINE);
    facts(f, "e/d/eleven", &c);
    assert_int_equal(c.r.facts.size, 10);
}

/* --- bytes ------------------------------------------------------------------------------------ */

FOLDER_TEST(test_a_file_of_zeros_takes_no_room)
{
    struct changed c;
    mode_t mask = umask(077);
    make_file(f, "huge", UINT64_C(1) << 40, &c);
    umask(mask);
    assert_int_equal(c.r.fault, FILE_FINE);
    assert_false(c.r.existed);
    assert_int_equal(c.r.facts.size, UINT64_C(1) << 40);
    assert_int_equal(mode_of(f, "huge"), 0666);
    assert_true(blocks_of(f, "huge") < 64);
    write_text(f, "huge", 5, "text", &c);
    assert_int_equal(make_file(f, "huge", 7, &c), FILE_FINE);
    assert_true(c.r.existed);
    assert_content(f, "huge", "\0\0\0\0\0\0\0", 7);
}

FOLDER_TEST(test_a_size_that_cannot_be_had_costs_nothing)
{
    struct changed c;
    assert_int_equal(make_file(f, "ten", INT64_MAX, &c), FILE_TOO_LARGE);
    assert_int_equal(make_file(f, "ten", UINT64_MAX, &c), FILE_TOO_LARGE);
    assert_int_equal(set_size(f, "ten", UINT64_MAX, &c), FILE_TOO_LARGE);
    assert_content(f, "ten", "0123456789", 10);
    assert_int_equal(make_file(f, "new", INT64_MAX, &c), FILE_TOO_LARGE);
    assert_int_equal(facts(f, "new", &c), FILE_MISSING);
}

FOLDER_TEST(test_nothing_is_written_through_a_link_that_leads_out)
{
    struct changed c;
    char away[100];
    snprintf(away, sizeof away, "%s/ten", f->other);
    link_in(f, "old", away);
    assert_int_equal(write_text(f, "old", 0, "x", &c), FILE_LEADS_OUT);
    assert_int_equal(set_size(f, "old", 0, &c), FILE_LEADS_OUT);
    pipe_in(f, "pipe");
    assert_int_equal(make_file(f, "pipe", 3, &c), FILE_SPECIAL);
    assert_int_equal(write_text(f, "pipe", 0, "x", &c), FILE_SPECIAL);
}

FOLDER_TEST(test_a_new_file_takes_the_place_of_a_link_and_not_of_what_that_leads_to)
{
    struct changed c;
    char away[100];
    struct stat before, after;
    snprintf(away, sizeof away, "%s/new", f->other);
    link_in(f, "new", away);
    assert_int_equal(make_file(f, "new", 3, &c), FILE_FINE);
    assert_int_equal(access(away, F_OK), -1);
    snprintf(away, sizeof away, "%s/ten", f->other);
    link_in(f, "old", away);
    assert_int_equal(stat(away, &before), 0);
    assert_int_equal(make_file(f, "old", 3, &c), FILE_FINE);
    assert_int_equal(stat(away, &after), 0);
    assert_true(after.st_ino == before.st_ino && after.st_size == before.st_size);
}

FOLDER_TEST(test_ranges_are_written_within_the_file)
{
    struct changed c;
    assert_int_equal(write_text(f, "ten", 3, "abc", &c), FILE_FINE);
    assert_content(f, "ten", "012abc6789", 10);
    assert_int_equal(write_text(f, "ten", 8, "xyz", &c), FILE_BEYOND_END);
    assert_int_equal(write_text(f, "ten", UINT64_MAX - 1, "xyz", &c), FILE_BEYOND_END);
    write_text(f, "ten", 7, "XYZ", &c);
    assert_content(f, "ten", "012abc6XYZ", 10);
    assert_int_equal(write_text(f, "none", 0, "x", &c), FILE_MISSING);
    assert_int_equal(write_text(f, "", 0, "x", &c), FILE_IS_DIRECTORY);
    set_size(f, "ten", 4, &c);
    assert_content(f, "ten", "012a", 4);
    set_size(f, "ten", 5, &c);
    assert_content(f, "ten", "012a\0", 5);
}

FOLDER_TEST(test_appends_go_to_the_end_or_nowhere)
{
    struct changed c;
    assert_int_equal(append_text(f, "ten", FILES_AT_END, "ab", &c), FILE_FINE);
    assert_int_equal(c.r.facts.size, 12);
    assert_int_equal(append_text(f, "ten", 11, "no", &c), FILE_BEYOND_END);
    assert_int_equal(append_text(f, "ten", 13, "no", &c), FILE_BEYOND_END);
    assert_int_equal(append_text(f, "ten", 12, "cd", &c), FILE_FINE);
    assert_content(f, "ten", "0123456789abcd", 14);
}

/* "ten" has some bytes more than at the start, and an append of `n` bytes is taken back. */
static const struct {
    const char *more;
    size_t n;
    enum file_fault fault;
    const char *left;
} taken_back[] = {
    {"", 5, FILE_FINE, ""},
    {"added", 5, FILE_FINE, ""},
    {"of a job", 100, FILE_BEYOND_END, "of a job"},
    {"added, and by a job", 5, FILE_FINE, "added, and by a job"},
};

FOLDER_TEST(test_an_append_is_taken_back_whole_or_not)
{
    struct changed c;
    const struct file_place ten = {f->share, "ten"};
    for (size_t i = 0; i < sizeof taken_back / sizeof *taken_back; i++) {
        char want[100];
        set_size(f, "ten", 10, &c);
        const struct file_facts was = c.r.facts;
        if (*taken_back[i].more)
            append_text(f, "ten", 10, taken_back[i].more, &c);
        files_cut_back(f->files, &ten, &was, taken_back[i].n, on_changed, &c);
        come_back_all(f);
        assert_int_equal(c.r.fault, taken_back[i].fault);
        int n = snprintf(want, sizeof want, "0123456789%s", taken_back[i].left);
        assert_content(f, "ten", want, (size_t)n);
    }
}

FOLDER_TEST(test_a_wrong_md5_writes_nothing)
{
    struct changed c = {0};
    /* of "abc": RFC 1321 */
    static const uint8_t right[] = {0x90, 0x01, 0x50, 0x98, 0x3c, 0xd2, 0x4f, 0xb0,
                                    0xd6, 0x96, 0x3f, 0x7d, 0x28, 0xe1, 0x7f, 0x72};
    uint8_t wrong[sizeof right] = {0};
    struct files_write w = {.at = {f->share, "ten"}, .bytes = xstrdup("abc"), .n = 3, .md5 = wrong};
    files_write(f->files, &w, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.fault, FILE_MD5_WRONG);
    assert_content(f, "ten", "0123456789", 10);
    w.bytes = xstrdup("abc");
    w.md5 = right;
    files_write(f->files, &w, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.fault, FILE_FINE);
    assert_content(f, "ten", "abc3456789", 10);
    w.bytes = xstrdup("abc");
    w.md5 = NULL;
    w.wants_md5 = true;
    files_write(f->files, &w, on_changed, &c);
    come_back_all(f);
    assert_memory_equal(c.r.md5, right, sizeof right);
    const struct file_range first = {0, 3}, beyond = {10, 5};
    files_md5(f->files, &w.at, &first, on_changed, &c);
    come_back_all(f);
    assert_memory_equal(c.r.md5, right, sizeof right);
    files_md5(f->files, &w.at, &beyond, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.fault, FILE_FINE);
    assert_int_equal(c.r.md5[0], 0xd4); /* of nothing */
}

FOLDER_TEST(test_times_are_set_and_kept)
{
    struct changed c = {0};
    const struct file_place ten = {f->share, "ten"}, top = {f->share, ""};
    files_set_times(f->files, &ten, 1500000000123456700, FILES_TIME_KEPT, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.facts.mtime_ns, 1500000000123456700);
    files_set_times(f->files, &ten, FILES_TIME_KEPT, -1, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.facts.atime_ns, -1);
    assert_int_equal(c.r.facts.mtime_ns, 1500000000123456700);
    struct files_write w = {
        .at = ten, .bytes = xstrdup("abc"), .n = 3, .keeps_mtime = true, .offset = 1};
    files_write(f->files, &w, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.facts.mtime_ns, 1500000000123456700);
    assert_content(f, "ten", "0abc456789", 10);
    write_text(f, "ten", 0, "x", &c);
    assert_true(c.r.facts.mtime_ns > 1600000000000000000);
    files_set_times(f->files, &top, 1500000000000000000, 1500000000000000000, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.facts.mtime_ns, 1500000000000000000);
}

static int64_t told_us(void *ctx)
{
    return *(const int64_t *)ctx;
}

FOLDER_TEST(test_a_clock_of_tests_gives_each_write_a_time_of_its_own)
{
    enum { EACH = 50 };
    struct changed c;
    const int64_t at_us = INT64_C(4000000000000000);
    const int64_t clocks[] = {at_us, at_us - INT64_C(3600000000), at_us};
    int64_t now_us, seen[3 * EACH];
    size_t n = 0;
    files_in_time(f->files, told_us, &now_us);
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        now_us = clocks[i];
        for (int k = 0; k < EACH; k++) {
            assert_int_equal(set_size(f, "ten", 10, &c), FILE_FINE);
            assert_int_equal(c.r.facts.mtime_us, now_us);
            for (size_t other = 0; other < n; other++)
                assert_int_not_equal(seen[other], c.r.facts.mtime_ns);
            seen[n++] = c.r.facts.mtime_ns;
        }
    }
    make_directory(f, "d", &c);
    assert_int_equal(c.r.facts.mtime_us, now_us);
    facts(f, "", &c);
    assert_int_equal(c.r.facts.mtime_us, now_us);
    now_us = 0;
    set_size(f, "ten", 10, &c);
    assert_true(c.r.facts.mtime_us < at_us);
}

FOLDER_TEST(test_a_range_of_another_share)
{
    struct changed c = {0};
    struct files_copy_range what = {
        .at = {f->share, "ten"}, .offset = 1, .from = {f->other, "other"}, .range = {2, 3}};
    put(f->other, "other", "abcdef", 6);
    files_copy_range(f->files, &what, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.fault, FILE_FINE);
    assert_content(f, "ten", "0cde456789", 10);
    what.range.len = 5;
    files_copy_range(f->files, &what, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.fault, FILE_BEYOND_END);
    what.range = (struct file_range){0, 6};
    what.offset = 5;
    files_copy_range(f->files, &what, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.fault, FILE_BEYOND_END);
    what.from.path = "none";
    files_copy_range(f->files, &what, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.fault, FILE_MISSING);
    assert_content(f, "ten", "0cde456789", 10);
}

FOLDER_TEST(test_ranges_are_cleared_and_found)
{
    struct changed c = {0};
    FREED char *text = xcalloc(1, 65536);
    memset(text, 'x', 65536);
    put(f->share, "big", text, 65536);
    assert_int_equal(clear_range(f, "big", 4096, 8192, &c), FILE_FINE);
    memset(text + 4096, 0, 8192);
    clear_range(f, "big", 20001, 3, &c);
    memset(text + 20001, 0, 3);
    assert_content(f, "big", text, 65536);
    data(f, "big", &c);
    assert_string_equal(c.ranges, "0+4096 12288+53248 ");
    assert_int_equal(clear_range(f, "big", 65535, 2, &c), FILE_BEYOND_END);
    assert_int_equal(clear_range(f, "big", 65536, 0, &c), FILE_FINE);
    make_file(f, "huge", UINT64_C(1) << 40, &c);
    data(f, "huge", &c);
    assert_string_equal(c.ranges, "");
    write_text(f, "huge", (UINT64_C(1) << 40) - 1, "e", &c);
    data(f, "huge", &c);
    assert_string_equal(c.ranges, "1099511623680+4096 ");
    clear_range(f, "huge", 0, UINT64_C(1) << 40, &c);
    data(f, "huge", &c);
    assert_string_equal(c.ranges, "");
    make_file(f, "empty", 0, &c);
    data(f, "empty", &c);
    assert_string_equal(c.ranges, "");
}

/* --- trouble ---------------------------------------------------------------------------------- */

/* A file system of 1 MiB. */
FOLDER_TEST(test_a_full_disk_is_told_and_leaves_no_new_file)
{
    struct changed c = {0};
    char at[100];
    make_directory(f, "small", &c);
    snprintf(at, sizeof at, "%s/small", f->share);
    if (mount("tmpfs", at, "tmpfs", 0, "size=1m") < 0)
        skip_because("not allowed to mount: %s", strerror(errno));
    assert_int_equal(make_file(f, "small/a", 4 << 20, &c), FILE_FINE); /* it takes no room yet */
    struct files_write w = {
        .at = {f->share, "small/a"}, .bytes = xcalloc(1, 2 << 20), .n = 2 << 20};
    files_write(f->files, &w, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.fault, FILE_FULL);
    assert_int_equal(c.told, 1);
    write_text(f, "small/a", 0, "fits still", &c); /* where there is room already */
    assert_int_equal(c.r.fault, FILE_FINE);
    assert_int_equal(clear_range(f, "small/a", 0, 4 << 20, &c), FILE_FINE);
    assert_int_equal(write_text(f, "small/a", 3 << 20, "there is room again", &c), FILE_FINE);
    umount2(at, MNT_DETACH);
}

FOLDER_TEST(test_a_share_that_hangs_refuses_changes)
{
    struct changed begun[2] = {{0}}, late = {0};
    int before = open_descriptors();
    struct files_write w = {.at = {f->share, "ten"}, .n = 1};
    for (int i = 0; i < 2; i++) {
        w.bytes = xstrdup("x");
        files_write(f->files, &w, on_changed, &begun[i]);
    }
    w.bytes = xstrdup("y");
    files_write(f->files, &w, on_changed, &late);
    fake_pass(&f->loop, FILES_HUNG_US);
    assert_int_equal(late.times, 1);
    assert_int_equal(late.r.fault, FILE_UNAVAILABLE);
    facts(f, "ten", &late);
    assert_int_equal(late.times, 1);
    assert_int_equal(begun[0].times + begun[1].times, 2); /* facts() lets them come back */
    assert_int_equal(begun[1].r.fault, FILE_FINE);
    assert_content(f, "ten", "x123456789", 10);
    assert_int_equal(open_descriptors(), before);
}

FOLDER_TEST(test_a_daemon_that_stops_tells_and_frees)
{
    struct changed c[3] = {{0}};
    struct files_write w = {.at = {f->share, "ten"}, .n = 1};
    for (int i = 0; i < 3; i++) {
        w.bytes = xstrdup("x");
        files_write(f->files, &w, on_changed, &c[i]);
    }
    files_end_requests(f->files);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(c[i].times, 1);
        assert_int_equal(c[i].r.fault, FILE_UNAVAILABLE);
    }
    come_back_all(f);
    assert_int_equal(c[0].times, 1);
}
