/* SPDX-License-Identifier: MIT
 *
 * Whole new files: in place at once or not at all; copies and files made of parts.
 */
#include "storage/folders/upload.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "storage/folders/walk.h"
#include "test/unit/storage/folders/changes.h"
#include "test/unit/support/skip.h"

struct begun {
    int times;
    enum file_fault fault;
    struct file_upload *u;
};

static void on_begun(void *ctx, const struct err *why, enum file_fault fault,
                     struct file_upload *upload)
{
    struct begun *b = ctx;
    b->times++;
    b->fault = fault;
    b->u = upload;
    assert_int_equal(why == NULL, fault == FILE_FINE);
    assert_int_equal(why == NULL, upload != NULL);
}

static struct files_upload upload_to(const struct files_fx *f, const char *path)
{
    return (struct files_upload){
        .at = {f->share, path}, .beside = f->other, .mode = 0666, .directory_mode = 0777};
}

static struct file_upload *begin(struct files_fx *f, const struct files_upload *what)
{
    struct begun b = {0};
    files_upload(f->files, what, on_begun, &b);
    come_back_all(f);
    assert_int_equal(b.times, 1);
    assert_int_equal(b.fault, FILE_FINE);
    return b.u;
}

static enum file_fault begin_fault(struct files_fx *f, const char *path)
{
    struct begun b = {0};
    struct files_upload what = upload_to(f, path);
    files_upload(f->files, &what, on_begun, &b);
    come_back_all(f);
    if (b.u)
        upload_end(b.u);
    come_back_all(f);
    return b.fault;
}

static enum file_fault add(struct files_fx *f, struct file_upload *u, const char *text)
{
    struct changed c = {0};
    upload_write(u, xstrdup(text), strlen(text), on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.times, 1);
    return c.r.fault;
}

static enum file_fault finish(struct files_fx *f, struct file_upload *u, const uint8_t *md5,
                              struct changed *c)
{
    *c = (struct changed){0};
    upload_finish(u, md5, on_changed, c);
    come_back_all(f);
    assert_int_equal(c->times, 1);
    upload_end(u);
    come_back_all(f);
    return c->r.fault;
}

static enum file_fault put_text(struct files_fx *f, const struct files_upload *what,
                                const char *text)
{
    struct changed c = {0};
    files_put(f->files, what, &(struct file_content){xstrdup(text), strlen(text), NULL}, on_changed,
              &c);
    come_back_all(f);
    assert_int_equal(c.times, 1);
    return c.r.fault;
}

static void assert_names(struct files_fx *f, const char *folder, const char *names)
{
    struct files_told t = {0};
    files_names(f->files, folder, on_listed, &t);
    come_back_all(f);
    assert_string_equal(t.names, names);
}

/* --- into place ------------------------------------------------------------------------------- */

FOLDER_TEST(test_a_file_is_there_when_it_is_finished)
{
    struct changed c;
    int before = open_descriptors();
    mode_t mask = umask(077);
    struct files_upload what = upload_to(f, "a/b/new");
    what.wants_md5 = true;
    struct file_upload *u = begin(f, &what);
    assert_int_equal(add(f, u, "one "), FILE_FINE);
    assert_int_equal(add(f, u, "two"), FILE_FINE);
    assert_names(f, f->share, "ten ");
    assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
    umask(mask);
    assert_content(f, "a/b/new", "one two", 7);
    assert_int_equal(c.r.facts.size, 7);
    assert_false(c.r.existed);
    assert_int_equal(c.r.facts.inode, stat_of(f, "a/b/new").st_ino);
    assert_int_equal(c.r.md5[0], 0xaa); /* of "one two" */
    assert_int_equal(c.r.md5[15], 0x20);
    assert_int_equal(mode_of(f, "a"), 0777);
    assert_int_equal(mode_of(f, "a/b"), 0777);
    assert_int_equal(mode_of(f, "a/b/new"), 0666);
    assert_int_equal(open_descriptors(), before);
}

FOLDER_TEST(test_it_begins_with_zeros_and_has_the_time_that_is_asked_for)
{
    struct changed c;
    struct files_upload what = upload_to(f, "new");
    what.zeros = 3;
    what.has_time = true;
    what.mtime_ns = INT64_C(-1500000000);
    struct file_upload *u = begin(f, &what);
    assert_int_equal(add(f, u, "ab"), FILE_FINE);
    assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
    assert_int_equal(c.r.facts.mtime_ns, what.mtime_ns);
    assert_content(f, "new", "\0\0\0ab", 5);
    what.zeros = UINT64_MAX;
    struct begun b = {0};
    files_upload(f->files, &what, on_begun, &b);
    come_back_all(f);
    assert_int_equal(b.fault, FILE_TOO_LARGE);
    assert_content(f, "new", "\0\0\0ab", 5);
}

