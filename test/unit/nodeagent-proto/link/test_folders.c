/* SPDX-License-Identifier: MIT
 *
 * Files, mounts and folders of a node, through a local link with the real agent.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "test/unit/nodeagent-proto/link/fixture.h"

READY_TEST(test_files_and_mounts)
{
    struct stat st;
    char now[PATH_MAX] = "";
    char *share = in_root(f, "shares/a"), *other = in_root(f, "shares/b"),
         *target = in_root(f, "mnt/x"), *full = in_root(f, "full/dir"), *deep = in_root(f, "d/e/f"),
         *file = in_root(f, "full/dir/hosts");
    ASKED(f, mount_folder, .source = share, .target = target);
    ASKED(f, mount_folder, .source = share, .target = target); /* done already */
    assert_string_equal(f->why.msg, "");
    assert_true(readlink(target, now, sizeof now - 1) > 0);
    assert_string_equal(now, share);
    assert_int_equal(stat(target, &st), 0);
    ASKED(f, mount_folder, .source = other, .target = target);
    memset(now, 0, sizeof now);
    assert_true(readlink(target, now, sizeof now - 1) > 0);
    assert_string_equal(now, other);

    ASKED(f, write_file, .path = file, .text = "127.0.0.1\n", .mode = 0640);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_true(file_has(f, "full/dir/hosts", "127.0.0.1\n"));
    ASKED(f, mount_folder, .source = share, .target = full);
    assert_why(f, ERR_CONFLICT, full);
    ASKED(f, mount_folder, .source = share, .target = "/tmp/elsewhere");
    assert_int_equal(f->why.code, ERR_INVALID_PATH);

    const char *dirs[] = {deep, share};
    ASKED(f, make_dirs, .paths = dirs, .n_paths = 2);
    assert_int_equal(stat(deep, &st), 0);
    ASKED(f, unmount, .target = target);
    DONE(f, unmount, .target = target);
    assert_int_equal(lstat(target, &st), -1);
}

READY_TEST(test_only_directories_are_mounted)
{
    struct stat st;
    char *file = in_root(f, "shares/file"), *target = in_root(f, "mnt/x");
    ASKED(f, write_file, .path = file, .text = "no folder", .mode = 0644);
    ASKED(f, mount_folder, .source = file, .target = target);
    assert_why(f, ERR_INVALID_PATH, file);
    assert_says(f->why.msg, "not a directory");
    assert_int_equal(lstat(target, &st), -1);
}

static bool is_empty(struct fixture *f, const char *relative)
{
    DIR *d = opendir(in_root(f, relative));
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n == 2;
}

READY_TEST(test_remove_tree)
{
    struct stat st;
    char outside[] = "/tmp/batchai-node-outside-XXXXXX";
    assert_non_null(mkdtemp(outside));
    char *precious = joined(f, outside, "precious"), *link = in_root(f, "job/link"),
         *through = in_root(f, "job/link/precious"), *job = in_root(f, "job"),
         *up = in_root(f, "../x"), *tasks = in_root(f, "tasks"),
         *ro = in_root(f, "job/ro/sub/file");
    ASKED(f, append, .path = precious, .text = "x");
    ASKED(f, mount_folder, .source = outside, .target = link);
    ASKED(f, append, .path = ro, .text = "x");
    const char *refused[] = {outside, precious, through, up, tasks, "/", f->root, "relative"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ASKED(f, remove_tree, .path = refused[i]);
        assert_int_equal(f->why.code, ERR_INVALID_PATH);
        assert_int_equal(stat(precious, &st), 0);
    }
    *strrchr(ro, '/') = '\0';
    assert_int_equal(chmod(ro, 0500), 0);
    DONE(f, remove_tree, .path = job);
    assert_int_equal(lstat(job, &st), -1);
    WAIT(f, is_empty(f, "trash"));
    assert_int_equal(stat(precious, &st), 0); /* the link went, not what it pointed at */
    DONE(f, remove_tree, .path = job);
    struct err e;
    assert_int_equal(fs_remove_tree(outside, &e), 0);
}

static void write_piece(struct fixture *f, char *path, int64_t offset, const char *text)
{
    const struct request_write_bytes piece = {.path = path,
                                              .bytes = (const unsigned char *)text,
                                              .n_bytes = strlen(text),
                                              .offset = offset,
                                              .last = true,
                                              .mode = 0644};
    ASK(f, node_ask(f->link, REQUEST_OF(write_bytes, piece), on_done, f));
}

/* The name of the incomplete file is known beforehand, so a job may use it for a pipe, which nobody
 * reads, or for a link to a file. */
READY_TEST(test_nothing_that_a_job_puts_beside_a_file_is_opened)
{
    char *file = in_root(f, "job/data"), *part = in_root(f, "job/data" FS_UNFINISHED "part"),
         *other = in_root(f, "job/other");
    ASKED(f, append, .path = other, .text = "precious");
    assert_int_equal(mkfifo(part, 0666), 0);
    write_piece(f, file, 0, "new");
    assert_string_equal(f->why.msg, "");
    assert_string_equal(slurp(f, "job/data"), "new");
    assert_int_equal(link(other, part), 0);
    write_piece(f, file, 0, "newer");
    assert_string_equal(f->why.msg, "");
    assert_string_equal(slurp(f, "job/data"), "newer");
    assert_string_equal(slurp(f, "job/other"), "precious");

    assert_int_equal(mkfifo(part, 0666), 0);
    write_piece(f, file, 3, "late");
    assert_why(f, ERR_IO, file);
    int reader = open(part, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    write_piece(f, file, 3, "late");
    assert_why(f, ERR_IO, "not a regular file");
    close(reader);
    assert_string_equal(slurp(f, "job/data"), "newer");
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

READY_TEST(test_a_root_is_cleaned_and_goes)
{
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
