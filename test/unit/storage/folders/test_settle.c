/* SPDX-License-Identifier: MIT
 *
 * Files that are staged, placed, and brought to the disk together; and what is done after a power
 * cut for those that were not.
 */
#include "storage/folders/upload.h"

#include "test/unit/storage/folders/changes.h"

struct staged {
    int times;
    struct file_result r;
    struct file_upload *u;
};

static void on_staged(void *ctx, const struct err *why, const struct file_result *r,
                      struct file_upload *upload)
{
    struct staged *s = ctx;
    s->times++;
    s->r = *r;
    s->u = upload;
    assert_int_equal(why == NULL, upload != NULL);
    assert_int_equal(why == NULL, r->fault == FILE_FINE);
}

static struct staged stage(struct files_fx *f, const char *path, const char *text,
                           const uint8_t *md5)
{
    struct staged s = {0};
    const struct files_upload what = {.at = {f->share, path},
                                      .mode = 0666,
                                      .directory_mode = 0777,
                                      .wants_md5 = true,
                                      .later = true};
    files_stage(f->files, &what, &(struct file_content){xstrdup(text), strlen(text), md5},
                on_staged, &s);
    come_back_all(f);
    assert_int_equal(s.times, 1);
    return s;
}

static struct changed place(struct files_fx *f, struct file_upload *u)
{
    struct changed c = {0};
    upload_finish(u, NULL, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.times, 1);
    return c;
}

static struct files_told settle(struct files_fx *f, struct file_upload *const *uploads, size_t n)
{
    struct files_told t = {0};
    files_settle(uploads, n, on_done, &t);
    come_back_all(f);
    assert_int_equal(t.times, 1);
    return t;
}

FOLDER_TEST(test_a_staged_file_is_placed_as_it_was)
{
    int before = open_descriptors();
    struct staged s = stage(f, "a/new", "bytes", NULL);
    assert_false(s.r.existed);
    assert_int_equal(s.r.facts.size, 5);
    struct files_told t = {0};
    files_look(f->files, f->share, "a", on_done, &t);
    come_back_all(f);
    assert_int_equal(t.code, ERR_FILE_NOT_FOUND); /* not even the directory */
    struct changed c = place(f, s.u);
    assert_false(c.r.existed);
    assert_int_equal(c.r.facts.inode, s.r.facts.inode);
    assert_int_equal(c.r.facts.mtime_ns, s.r.facts.mtime_ns);
    assert_content(f, "a/new", "bytes", 5);
    assert_int_equal(settle(f, &s.u, 1).code, ERR_NONE);
    assert_int_equal(open_descriptors(), before);
}

FOLDER_TEST(test_it_says_what_is_at_the_place)
{
    struct staged s = stage(f, "ten", "new", NULL);
    assert_true(s.r.existed && s.r.before.size == 10 && !s.r.before.is_directory);
    assert_content(f, "ten", "0123456789", 10);
    assert_true(place(f, s.u).r.existed);
    assert_content(f, "ten", "new", 3);
    upload_end(s.u);
}

FOLDER_TEST(test_a_directory_that_goes_meanwhile_is_made_again)
{
    struct changed c;
    make_directory(f, "a", &c);
    struct staged s = stage(f, "a/new", "bytes", NULL);
    remove_directory(f, "a", &c);
    assert_int_equal(place(f, s.u).r.fault, FILE_FINE);
    assert_content(f, "a/new", "bytes", 5);
    upload_end(s.u);
}

FOLDER_TEST(test_what_was_staged_and_given_up_leaves_nothing)
{
    int before = open_descriptors();
    struct staged s = stage(f, "new", "bytes", NULL);
    upload_end(s.u);
    come_back_all(f);
    struct files_told t = {0};
    files_names(f->files, f->share, on_listed, &t);
    come_back_all(f);
    assert_string_equal(t.names, "ten ");
    assert_int_equal(open_descriptors(), before);
}

FOLDER_TEST(test_a_wrong_md5_is_not_staged)
{
    const uint8_t md5[FILES_MD5] = {1};
    struct staged s = stage(f, "ten", "new", md5);
    assert_null(s.u);
    assert_int_equal(s.r.fault, FILE_MD5_WRONG);
    assert_content(f, "ten", "0123456789", 10);
}

FOLDER_TEST(test_many_are_settled_at_once)
{
    enum { MANY = 50 };
    struct file_upload *u[MANY];
    int before = open_descriptors();
    for (int i = 0; i < MANY; i++) {
        char name[20];
        snprintf(name, sizeof name, "d%d/f", i);
        struct staged s = stage(f, name, "bytes", NULL);
        assert_int_equal(s.r.fault, FILE_FINE);
        u[i] = s.u;
        place(f, u[i]);
    }
    assert_int_equal(open_descriptors(), before + MANY);
    assert_int_equal(settle(f, u, MANY).code, ERR_NONE);
    assert_int_equal(open_descriptors(), before);
}

