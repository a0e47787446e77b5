/* SPDX-License-Identifier: MIT
 *
 * A folder that is opened to all jobs while jobs write in it: only what is in it is opened.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/share.h"
#include "test/unit/support/skip.h"
#include "test/unit/support/tests.h"

#define FILES  64
#define ROUNDS 200

struct share_world {
    char share[64], outside[80];
    atomic_bool done;
};

static const char *file_in(const char *dir, int i, char path[128])
{
    snprintf(path, 128, "%s/f%d", dir, i);
    return path;
}

static void fill(const char *dir)
{
    char path[128];
    struct err e;
    assert_int_equal(fs_mkdirs(dir, 0700, &e), 0);
    assert_int_equal(chmod(dir, 0700), 0);
    for (int i = 0; i < FILES; i++)
        assert_int_equal(fs_write_whole(file_in(dir, i, path), "x", 1, 0600, false, &e), 0);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static void open_anew(const struct share_world *w)
{
    struct err e;
    assert_int_equal(chmod(w->share, 0700), 0);
    if (share_open(w->share, &e) < 0)
        fail_msg("%s", e.msg);
}

static int setup(void **state)
{
    struct share_world *w = calloc(1, sizeof *w);
    snprintf(w->share, sizeof w->share, "/tmp/batchaid-share-XXXXXX");
    *state = w;
    if (!mkdtemp(w->share))
        return -1;
    snprintf(w->outside, sizeof w->outside, "%s.outside", w->share);
    fill(w->outside);
    return 0;
}

static int teardown(void **state)
{
    struct share_world *w = *state;
    struct err e;
    int rc = fs_remove_tree(w->share, &e) | fs_remove_tree(w->outside, &e);
    free(w);
    return rc;
}

#define SHARE_TEST(name) TEST_IN(name, struct share_world *w, *state, setup, teardown)

SHARE_TEST(test_all_in_it_is_opened_and_no_link_followed)
{
    char path[128], dir[96], lead[96];
    skip_without_openat2();
    snprintf(dir, sizeof dir, "%s/dir", w->share);
    snprintf(lead, sizeof lead, "%s/lead", w->share);
    fill(dir);
    assert_int_equal(symlink(w->outside, lead), 0);
    open_anew(w);
    assert_int_equal(mode_of(w->share), 0777);
    assert_int_equal(mode_of(dir), 0777);
    assert_int_equal(mode_of(file_in(dir, 0, path)), 0666);
    assert_int_equal(mode_of(w->outside), 0700);
    assert_int_equal(mode_of(file_in(w->outside, 0, path)), 0600);
}

/* As a job would: in turn a directory and a link have the same name. */
static void *swap(void *arg)
{
    struct share_world *w = arg;
    char dir[96], lead[96];
    snprintf(dir, sizeof dir, "%s/dir", w->share);
    snprintf(lead, sizeof lead, "%s/lead", w->share);
    while (!atomic_load(&w->done))
        renameat2(AT_FDCWD, dir, AT_FDCWD, lead, RENAME_EXCHANGE);
    return NULL;
}

SHARE_TEST(test_a_directory_that_becomes_a_link_meanwhile_leads_nowhere)
{
    char path[128];
    pthread_t job;
    skip_without_openat2();
    snprintf(path, sizeof path, "%s/dir", w->share);
    fill(path);
    snprintf(path, sizeof path, "%s/lead", w->share);
    assert_int_equal(symlink(w->outside, path), 0);
    assert_int_equal(pthread_create(&job, NULL, swap, w), 0);
    for (int i = 0; i < ROUNDS; i++)
        open_anew(w);
    atomic_store(&w->done, true);
    pthread_join(job, NULL);
    assert_int_equal(mode_of(w->outside), 0700);
    for (int i = 0; i < FILES; i++)
        assert_int_equal(mode_of(file_in(w->outside, i, path)), 0600);
}
