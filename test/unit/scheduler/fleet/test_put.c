/* SPDX-License-Identifier: MIT
 *
 * Files of the daemon's on their way to a real agent, as steps of a script.
 */
#include <minizip/zip.h>
#include <sys/stat.h>

#include "scheduler/fleet/copy/copy_step.h"
#include "test/unit/scheduler/fleet/stage.h"

static void store(struct stage *s, const char *name, char c, size_t n)
{
    struct err e;
    char *bytes = xcalloc(1, n + 1), *path = fs_join(s->dir, name);
    memset(bytes, c, n);
    assert_int_equal(fs_write_atomic(path, bytes, n, 0600, &e), 0);
    free(bytes);
    free(path);
}

static void store_archive(struct stage *s, const char *name, const char *entry)
{
    char *path = fs_join(s->dir, name);
    zipFile z = zipOpen64(path, APPEND_STATUS_CREATE);
    assert_non_null(z);
    assert_int_equal(
        zipOpenNewFileInZip64(z, entry, NULL, NULL, 0, NULL, 0, NULL, Z_DEFLATED, 9, 0), ZIP_OK);
    assert_int_equal(zipWriteInFileInZip(z, "program", 7), ZIP_OK);
    assert_int_equal(zipCloseFileInZip(z), ZIP_OK);
    assert_int_equal(zipClose(z, NULL), ZIP_OK);
    free(path);
}

static struct carry_what put_of(struct stage *s, const char *from, const char *to)
{
    return (struct carry_what){
        .files = s->f->files, .from = {s->dir, from}, .path = below(s, to), .mode = 0640};
}

static void must_be(struct stage *s, const char *path, char c, size_t n, mode_t mode)
{
    struct err e;
    struct stat st;
    char *data;
    size_t len = 0;
    assert_int_equal(stat(below(s, path), &st), 0);
    assert_int_equal(st.st_mode & 07777, mode);
    assert_int_equal(fs_read(below(s, path), 1 << 22, &data, &len, &e), 0);
    assert_int_equal(len, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(data[i], c);
    free(data);
}

STAGE_TEST(files_of_any_size_arrive_whole)
{
    static const size_t sizes[] = {0, 1, 5000, FILES_PIECE_MAX, FILES_PIECE_MAX * 3 + 7};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        store(s, "from", (char)('a' + i), sizes[i]);
        const struct carry_what put = put_of(s, "from", "deep/below/to");
        again(s);
        script_put_file(s->sc, &s->a, &plain, &put);
        run_well(s);
        must_be(s, "deep/below/to", (char)('a' + i), sizes[i], 0640);
    }
}

STAGE_TEST(later_steps_wait_for_it)
{
    store(s, "from", 'x', 300000);
    const struct carry_what put = put_of(s, "from", "to");
    script_put_file(s->sc, &s->a, &plain, &put);
    script_ask(s->sc, &plain, REQUEST(append, .path = below(s, "to"), .text = "y"));
    run_to_end(s);
    struct stat st;
    assert_int_equal(stat(below(s, "to"), &st), 0);
    assert_int_equal(st.st_size, 300001);
}

static void fails_with(struct stage *s, const char *why)
{
    run_to_end(s);
    assert_int_equal(script_state(s->sc), SCRIPT_FAILED);
    const char *message = script_failure(s->sc)->message;
    if (!strstr(message, why))
        fail_msg("'%s' instead of '%s'", message, why);
}

STAGE_TEST(what_is_not_there_is_said)
{
    const struct carry_what put = put_of(s, "nothing", "to");
    script_put_file(s->sc, &s->a, &plain, &put);
    fails_with(s, "a request: ");
    assert_int_equal(access(below(s, "to"), F_OK), -1);
}

STAGE_TEST(an_archive_is_unpacked_once)
{
    struct stat st;
    store_archive(s, "a.zip", "bin/run");
    const struct carry_what put = put_of(s, "a.zip", "packages/h1");
    script_put_archive(s->sc, &s->a, &plain, &put);
    run_well(s);
    assert_true(file_has(s->f, "packages/h1/bin/run", "program"));
    assert_int_equal(stat(below(s, "packages/h1/bin/run"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0555);
    const struct carry_what gone = put_of(s, "nothing.zip", "packages/h1");
    again(s);
    script_put_archive(s->sc, &s->a, &plain, &gone);
    run_well(s);
    int64_t entries = 0; /* nothing lies beside it */
    DIR *d = opendir(below(s, "packages"));
    for (struct dirent *x; (x = readdir(d)) != NULL;)
        entries += x->d_name[0] != '.';
    closedir(d);
    assert_int_equal(entries, 1);
}

STAGE_TEST(what_is_no_archive_leaves_nothing)
{
    store(s, "a.zip", 'x', 1000);
    const struct carry_what put = put_of(s, "a.zip", "packages/h1");
    script_put_archive(s->sc, &s->a, &plain, &put);
    fails_with(s, "not a zip file");
    store_archive(s, "b.zip", "../../out");
    const struct carry_what hostile = put_of(s, "b.zip", "packages/h1");
    again(s);
    script_put_archive(s->sc, &s->a, &plain, &hostile);
    fails_with(s, "leaves the archive");
    assert_int_equal(rmdir(below(s, "packages")), 0);
}

STAGE_TEST(archives_stay_below_the_root)
{
    store_archive(s, "a.zip", "run");
    struct carry_what put = put_of(s, "a.zip", "x");
    put.path = arena_printf(&s->a, "%s/elsewhere", s->dir);
    script_put_archive(s->sc, &s->a, &plain, &put);
    fails_with(s, "a request: ");
    assert_int_equal(access(put.path, F_OK), -1);
}

/* At any moment: the link is closed under it, and the arena goes. */
TEST_SETUP(a_halt_leaves_nothing_behind, setup, teardown)
{
    for (int turns = 0; turns < 12; turns++) {
        struct stage s;
        open_stage(&s, *state);
        store(&s, "from", 'x', 2000000);
        const struct carry_what put = put_of(&s, "from", "to");
        script_put_file(s.sc, &s.a, &plain, &put);
        script_run(s.sc, s.f->link, on_changed, &s);
        for (int i = 0; i < turns; i++)
            uv_run(&s.f->loop, UV_RUN_NOWAIT);
        script_halt(s.sc);
        close_stage(&s);
        s.f->ready = s.f->closed = 0;
    }
}