FOLDER_TEST(test_what_is_given_up_leaves_nothing)
{
    int before = open_descriptors();
    struct files_upload what = upload_to(f, "a/b/new");
    struct file_upload *u = begin(f, &what);
    assert_int_equal(add(f, u, "one "), FILE_FINE);
    upload_end(u);
    come_back_all(f);
    assert_names(f, f->share, "ten ");
    assert_names(f, f->other, "ten ");
    struct changed c = {0};
    u = begin(f, &what);
    upload_write(u, xstrdup("x"), 1, on_changed, &c);
    upload_end(u); /* a worker is in it */
    come_back_all(f);
    assert_int_equal(c.times, 0);
    what.wants_md5 = true;
    u = begin(f, &what);
    upload_write(u, xstrdup("x"), 1, on_changed, &c);
    upload_end(u); /* two are */
    come_back_all(f);
    assert_int_equal(c.times, 0);
    assert_names(f, f->share, "ten ");
    assert_int_equal(open_descriptors(), before);
}

FOLDER_TEST(test_what_was_there_stays_until_then)
{
    struct changed c;
    struct files_upload what = upload_to(f, "ten");
    struct file_upload *u = begin(f, &what);
    assert_int_equal(add(f, u, "new"), FILE_FINE);
    assert_content(f, "ten", "0123456789", 10);
    assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
    assert_true(c.r.existed);
    assert_content(f, "ten", "new", 3);
    assert_names(f, f->share, "ten ");
    assert_names(f, f->other, "ten ");
    what.is_new = true;
    u = begin(f, &what);
    assert_int_equal(finish(f, u, NULL, &c), FILE_IS_FILE);
    assert_content(f, "ten", "new", 3);
    what.beside = NULL;
    what.is_new = false;
    assert_int_equal(put_text(f, &what, "again"), FILE_FINE);
    assert_content(f, "ten", "again", 5);
    assert_names(f, f->share, "ten ");
}

FOLDER_TEST(test_what_cannot_be_replaced)
{
    struct files_upload what = upload_to(f, "pipe");
    char away[100];
    pipe_in(f, "pipe");
    assert_int_equal(put_text(f, &what, "x"), FILE_SPECIAL);
    what.at.path = "d";
    struct changed c;
    make_directory(f, "d", &c);
    assert_int_equal(put_text(f, &what, "x"), FILE_IS_DIRECTORY);
    assert_int_equal(begin_fault(f, "ten/x"), FILE_PARENT_MISSING);
    assert_int_equal(begin_fault(f, "ten/x/y"), FILE_PARENT_MISSING);
    assert_int_equal(begin_fault(f, "../x"), FILE_BAD_NAME);
    assert_int_equal(begin_fault(f, "a//b"), FILE_BAD_NAME);
    assert_int_equal(begin_fault(f, "a/"), FILE_BAD_NAME);
    assert_int_equal(begin_fault(f, ""), FILE_BAD_NAME);
    link_in(f, "away", f->other);
    assert_int_equal(begin_fault(f, "away/x"), FILE_LEADS_OUT);
    snprintf(away, sizeof away, "%s/ten", f->other);
    link_in(f, "link", away);
    what.at.path = "link";
    assert_int_equal(put_text(f, &what, "mine"), FILE_FINE); /* in the link's place */
    assert_content(f, "link", "mine", 4);
    assert_names(f, f->share, "away d link pipe ten ");
    struct stat st;
    assert_int_equal(stat(away, &st), 0);
    assert_int_equal(st.st_size, 10);
}

FOLDER_TEST(test_a_wrong_md5_changes_nothing)
{
    struct changed c;
    struct files_upload what = upload_to(f, "ten");
    uint8_t md5[FILES_MD5] = {0};
    what.wants_md5 = true;
    struct file_upload *u = begin(f, &what);
    assert_int_equal(add(f, u, "abc"), FILE_FINE);
    assert_int_equal(finish(f, u, md5, &c), FILE_MD5_WRONG);
    assert_content(f, "ten", "0123456789", 10);
    u = begin(f, &what);
    assert_int_equal(add(f, u, "abc"), FILE_FINE);
    assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
    memcpy(md5, c.r.md5, sizeof md5);
    u = begin(f, &what);
    assert_int_equal(add(f, u, "abc"), FILE_FINE);
    assert_int_equal(finish(f, u, md5, &c), FILE_FINE);
}

