/* SPDX-License-Identifier: MIT
 *
 * Files of shares: what is read, listed, named, removed and written; the end of the room.
 */
#include "test/unit/storage/folders/fixture.h"
#include "test/unit/support/descriptors.h"

/* --- files ------------------------------------------------------------------------------------ */

static int open_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

FOLDER_TEST(test_what_is_wanted_is_chosen_by_the_size)
{
    struct files_told t = {0};
    char text[] = "7";
    struct files_open what = {.at = {f->share, "ten"}, .choose = from, .text = text};
    files_open(f->files, &what, on_opened, &t);
    text[0] = '0'; /* it is copied */
    come_back_all(f);
    assert_int_equal(t.facts.size, 10);
    assert_int_equal(t.n, 3);
    assert_memory_equal(t.bytes, "789", 3);
    forget(&t);
    what.choose = NULL;
    files_open(f->files, &what, on_opened, &t);
    come_back_all(f);
    assert_int_equal(t.facts.size, 10);
    assert_null(t.bytes);
    assert_true(t.is_all);
    forget(&t);
}

FOLDER_TEST(test_a_reply_that_has_begun_waits)
{
    struct files_told big = {0}, piece = {0}, t[2] = {{0}};
    int before = open_descriptors();
    put_big(f);
    open_file(f, f->share, "big", &big);
    come_back_all(f);
    assert_non_null(big.file);
    assert_int_equal(big.n, FILES_PIECE_MAX);
    for (int i = 0; i < 2; i++)
        open_file(f, f->share, "ten", &t[i]);
    file_read(big.file, 2 * FILES_PIECE_MAX + 10, 2 * FILES_PIECE_MAX, on_read, &piece);
    fake_pass(&f->loop, 60 * SECOND);
    assert_int_equal(piece.times, 0);
    come_back_all(f);
    assert_int_equal(piece.n, FILES_PIECE_MAX - 10);
    file_read(big.file, 3 * FILES_PIECE_MAX, 10, on_read, &piece);
    come_back_all(f);
    assert_int_equal(piece.times, 2);
    assert_int_equal(piece.n, 0);
    file_close(big.file);
    big.file = NULL;
    come_back_all(f);
    assert_int_equal(open_descriptors(), before);
    forget(&big);
    forget(&piece);
    forget(&t[0]);
    forget(&t[1]);
}

/* All of them together may have 64 MiB in memory, or two small pieces each. */
FOLDER_TEST(test_many_open_files_are_read_in_small_pieces)
{
    enum { MANY = 3000 };
    skip_unless_may_open(MANY + 100);
    struct files_told *t = xcalloc(MANY, sizeof *t), piece = {0};
    size_t held = 0;
    put_big(f);
    for (int i = 0; i < MANY; i++) {
        open_file(f, f->share, "big", &t[i]);
        come_back_all(f);
        assert_int_equal(t[i].code, ERR_NONE);
        if (i == 0)
            assert_int_equal(t[i].n, FILES_PIECE_MAX);
        held += t[i].n;
    }
    assert_int_equal(t[MANY - 1].n, FILES_PIECE_MIN);
    assert_int_equal(files_piece(f->files), FILES_PIECE_MIN);
    assert_true(held < 150 << 20); /* the first ones had more */
    file_read(t[0].file, 0, files_piece(f->files), on_read, &piece);
    come_back_all(f);
    assert_int_equal(piece.n, FILES_PIECE_MIN);
    forget(&piece);
    for (int i = 0; i < MANY; i++)
        forget(&t[i]);
    come_back_all(f);
    assert_int_equal(files_piece(f->files), FILES_PIECE_MAX);
    free(t);
}

