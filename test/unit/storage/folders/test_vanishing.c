/* SPDX-License-Identifier: MIT
 *
 * Uploads into a directory that another request removes between two calls of the upload.
 */
#include "storage/folders/upload.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "test/unit/storage/folders/changes.h"

/* --- the calls, in the place of the C library's ----------------------------------------------- */

enum step { OPENED, MADE, LINKED, NEVER };

/* The directory vanishes before the file is opened in it, after it was made, or before the file is
 * linked into it: so many times. */
static struct vanishing {
    enum step at;
    int times;
    char *path;
} vanishing = {.at = NEVER};

static void may_vanish(enum step step)
{
    if (vanishing.at == step && vanishing.times > 0 && rmdir(vanishing.path) == 0)
        vanishing.times--;
}

int openat(int dir, const char *name, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    if ((flags & O_TMPFILE) == O_TMPFILE)
        may_vanish(OPENED);
    return (int)syscall(SYS_openat, dir, name, flags, mode);
}

int mkdirat(int dir, const char *name, mode_t mode)
{
    int rc = (int)syscall(SYS_mkdirat, dir, name, mode);
    may_vanish(MADE);
    return rc;
}

int linkat(int from, const char *name, int to, const char *new_name, int flags)
{
    may_vanish(LINKED);
    return (int)syscall(SYS_linkat, from, name, to, new_name, flags);
}

/* --- uploads ---------------------------------------------------------------------------------- */

static enum file_fault put_while(struct files_fx *f, const struct files_upload *what,
                                 enum step step, int times)
{
    struct changed c = {0};
    char *dir = path_in(f, "d");
    vanishing = (struct vanishing){step, times, dir};
    files_put(f->files, what, &(struct file_content){xstrdup("new"), 3, NULL}, on_changed, &c);
    come_back_all(f);
    assert_int_equal(c.times, 1);
    if (times < 100)
        assert_int_equal(vanishing.times, 0);
    vanishing.at = NEVER;
    free(dir);
    return c.r.fault;
}

static void assert_is_put(struct files_fx *f, enum step step, int times)
{
    struct changed c;
    const struct files_upload what = {
        .at = {f->share, "d/new"}, .mode = 0666, .directory_mode = 0777};
    int before = open_descriptors();
    if (step != MADE)
        assert_int_equal(make_directory(f, "d", &c), FILE_FINE);
    assert_int_equal(put_while(f, &what, step, times), FILE_FINE);
    assert_content(f, "d/new", "new", 3);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(remove_file(f, "d/new", &c), FILE_FINE);
    assert_int_equal(remove_directory(f, "d", &c), FILE_FINE);
}

FOLDER_TEST(test_a_directory_that_vanishes_is_made_again)
{
    assert_is_put(f, OPENED, 1);
    assert_is_put(f, MADE, 1);
    assert_is_put(f, LINKED, 1);
    assert_is_put(f, MADE, 3);
    assert_is_put(f, LINKED, 3);
}

FOLDER_TEST(test_a_directory_that_always_vanishes_fails_the_upload)
{
    const struct files_upload what = {
        .at = {f->share, "d/new"}, .mode = 0666, .directory_mode = 0777};
    int before = open_descriptors();
    assert_int_equal(put_while(f, &what, LINKED, 1000), FILE_MISSING);
    assert_int_equal(open_descriptors(), before);
}
