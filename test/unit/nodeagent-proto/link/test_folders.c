/* SPDX-License-Identifier: MIT
 *
 * Files, mounts and folders of a node, through a local link with the real agent.
 */
#include <sys/stat.h>

#include "test/unit/nodeagent-proto/link/fixture.h"

LINK_TEST(test_files_and_mounts)
{
    struct stat st;
    char now[PATH_MAX] = "";
    open_ready(f);
    char *share = in_root(f, "shares/a"), *other = in_root(f, "shares/b"),
         *target = in_root(f, "mnt/x"), *full = in_root(f, "full/dir"), *deep = in_root(f, "d/e/f"),
         *file = in_root(f, "full/dir/hosts");
    ASK(f, node_ask(f->link, REQUEST(mount_folder, .source = share, .target = target), on_done, f));
    ASK(f, node_ask(f->link, REQUEST(mount_folder, .source = share, .target = target), on_done,
                    f)); /* done already */
    assert_string_equal(f->why.msg, "");
    assert_true(readlink(target, now, sizeof now - 1) > 0);
    assert_string_equal(now, share);
    assert_int_equal(stat(target, &st), 0);
    ASK(f, node_ask(f->link, REQUEST(mount_folder, .source = other, .target = target), on_done, f));
    memset(now, 0, sizeof now);
    assert_true(readlink(target, now, sizeof now - 1) > 0);
    assert_string_equal(now, other);

    ASK(f, node_ask(f->link, REQUEST(write_file, .path = file, .text = "127.0.0.1\n", .mode = 0640),
                    on_done, f));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_true(file_has(f, "full/dir/hosts", "127.0.0.1\n"));
    ASK(f, node_ask(f->link, REQUEST(mount_folder, .source = share, .target = full), on_done, f));
    assert_int_equal(f->why.code, ERR_CONFLICT);
    assert_non_null(strstr(f->why.msg, full));
    ASK(f, node_ask(f->link, REQUEST(mount_folder, .source = share, .target = "/tmp/elsewhere"),
                    on_done, f));
    assert_int_equal(f->why.code, ERR_INVALID_PATH);

    const char *dirs[] = {deep, share};
    ASK(f, node_ask(f->link, REQUEST(make_dirs, .paths = dirs, .n_paths = 2), on_done, f));
    assert_int_equal(stat(deep, &st), 0);
    ASK(f, node_ask(f->link, REQUEST(unmount, .target = target), on_done, f));
    ASK(f, node_ask(f->link, REQUEST(unmount, .target = target), on_done, f));
    assert_string_equal(f->why.msg, "");
    assert_int_equal(lstat(target, &st), -1);
    char *all[] = {share, other, target, full, deep, file};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

LINK_TEST(test_only_directories_are_mounted)
{
    struct stat st;
    open_ready(f);
    char *file = in_root(f, "shares/file"), *target = in_root(f, "mnt/x");
    ASK(f, node_ask(f->link, REQUEST(write_file, .path = file, .text = "no folder", .mode = 0644),
                    on_done, f));
    ASK(f, node_ask(f->link, REQUEST(mount_folder, .source = file, .target = target), on_done, f));
    assert_int_equal(f->why.code, ERR_INVALID_PATH);
    assert_non_null(strstr(f->why.msg, file));
    assert_non_null(strstr(f->why.msg, "not a directory"));
    assert_int_equal(lstat(target, &st), -1);
    free(file);
    free(target);
}

static bool is_empty(struct fixture *f, const char *relative)
{
    char *path = in_root(f, relative);
    DIR *d = opendir(path);
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    free(path);
    return n == 2;
}

LINK_TEST(test_remove_tree)
{
    struct stat st;
    open_ready(f);
    char outside[] = "/tmp/batchai-node-outside-XXXXXX";
    assert_non_null(mkdtemp(outside));
    char *precious = fs_join(outside, "precious"), *link = in_root(f, "job/link"),
         *through = in_root(f, "job/link/precious"), *job = in_root(f, "job"),
         *up = in_root(f, "../x"), *tasks = in_root(f, "tasks"),
         *ro = in_root(f, "job/ro/sub/file");
    ASK(f, node_ask(f->link, REQUEST(append, .path = precious, .text = "x"), on_done, f));
    ASK(f, node_ask(f->link, REQUEST(mount_folder, .source = outside, .target = link), on_done, f));
    ASK(f, node_ask(f->link, REQUEST(append, .path = ro, .text = "x"), on_done, f));
    const char *refused[] = {outside, precious, through, up, tasks, "/", f->root, "relative"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ASK(f, node_ask(f->link, REQUEST(remove_tree, .path = refused[i]), on_done, f));
        assert_int_equal(f->why.code, ERR_INVALID_PATH);
        assert_int_equal(stat(precious, &st), 0);
    }
    *strrchr(ro, '/') = '\0';
    assert_int_equal(chmod(ro, 0500), 0);
    ASK(f, node_ask(f->link, REQUEST(remove_tree, .path = job), on_done, f));
    assert_string_equal(f->why.msg, "");
    assert_int_equal(lstat(job, &st), -1);
    WAIT(f, is_empty(f, "trash"));
    assert_int_equal(stat(precious, &st), 0); /* the link went, not what it pointed at */
    ASK(f, node_ask(f->link, REQUEST(remove_tree, .path = job), on_done, f));
    assert_string_equal(f->why.msg, "");
    struct err e;
    assert_int_equal(fs_remove_tree(outside, &e), 0);
    char *all[] = {precious, link, through, job, up, tasks, ro};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static void on_texts(void *ctx, const struct err *why, const char *const *list, size_t n)
{
    struct fixture *f = ctx;
    keep_why(f, why);
    f->n_tasks = 0;
    for (size_t i = 0; i < n; i++)
        f->n_tasks += strncmp(list[i], "task left (running)", 19) == 0 ||
                      strncmp(list[i], "directory /", 11) == 0;
}

LINK_TEST(test_a_root_is_cleaned_and_goes)
{
    open_ready(f);
    start(f, "left", "sleep 1000");
    ASK(f, node_clean(f->link, false, on_texts, f));
    assert_int_equal(f->n_tasks, 3); /* the task, its directory, its output's */
    ASK(f, node_ask(f->link, BARE_REQUEST(remove_root), on_done, f));
    assert_int_equal(f->why.code, ERR_CONFLICT);
    assert_int_equal(f->n_ended, 0); /* only looked at */
    ASK(f, node_clean(f->link, true, on_texts, f));
    assert_string_equal(f->why.msg, "");
    WAIT(f, f->n_ended == 1);
    ASK(f, node_ask(f->link, BARE_REQUEST(remove_root), on_done, f));
    assert_string_equal(f->why.msg, "");
    assert_int_equal(access(f->root, F_OK), -1);
    WAIT(f, f->down == 1); /* there is nothing to serve any more */
}