FOLDER_TEST(test_a_file_is_closed_under_a_read)
{
    struct files_told big = {0}, piece = {0};
    int before = open_descriptors();
    put_big(f);
    open_file(f, f->share, "big", &big);
    come_back_all(f);
    file_read(big.file, 0, 10, on_read, &piece);
    file_close(big.file);
    big.file = NULL;
    come_back_all(f);
    assert_int_equal(piece.times, 0);
    assert_int_equal(open_descriptors(), before);
    forget(&big);
}

FOLDER_TEST(test_what_cannot_be_opened)
{
    static const struct {
        const char *path;
        enum err_code code;
        const char *text;
    } cases[] = {
        {"none", ERR_FILE_NOT_FOUND, "No such file"},
        {"out", ERR_IO, "leaves the share"},
        {"round", ERR_IO, "form a loop"},
        {"", ERR_IO, "Is a directory"},
        {"pipe", ERR_IO, "neither a file nor a directory"},
        {"../x", ERR_IO, "no file can have this name"},
        {"none/../ten", ERR_IO, "no file can have this name"},
        {".//ten", ERR_IO, "no file can have this name"},
        {".batchaid-unfinished-0", ERR_FILE_NOT_FOUND, "No such file"},
        {".batchaid-unfinished-d/x", ERR_FILE_NOT_FOUND, "No such file"},
    };
    put(f->share, ".batchaid-unfinished-0", "half", 4);
    char path[100];
    snprintf(path, sizeof path, "%s/out", f->share);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    snprintf(path, sizeof path, "%s/round", f->share);
    assert_int_equal(symlink("round", path), 0);
    snprintf(path, sizeof path, "%s/pipe", f->share);
    assert_int_equal(mkfifo(path, 0600), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct files_told t = {0};
        open_file(f, f->share, cases[i].path, &t);
        come_back_all(f);
        assert_int_equal(t.times, 1);
        assert_int_equal(t.code, cases[i].code);
        if (!strstr(t.text, cases[i].text))
            fail_msg("%s: %s", cases[i].path, t.text);
    }
}

/* --- lists ------------------------------------------------------------------------------------ */

static void list(struct files_fx *f, const char *path, size_t max, struct files_told *t)
{
    const struct files_list what = {.at = {f->share, path}, .base = "base", .max = max};
    files_list(f->files, &what, on_listed, t);
}

FOLDER_TEST(test_a_list_shows_what_can_be_had_by_name)
{
    struct files_told t = {0};
    char path[100];
    snprintf(path, sizeof path, "%s/deep", f->share);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/inside", f->share);
    assert_int_equal(symlink("ten", path), 0);
    snprintf(path, sizeof path, "%s/outside", f->share);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    snprintf(path, sizeof path, "%s/latin\xe9", f->share);
    put(f->share, "latin\xe9", "", 0);
    put(f->share, ".batchaid-unfinished-0", "half", 4);
    list(f, "", 100, &t);
    come_back_all(f);
    assert_string_equal(t.names, "deep/ inside ten ");
    assert_int_equal(t.left_out, 2);
    list(f, "deep/none", 100, &t);
    come_back_all(f);
    assert_int_equal(t.code, ERR_FILE_NOT_FOUND);
    assert_true(t.base_is_missing);
    snprintf(path, sizeof path, "%s/base", f->share);
    assert_int_equal(mkdir(path, 0700), 0);
    list(f, "base/none", 100, &t);
    come_back_all(f);
    assert_int_equal(t.code, ERR_FILE_NOT_FOUND);
    assert_false(t.base_is_missing);
    snprintf(path, sizeof path, "%s/.batchaid-unfinished-d", f->share);
    assert_int_equal(mkdir(path, 0700), 0);
    list(f, ".batchaid-unfinished-d", 100, &t);
    come_back_all(f);
    assert_int_equal(t.code, ERR_FILE_NOT_FOUND);
}

static void put_many(struct files_fx *f, int n)
{
    for (int i = 0; i < n; i++) {
        char name[20];
        snprintf(name, sizeof name, "f%05d", i);
        put(f->share, name, "", 0);
    }
}