/* --- copies ----------------------------------------------------------------------------------- */

static enum file_fault copy(struct files_fx *f, struct file_upload *u,
                            const struct file_part *parts, size_t n)
{
    struct changed c = {0};
    upload_copy(u, f->share, parts, n, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.times, 1);
    return c.r.fault;
}

FOLDER_TEST(test_a_file_is_made_of_parts)
{
    struct changed c;
    const struct file_part parts[] = {
        {"ten", {3, 4}}, {"ten", {0, FILES_ALL}}, {"ten", {10, FILES_ALL}}, {"ten", {9, 1}}};
    const struct file_part beyond = {"ten", {3, 8}}, missing = {"none", {0, FILES_ALL}};
    struct files_upload what = upload_to(f, "sum");
    for (int with_md5 = 0; with_md5 < 2; with_md5++) {
        what.wants_md5 = with_md5;
        struct file_upload *u = begin(f, &what);
        assert_int_equal(copy(f, u, parts, 4), FILE_FINE);
        assert_int_equal(copy(f, u, parts, 0), FILE_FINE);
        assert_int_equal(add(f, u, "end"), FILE_FINE);
        assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
        assert_content(f, "sum", "345601234567899end", 18);
        u = begin(f, &what);
        assert_int_equal(copy(f, u, &beyond, 1), FILE_BEYOND_END);
        assert_int_equal(finish(f, u, NULL, &c), FILE_BEYOND_END); /* nor is a part of it taken */
        u = begin(f, &what);
        assert_int_equal(copy(f, u, &missing, 1), FILE_MISSING);
        upload_end(u);
        assert_content(f, "sum", "345601234567899end", 18);
    }
}

#define COUNTED 3

static void on_counted(void *ctx, const struct err *why, const struct file_result *r)
{
    assert_null(why);
    memcpy(ctx, r->copied, COUNTED * sizeof *r->copied);
}

FOLDER_TEST(test_a_copy_says_how_long_each_part_was)
{
    const struct file_part parts[COUNTED] = {
        {"ten", {3, 4}}, {"ten", {0, FILES_ALL}}, {"ten", {10, FILES_ALL}}};
    uint64_t copied[COUNTED] = {1, 1, 1};
    struct files_upload what = upload_to(f, "sum");
    struct file_upload *u = begin(f, &what);
    upload_copy(u, f->share, parts, COUNTED, on_counted, copied);
    come_back_all(f);
    assert_int_equal(copied[0], 4);
    assert_int_equal(copied[1], 10);
    assert_int_equal(copied[2], 0);
    upload_end(u);
}

FOLDER_TEST(test_many_parts_and_large_ones_are_copied_in_steps)
{
    struct changed c;
    enum { MANY = 1000, LARGE = 20 << 20 };
    struct file_part *parts = xcalloc(MANY, sizeof *parts);
    FREED char *text = xcalloc(1, LARGE);
    for (int i = 0; i < LARGE; i++)
        text[i] = (char)(i % 251);
    put(f->share, "large", text, LARGE);
    for (int i = 0; i < MANY; i++)
        parts[i] = (struct file_part){"ten", {(uint64_t)i % 10, 1}};
    parts[MANY / 2] = (struct file_part){"large", {0, LARGE}};
    struct files_upload what = upload_to(f, "sum");
    struct file_upload *u = begin(f, &what);
    assert_int_equal(copy(f, u, parts, MANY), FILE_FINE);
    assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
    assert_int_equal(c.r.facts.size, LARGE + MANY - 1);
    u = begin(f, &what);
    assert_int_equal(copy(f, u, &parts[MANY / 2], 1), FILE_FINE);
    assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
    free(parts);
    FREED char *path = path_in(f, "sum"), *back = NULL;
    struct err e;
    size_t n;
    assert_int_equal(fs_read(path, LARGE, &back, &n, &e), 0);
    assert_int_equal(n, LARGE);
    assert_memory_equal(back, text, LARGE);
}

FOLDER_TEST(test_holes_stay_holes)
{
    struct changed c;
    const struct file_part huge = {"huge", {0, FILES_ALL}};
    const struct file_part half = {"huge", {UINT64_C(1) << 39, (UINT64_C(1) << 39) - 5}};
    make_file(f, "huge", UINT64_C(1) << 40, &c);
    write_text(f, "huge", 100 << 20, "in the middle", &c);
    struct files_upload what = upload_to(f, "copy");
    struct file_upload *u = begin(f, &what);
    assert_int_equal(copy(f, u, &huge, 1), FILE_FINE);
    assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
    assert_int_equal(c.r.facts.size, UINT64_C(1) << 40);
    assert_true(blocks_of(f, "copy") < 64);
    data(f, "copy", &c);
    assert_string_equal(c.ranges, "104857600+4096 ");
    u = begin(f, &what);
    assert_int_equal(copy(f, u, &half, 1), FILE_FINE);
    assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
    assert_int_equal(c.r.facts.size, (UINT64_C(1) << 39) - 5);
}