FOLDER_TEST(test_without_sync_nothing_is_owed)
{
    files_without_sync(f->files);
    struct staged s = stage(f, "new", "bytes", NULL);
    assert_false(s.r.owes);
    const struct changed c = place(f, s.u);
    assert_memory_equal(c.r.md5, s.r.md5, FILES_MD5);
    upload_end(s.u);
}

/* --- after a power cut ------------------------------------------------------------------------ */

/* A file that was placed and not settled. */
static struct files_restore lost(struct files_fx *f, const char *path, const char *text)
{
    struct staged s = stage(f, path, text, NULL);
    place(f, s.u);
    upload_end(s.u);
    come_back_all(f);
    return (struct files_restore){
        .what = {.at = {f->share, path}, .mode = 0666, .directory_mode = 0777},
        .bytes = text,
        .n = strlen(text),
        .inode = s.r.facts.inode,
        .mtime_ns = s.r.facts.mtime_ns,
        .was_cut = true};
}

static bool restored(const struct files_restore *what)
{
    struct err e;
    struct file_result r;
    bool put;
    assert_int_equal(files_restore(what, &put, &r, &e), 0);
    assert_int_equal(put, r.facts.inode != 0);
    if (put)
        assert_int_equal(r.facts.mtime_ns, what->mtime_ns);
    return put;
}

static void set_time(const struct files_fx *f, const char *name, int64_t ns)
{
    const struct timespec t[] = {{.tv_nsec = UTIME_OMIT},
                                 {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}};
    FREED char *path = path_in(f, name);
    assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

FOLDER_TEST(test_a_file_that_is_whole_stays)
{
    struct files_restore what = lost(f, "new", "bytes");
    assert_false(restored(&what));
    assert_int_equal(stat_of(f, "new").st_ino, what.inode);
}

FOLDER_TEST(test_a_file_that_lost_its_bytes_gets_them_back)
{
    struct files_restore what = lost(f, "new", "bytes");
    put(f->share, "new", "", 0);
    set_time(f, "new", what.mtime_ns);
    assert_true(restored(&what));
    assert_content(f, "new", "bytes", 5);
    assert_false(restored(&what)); /* and again, if the daemon dies in between */
}

FOLDER_TEST(test_a_file_that_lost_its_name_gets_it_back_with_its_directory)
{
    struct changed c;
    struct files_restore what = lost(f, "a/b/new", "bytes");
    remove_file(f, "a/b/new", &c);
    remove_directory(f, "a/b", &c);
    assert_true(restored(&what));
    assert_content(f, "a/b/new", "bytes", 5);
}

FOLDER_TEST(test_the_file_that_was_there_before_is_replaced)
{
    struct files_restore what = lost(f, "new", "bytes");
    what.what.at.path = "ten";   /* as if "new" had taken its place and lost it again */
    what.mtime_ns += 1000000000; /* files of one tick of the clock have one time */
    assert_true(restored(&what));
    assert_content(f, "ten", "bytes", 5);
}

FOLDER_TEST(test_what_somebody_has_changed_since_is_theirs)
{
    struct changed c;
    struct files_restore what = lost(f, "new", "bytes");
    write_text(f, "new", 0, "theirs", &c);
    put(f->share, "new", "theirs", 6);
    assert_false(restored(&what));
    assert_content(f, "new", "theirs", 6);
    rename_file(f, "ten", "new", true, &c); /* older bytes, but moved here now */
    assert_false(restored(&what));
    assert_content(f, "new", "0123456789", 10);
}

FOLDER_TEST(test_what_somebody_removed_while_the_kernel_ran_stays_removed)
{
    struct changed c;
    struct files_restore what = lost(f, "new", "bytes");
    what.was_cut = false;
    remove_file(f, "new", &c);
    assert_false(restored(&what));
    assert_int_equal(facts(f, "new", &c), FILE_MISSING);
    make_directory(f, "new", &c);
    what.was_cut = true;
    assert_false(restored(&what)); /* a directory is not ours either */
}

FOLDER_TEST(test_what_cannot_be_put_back_says_why)
{
    struct err e;
    struct file_result r;
    bool is_put;
    struct files_restore what = lost(f, "new", "bytes");
    what.what.at.share = "/nowhere/at/all";
    assert_int_equal(files_restore(&what, &is_put, &r, &e), -1);
    assert_string_equal(e.msg, "No such file or directory");
}