/* Two large directories leave a worker to others now and then. */
FOLDER_TEST(test_a_large_list_lets_others_go_first)
{
    struct files_told large[2] = {{0}}, t = {0};
    put_many(f, 2000);
    for (int i = 0; i < 2; i++)
        list(f, "", 100000, &large[i]);
    open_file(f, f->share, "ten", &t);
    for (int i = 0; i < 3 && !t.times; i++)
        fake_come_back(&f->loop, 0);
    assert_int_equal(t.times, 1);
    assert_int_equal(large[0].times + large[1].times, 0);
    come_back_all(f);
    assert_int_equal(large[0].n_names, 2001);
    assert_int_equal(large[1].n_names, 2001);
    list(f, "", 300, &large[0]);
    come_back_all(f);
    assert_int_equal(large[0].n_names, 300);
    forget(&t);
}

FOLDER_TEST(test_names_and_removal)
{
    struct files_told names = {0}, gone = {0};
    char path[100];
    put_many(f, 2);
    files_names(f->files, f->share, on_listed, &names);
    come_back_all(f);
    assert_string_equal(names.names, "f00000 f00001 ten ");
    snprintf(path, sizeof path, "%s/f00000", f->share);
    files_remove_tree(f->files, f->share, path, on_done, &gone);
    come_back_all(f);
    assert_int_equal(gone.code, ERR_NONE);
    assert_int_equal(access(path, F_OK), -1);
}

static void append(struct files_fx *f, const char *path, const char *text, struct files_told *t)
{
    const struct file_place at = {f->share, path};
    files_append(f->files, &at, text, on_done, t);
    come_back_all(f);
    assert_int_equal(t->times, 1);
}

FOLDER_TEST(test_lines_are_appended_for_all_to_read_and_write)
{
    struct files_told first = {0}, second = {0};
    struct stat dir, file;
    char path[100], text[20] = "";
    mode_t mask = umask(077);
    append(f, "logs/deep/er/execution.log", "one\n", &first);
    append(f, "logs/deep/er/execution.log", "two\n", &second);
    umask(mask);
    assert_int_equal(first.code, ERR_NONE);
    assert_int_equal(second.code, ERR_NONE);
    snprintf(path, sizeof path, "%s/logs/deep/er", f->share);
    assert_int_equal(stat(path, &dir), 0);
    assert_int_equal(dir.st_mode & 0777, 0777);
    snprintf(path, sizeof path, "%s/logs/deep/er/execution.log", f->share);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0666);
    int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, text, sizeof text), 8);
    close(fd);
    assert_string_equal(text, "one\ntwo\n");
}

FOLDER_TEST(test_no_line_leaves_the_share)
{
    static const char *const outside[] = {"away/x.log", "away/new/x.log", "../x.log", "link.log"};
    char path[100], target[100];
    snprintf(path, sizeof path, "%s/away", f->share);
    assert_int_equal(symlink(f->other, path), 0);
    snprintf(target, sizeof target, "%s/x.log", f->other);
    snprintf(path, sizeof path, "%s/link.log", f->share);
    assert_int_equal(symlink(target, path), 0);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        struct files_told t = {0};
        append(f, outside[i], "no\n", &t);
        if (t.code == ERR_NONE)
            fail_msg("%s", outside[i]);
    }
    assert_int_equal(access(target, F_OK), -1);
}

/* Work of the caller's own. */
struct own {
    int works, dones, destroys;
    enum err_code code;
};

static void own_work(void *ctx)
{
    ((struct own *)ctx)->works++;
}

static void own_done(void *ctx, const struct err *why)
{
    struct own *o = ctx;
    o->dones++;
    o->code = why ? why->code : ERR_NONE;
}

static void own_destroy(void *ctx)
{
    ((struct own *)ctx)->destroys++;
}

static const struct files_task own_task = {own_work, own_done, own_destroy};

