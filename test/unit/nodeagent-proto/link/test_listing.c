/* SPDX-License-Identifier: MIT
 *
 * Looking at a node's files through a local link with the real agent: nothing outside of the
 * directory that was given can be seen.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "test/unit/nodeagent-proto/link/fixture.h"

static struct {
    char names[16][64];
    struct node_dir_entry entries[16];
    size_t n;
    bool cut;
    int64_t left_out;
    char *bytes;
    size_t n_bytes;
    int64_t size, mtime_us;
} got;

static void on_dir(void *ctx, const struct err *why, const struct node_dir *dir)
{
    keep_why(ctx, why);
    got.n = dir->n;
    got.cut = dir->cut;
    got.left_out = dir->left_out;
    for (size_t i = 0; i < dir->n && i < 16; i++) {
        got.entries[i] = dir->list[i];
        snprintf(got.names[i], sizeof got.names[i], "%s", dir->list[i].name);
    }
    for (size_t i = 1; i < dir->n; i++)
        assert_true(strcmp(dir->list[i - 1].name, dir->list[i].name) < 0);
}

static void on_bytes(void *ctx, const struct err *why, const struct node_bytes *b)
{
    keep_why(ctx, why);
    free(got.bytes);
    got.bytes = NULL;
    if (why)
        return;
    got.bytes = xcalloc(1, b->n + 1);
    memcpy(got.bytes, b->bytes, b->n);
    got.n_bytes = b->n;
    got.size = b->size;
    got.mtime_us = b->mtime_us;
}

static void put(struct fixture *f, const char *relative, const void *data, size_t n)
{
    char *path = in_root(f, relative);
    struct err e;
    assert_int_equal(fs_write_atomic(path, data, n, 0644, &e), 0);
}

static void make_dir(struct fixture *f, const char *relative)
{
    char *path = in_root(f, relative);
    struct err e;
    assert_int_equal(fs_mkdirs(path, 0755, &e), 0);
}

static void link_to(struct fixture *f, const char *target, const char *relative)
{
    assert_int_equal(symlink(target, in_root(f, relative)), 0);
}

static char *base_of(struct fixture *f)
{
    make_dir(f, "job/out/sub");
    put(f, "job/secret", "outside", 7);
    put(f, "job/out/b.txt", "hello", 5);
    put(f, "job/out/sub/deep.txt", "deep", 4);
    return in_root(f, "job/out");
}

READY_TEST(test_listing_shows_files_and_directories_by_name)
{
    char *base = base_of(f), *fifo = in_root(f, "job/out/pipe");
    link_to(f, "b.txt", "job/out/a-link");
    link_to(f, "../secret", "job/out/leads-out");
    link_to(f, "/etc/passwd", "job/out/leads-far-out");
    link_to(f, "sub", "job/out/link-to-directory");
    put(f, "job/out/not-utf8-\xff", "x", 1);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    ASK(f, node_list_dir(f->link, NULL, base, "", on_dir, f));
    assert_string_equal(f->why.msg, "");
    assert_int_equal(got.n, 3);
    assert_int_equal(got.left_out, 1);
    assert_string_equal(got.names[0], "a-link");
    assert_int_equal(got.entries[0].size, 5);
    assert_string_equal(got.names[1], "b.txt");
    assert_false(got.entries[1].is_dir);
    assert_true(got.entries[1].mtime_us > 1600000000000000LL);
    assert_int_equal(got.entries[1].mode, S_IFREG | 0644);
    assert_string_equal(got.names[2], "sub");
    assert_true(got.entries[2].is_dir);
    ASK(f, node_list_dir(f->link, NULL, base, "sub", on_dir, f));
    assert_int_equal(got.n, 1);
    assert_string_equal(got.names[0], "deep.txt");
}

READY_TEST(test_what_is_missing_or_outside_is_refused_with_its_name)
{
    char *base = base_of(f), *none = in_root(f, "job/none");
    link_to(f, "..", "job/out/up");
    const struct {
        const char *base, *path;
        enum err_code code;
    } cases[] = {
        {none, "", ERR_FILE_NOT_FOUND},   {base, "nowhere", ERR_FILE_NOT_FOUND},
        {base, "../", ERR_INVALID_PATH},  {base, "sub/../..", ERR_INVALID_PATH},
        {base, "/etc", ERR_INVALID_PATH}, {base, "up", ERR_INVALID_PATH},
        {"job", "", ERR_INVALID_PATH},    {base, "up/secret", ERR_INVALID_PATH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ASK(f, node_list_dir(f->link, NULL, cases[i].base, cases[i].path, on_dir, f));
        assert_int_equal(f->why.code, cases[i].code);
        assert_int_equal(got.n, 0);
        ASK(f, node_read_file(f->link,
                              &(struct request_read_file){
                                  .base = cases[i].base, .path = cases[i].path, .max = 10},
                              on_bytes, f));
        assert_true(f->why.code == (int)cases[i].code || f->why.code == ERR_INVALID_PATH);
        assert_null(got.bytes);
    }
    ASK(f, node_list_dir(f->link, NULL, base, "b.txt", on_dir, f));
    assert_int_equal(f->why.code, ERR_FILE_NOT_FOUND);
}

READY_TEST(test_reading_goes_by_parts_and_ends_with_no_bytes)
{
    char *base = base_of(f), *fifo = in_root(f, "job/out/pipe");
    size_t n = 3 * 1024 * 1024 / 2;
    unsigned char *all = xcalloc(1, n);
    for (size_t i = 0; i < n; i++)
        all[i] = (unsigned char)(i * 31 + i / 256);
    put(f, "job/out/big", all, n);
    for (size_t at = 0; at < n; at += got.n_bytes) {
        ASK(f,
            node_read_file(f->link,
                           &(struct request_read_file){
                               .base = base, .path = "big", .offset = (int64_t)at, .max = 1 << 20},
                           on_bytes, f));
        assert_string_equal(f->why.msg, "");
        assert_true(got.n_bytes > 0 && got.size == (int64_t)n && got.mtime_us > 0);
        assert_memory_equal(got.bytes, all + at, got.n_bytes);
    }
    ASK(f, node_read_file(f->link,
                          &(struct request_read_file){
                              .base = base, .path = "big", .offset = (int64_t)n, .max = 10},
                          on_bytes, f));
    assert_int_equal(got.n_bytes, 0);
    assert_int_equal(got.size, n);
    ASK(f, node_read_file(f->link,
                          &(struct request_read_file){
                              .base = base, .path = "big", .offset = 1LL << 60, .max = 10},
                          on_bytes, f));
    assert_int_equal(got.n_bytes, 0);
    ASK(f,
        node_read_file(
            f->link, &(struct request_read_file){.base = base, .path = "big", .max = (1 << 20) + 1},
            on_bytes, f));
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    ASK(f, node_read_file(
               f->link,
               &(struct request_read_file){.base = base, .path = "big", .offset = -1, .max = 1},
               on_bytes, f));
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    ASK(f, node_read_file(f->link,
                          &(struct request_read_file){.base = base, .path = "pipe", .max = 10},
                          on_bytes, f));
    assert_int_equal(f->why.code, ERR_INVALID_PATH); /* and nobody waits for its other end */
    free(all);
}

READY_TEST(test_a_large_directory_comes_whole)
{
    enum { FILES = 5001 };
    make_dir(f, "many");
    char *base = in_root(f, "many");
    for (int i = 0; i < FILES; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%05d-a-name-of-some-length-with-\"quotes\"-in-it", base, i);
        int fd = open(path, O_WRONLY | O_CREAT, 0644);
        assert_true(fd >= 0);
        close(fd);
    }
    ASK(f, node_list_dir(f->link, NULL, base, "", on_dir, f));
    assert_string_equal(f->why.msg, "");
    assert_int_equal(got.n, FILES);
    assert_false(got.cut);
}

READY_TEST(test_many_at_once_are_all_answered)
{
    enum { ASKED = 60 };
    char *base = base_of(f);
    int before = f->answers;
    for (int i = 0; i < ASKED; i++)
        node_read_file(f->link,
                       &(struct request_read_file){.base = base, .path = "b.txt", .max = 100},
                       on_bytes, f);
    WAIT(f, f->answers == before + ASKED);
    assert_string_equal(got.bytes, "hello");
}

int main(void)
{
    int failed = run_all_tests(NULL, NULL);
    free(got.bytes);
    return failed;
}