/* --- trouble ---------------------------------------------------------------------------------- */

FOLDER_TEST(test_a_full_disk_gives_the_room_back)
{
    struct changed c;
    char at[100];
    make_directory(f, "small", &c);
    snprintf(at, sizeof at, "%s/small", f->share);
    if (mount("tmpfs", at, "tmpfs", 0, "size=1m") < 0)
        skip_because("not allowed to mount: %s", strerror(errno));
    struct files_upload what = upload_to(f, "small/new");
    struct file_upload *u = begin(f, &what);
    upload_write(u, xcalloc(1, 2 << 20), 2 << 20, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.r.fault, FILE_FULL);
    assert_int_equal(add(f, u, "more"), FILE_FULL); /* though there were room for it */
    assert_int_equal(finish(f, u, NULL, &c), FILE_FULL);
    assert_names(f, at, "");
    put_text(f, &what, "fits");
    assert_content(f, "small/new", "fits", 4);
    u = begin(f, &what);
    upload_write(u, xcalloc(1, 1000 << 10), 1000 << 10, on_changed, &c);
    come_back_all(f);
    assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
    umount2(at, MNT_DETACH);
}

FOLDER_TEST(test_a_share_that_hangs_refuses_the_next_piece)
{
    struct changed c[3] = {{0}};
    struct begun b = {0};
    int before = open_descriptors();
    struct files_upload what = upload_to(f, "a/new");
    struct file_upload *u[3];
    for (int i = 0; i < 3; i++)
        u[i] = begin(f, &what);
    for (int i = 0; i < 3; i++)
        upload_write(u[i], xstrdup("x"), 1, on_changed, &c[i]);
    files_upload(f->files, &what, on_begun, &b);
    fake_pass(&f->loop, FILES_HUNG_US);
    assert_int_equal(c[0].times + c[1].times, 0);
    assert_int_equal(c[2].r.fault, FILE_UNAVAILABLE);
    assert_int_equal(b.fault, FILE_UNAVAILABLE);
    files_end_requests(f->files);
    assert_int_equal(c[0].r.fault, FILE_UNAVAILABLE);
    for (int i = 0; i < 3; i++)
        upload_end(u[i]);
    come_back_all(f);
    assert_int_equal(c[0].times, 1);
    assert_names(f, f->share, "ten ");
    assert_int_equal(open_descriptors(), before);
}

FOLDER_TEST(test_a_piece_is_told_when_it_is_hashed_too)
{
    struct changed c[2] = {{0}};
    struct files_upload what = upload_to(f, "a/new");
    what.wants_md5 = true;
    struct file_upload *u[2];
    for (int i = 0; i < 2; i++)
        u[i] = begin(f, &what);
    for (int i = 0; i < 2; i++)
        upload_write(u[i], xstrdup("x"), 1, on_changed, &c[i]);
    fake_come_back(&f->loop, 0); /* of the first, one of two */
    assert_int_equal(c[0].times, 0);
    come_back_all(f);
    assert_int_equal(c[0].times, 1);
    assert_int_equal(c[1].times, 1);
    assert_int_equal(c[0].r.fault, FILE_FINE);
    for (int i = 0; i < 2; i++)
        upload_write(u[i], xstrdup("y"), 1, on_changed, &c[i]);
    fake_pass(&f->loop, FILES_HUNG_US); /* both workers hang, in the first */
    assert_int_equal(c[0].times, 1);
    assert_int_equal(c[1].times, 2);
    assert_int_equal(c[1].r.fault, FILE_UNAVAILABLE);
    for (int i = 0; i < 2; i++)
        upload_end(u[i]);
    come_back_all(f);
    assert_int_equal(c[0].times, 1);
    assert_names(f, f->share, "ten ");
}

/* --- calls that fail: last, as they do for good ----------------------------------------------- */

/* From now on a call fails with `error` if its third argument has all bits of `flags`. */
static bool forbid(unsigned call, unsigned flags, unsigned error)
{
    const struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, flags),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, flags, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code,
                                       (struct sock_filter *)(uintptr_t)code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