FOLDER_TEST(test_own_work_is_done_or_forgotten)
{
    struct own done = {0}, begun = {0}, waiting = {0};
    files_run(f->files, f->share, &own_task, &done);
    struct files_work *b = files_run(f->files, f->share, &own_task, &begun);
    struct files_work *w = files_run(f->files, f->share, &own_task, &waiting);
    files_forget(w);
    assert_int_equal(waiting.destroys, 1);
    files_forget(b); /* a worker is in it: it goes when that comes back */
    assert_int_equal(begun.destroys, 0);
    come_back_all(f);
    assert_int_equal(done.works, 1);
    assert_int_equal(done.dones, 1);
    assert_int_equal(done.code, ERR_NONE);
    assert_int_equal(done.destroys, 0); /* it was given back */
    assert_int_equal(begun.works, 1);
    assert_int_equal(begun.dones, 0);
    assert_int_equal(begun.destroys, 1);
    assert_int_equal(waiting.works + waiting.dones, 0);
}

/* --- the end ---------------------------------------------------------------------------------- */

FOLDER_TEST(test_requests_end_when_asked_to)
{
    struct files_told t[3] = {{0}}, own = {0}, big = {0}, piece = {0};
    put_big(f);
    open_file(f, f->share, "big", &big);
    come_back_all(f);
    for (int i = 0; i < 3; i++)
        open_file(f, f->share, "ten", &t[i]);
    file_read(big.file, 0, 10, on_read, &piece);
    files_remove_tree(f->files, f->share, "/tmp/batchaid-none", on_done, &own);
    files_end_requests(f->files);
    for (int i = 0; i < 3; i++)
        assert_int_equal(t[i].code, ERR_UNAVAILABLE);
    assert_int_equal(piece.code, ERR_UNAVAILABLE);
    assert_int_equal(own.times, 0);
    file_close(big.file);
    big.file = NULL;
    come_back_all(f);
    for (int i = 0; i < 3; i++)
        assert_int_equal(t[i].times, 1);
    assert_int_equal(own.times, 1);
    forget(&big);
}

/* Both workers are in a call when all has to end. */
static void stop_with_busy_workers(struct files_fx *f, struct files_told *own)
{
    struct files_told held = {0}, large = {0};
    put_many(f, 600);
    list(f, "", 100000, &large);
    fake_come_back(&f->loop, 0); /* one step */
    open_file(f, f->share, "ten", &held);
    files_remove_tree(f->files, f->share, "/tmp/batchaid-none", on_done, own);
    files_stop(f->files, on_stopped, f);
    fake_turn(&f->loop);
    assert_int_equal(held.code, ERR_UNAVAILABLE);
    assert_says(held.text, "stopping");
    assert_int_equal(large.code, ERR_UNAVAILABLE);
    assert_int_equal(own->times, 0);
    fake_pass(&f->loop, 60 * SECOND);
    assert_false(f->stopped);
    assert_int_equal(own->times, 1);
    assert_int_equal(own->code, ERR_UNAVAILABLE);
}

FOLDER_TEST(test_who_comes_back_at_the_last_moment_is_not_left_behind)
{
    struct files_told own = {0};
    stop_with_busy_workers(f, &own);
    fake_come_back(&f->loop, 0);
    assert_false(f->stopped);
    fake_come_back(&f->loop, 0);
    assert_true(f->stopped);
    assert_int_equal(f->left_behind, 0);
    assert_int_equal(own.times, 1);
}

static void leave_behind_what_hangs(struct files_fx *f)
{
    struct files_told own = {0};
    stop_with_busy_workers(f, &own);
    fake_pass(&f->loop, SECOND);
    assert_true(f->stopped);
    assert_int_equal(f->left_behind, 2);
    _exit(0); /* as the daemon does: nothing waits for them */
}

/* In a process of its own, as it leaves memory to threads that hang. */
FOLDER_TEST(test_the_end_does_not_wait_for_a_share)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        leave_behind_what_hangs(f);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
