/* SPDX-License-Identifier: MIT
 *
 * Directories that are used by way of links, removed by the real agent when no link leads to them.
 */
#include "test/unit/nodeagent-proto/link/fixture.h"

static void make_dir(struct fixture *f, const char *relative)
{
    struct err e;
    char *path = in_root(f, relative), *file = joined(f, path, "file");
    assert_int_equal(fs_mkdirs(path, 0755, &e), 0);
    assert_int_equal(fs_write_atomic(file, "x", 1, 0444, &e), 0);
}

static void make_link(struct fixture *f, const char *relative, const char *target)
{
    struct err e;
    const char *path = in_root(f, relative), *to = *target == '/' ? target : in_root(f, target);
    char *above = strndup(path, (size_t)(strrchr(path, '/') - path));
    assert_int_equal(fs_mkdirs(above, 0755, &e), 0);
    assert_int_equal(symlink(to, path), 0);
    free(above);
}

static bool there(struct fixture *f, const char *relative)
{
    struct stat st;
    bool is = lstat(in_root(f, relative), &st) == 0;
    return is;
}

static void drop(struct fixture *f, const char *dir)
{
    char *d = in_root(f, dir), *used = in_root(f, "links/pool"), *links = in_root(f, "links");
    const struct request_drop_unlinked what = {.dir = d, .used = used, .links = links};
    ASK(f, node_ask(f->link, REQUEST_OF(drop_unlinked, what), on_done, f));
}

READY_TEST(test_what_no_link_leads_to_is_removed)
{
    make_dir(f, "archives/pools");
    make_dir(f, "archives/tasks");
    make_dir(f, "archives/nobodys");
    make_dir(f, "elsewhere/tasks");
    make_link(f, "links/pool/app/1", "archives/pools");
    make_link(f, "links/app_1", "archives/pools");
    make_link(f, "links/task_1", "archives/tasks");
    make_link(f, "links/deep_1", "archives/tasks/bin");
    make_link(f, "links/other", "elsewhere/tasks");
    for (int i = 0; i < 2; i++) {
        drop(f, "archives");
        assert_string_equal(f->why.msg, "");
    }
    assert_true(there(f, "archives/pools/file") && there(f, "elsewhere/tasks/file"));
    assert_true(there(f, "links/pool/app/1") && there(f, "links/app_1") && there(f, "links/other"));
    assert_false(there(f, "archives/tasks") || there(f, "archives/nobodys"));
    assert_false(there(f, "links/task_1") || there(f, "links/deep_1"));
}

READY_TEST(test_what_is_not_there_is_no_error)
{
    drop(f, "archives");
    assert_string_equal(f->why.msg, "");
}

/* Where no path leads to, links may be. */
static void make_deep(struct fixture *f, const char *relative)
{
    char name[201], *path = in_root(f, relative);
    int at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    memset(name, 'd', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t n = 0; n < PATH_MAX; n += sizeof name) {
        assert_int_equal(mkdirat(at, name, 0755), 0);
        int below = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(below >= 0);
        close(at);
        at = below;
    }
    close(at);
}

READY_TEST(test_nothing_goes_where_not_all_links_are_seen)
{
    make_dir(f, "archives/pools");
    make_dir(f, "links/pool/app");
    make_deep(f, "links/pool/app");
    drop(f, "archives");
    assert_why(f, ERR_IO, "links/pool/app/ddd");
    assert_true(there(f, "archives/pools/file"));
}

READY_TEST(test_nothing_outside_and_nothing_of_the_agents_is_reached)
{
    drop(f, "tasks");
    assert_int_equal(f->why.code, ERR_INVALID_PATH);
    drop(f, "../x");
    assert_int_equal(f->why.code, ERR_INVALID_PATH);
    make_link(f, "links/pool/way", "/etc");
    make_dir(f, "archives/nobodys");
    drop(f, "archives");
    assert_false(there(f, "archives/nobodys"));
}