FOLDER_TEST(test_files_with_names_do_as_well)
{
    struct changed c;
    int before = open_descriptors();
    if (!forbid(SYS_openat, O_TMPFILE, EOPNOTSUPP)) /* as where there are none */
        skip_because("not allowed to filter system calls: %s", strerror(errno));
    struct files_upload what = upload_to(f, "a/b/new");
    assert_int_equal(openat(AT_FDCWD, "/tmp", O_TMPFILE | O_WRONLY, 0600), -1);
    for (int i = 0; i < 2; i++) {
        struct file_upload *u = begin(f, &what);
        assert_int_equal(add(f, u, "one "), FILE_FINE);
        assert_names(f, f->share, i ? "a ten " : "ten "); /* it is in the other folder */
        assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
        assert_int_equal(c.r.existed, i == 1);
        assert_content(f, "a/b/new", "one ", 4);
        assert_int_equal(mode_of(f, "a/b/new"), 0666);
    }
    what.is_new = true;
    assert_int_equal(put_text(f, &what, "x"), FILE_IS_FILE);
    what.is_new = false;
    what.beside = NULL;
    struct file_upload *u = begin(f, &what);
    assert_int_equal(add(f, u, "two"), FILE_FINE);
    upload_end(u);
    come_back_all(f);
    char inside[100];
    snprintf(inside, sizeof inside, "%s/a/b", f->share);
    assert_names(f, inside, "new ");
    assert_int_equal(put_text(f, &what, "three"), FILE_FINE);
    assert_content(f, "a/b/new", "three", 5);
    assert_names(f, inside, "new ");
    assert_names(f, f->other, "ten ");
    assert_int_equal(open_descriptors(), before);
}

#define LEFT ".batchaid-unfinished-0000000000000001"

static void on_listed_page(void *ctx, const struct err *why, enum file_fault fault,
                           struct file_items *found)
{
    assert_null(why);
    assert_int_equal(fault, FILE_FINE);
    *(size_t *)ctx += found->n;
}

/* A daemon that is killed leaves what had a name; nobody holds that any more. */
FOLDER_TEST(test_what_a_killed_daemon_left_goes_when_it_is_seen)
{
    struct changed c;
    size_t seen = 0;
    char inside[200], path[300];
    if (!forbid(SYS_openat, O_TMPFILE, EOPNOTSUPP))
        skip_because("not allowed to filter system calls: %s", strerror(errno));
    make_directory(f, "d", &c);
    snprintf(inside, sizeof inside, "%s/d", f->share);
    snprintf(path, sizeof path, "%s/" LEFT, inside);
    struct files_upload what = upload_to(f, "d/new");
    what.beside = NULL;
    struct file_upload *u = begin(f, &what); /* somebody's, with a name beside */
    put(inside, LEFT, "half", 4);
    put(f->other, LEFT, "half", 4);
    const struct files_page page = {.at = {f->share, "d"}, .max = 10};
    files_page(f->files, &page, on_listed_page, &seen);
    come_back_all(f);
    assert_int_equal(seen, 0);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(add(f, u, "whole"), FILE_FINE);
    assert_int_equal(finish(f, u, NULL, &c), FILE_FINE);
    assert_content(f, "d/new", "whole", 5);
    put(inside, LEFT, "half", 4);
    remove_file(f, "d/new", &c);
    assert_int_equal(remove_directory(f, "d", &c), FILE_FINE);
    files_sweep(f->other);
    assert_names(f, f->other, "ten ");
}

FOLDER_TEST(test_what_the_disk_does_not_take_is_not_acknowledged)
{
    struct changed c;
    int before = open_descriptors();
    if (!forbid(SYS_fdatasync, 0, EIO))
        skip_because("not allowed to filter system calls: %s", strerror(errno));
    struct files_upload what = upload_to(f, "ten");
    struct file_upload *u = begin(f, &what);
    assert_int_equal(add(f, u, "new"), FILE_FINE);
    assert_int_equal(finish(f, u, NULL, &c), FILE_BROKEN);
    assert_string_equal(c.text, "Input/output error");
    assert_content(f, "ten", "0123456789", 10);
    assert_names(f, f->share, "ten ");
    assert_names(f, f->other, "ten ");
    assert_int_equal(write_text(f, "ten", 0, "x", &c), FILE_BROKEN);
    assert_int_equal(make_file(f, "more", 5, &c), FILE_BROKEN);
    assert_names(f, f->share, "ten ");
    assert_int_equal(open_descriptors(), before);
    files_without_sync(f->files);
    assert_int_equal(write_text(f, "ten", 0, "x", &c), FILE_FINE);
}
