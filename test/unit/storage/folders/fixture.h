/* SPDX-License-Identifier: MIT
 *
 * Two shares with a file each on a fake loop, and what callbacks were told.
 */
#ifndef TEST_FILES_FIXTURE_H
#define TEST_FILES_FIXTURE_H

#include "storage/folders/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fs.h"
#include "test/unit/storage/folders/fake_loop.h"

#define SECOND 1000000

struct files_fx {
    struct fake_loop loop;
    struct log log;
    char share[64], other[64];
    struct files *files;
    bool stopped;
    size_t left_behind;
};

/* What a callback was told. */
struct files_told {
    int times;
    enum err_code code; /* ERR_NONE: it went well */
    char text[1024];
    struct file *file; /* forget() closes it */
    bool is_all;
    struct file_facts facts;
    char *bytes; /* owned */
    size_t n;
    char names[200];
    size_t n_names, left_out;
    bool base_is_missing;
};

static inline void note(struct files_told *t, const struct err *why)
{
    t->times++;
    t->code = why ? why->code : ERR_NONE;
    snprintf(t->text, sizeof t->text, "%s", why ? why->msg : "");
}

static inline void on_opened(void *ctx, const struct err *why, struct file *file,
                             struct file_start *start)
{
    struct files_told *t = ctx;
    note(t, why);
    if (why)
        return;
    t->file = file;
    t->facts = start->facts;
    t->bytes = start->bytes;
    t->n = start->n;
    t->is_all = start->is_all;
    start->bytes = NULL;
}

static inline void on_read(void *ctx, const struct err *why, char *bytes, size_t n)
{
    struct files_told *t = ctx;
    note(t, why);
    free(t->bytes);
    t->bytes = bytes;
    t->n = n;
}

static inline void on_listed(void *ctx, const struct err *why, struct file_entries *found,
                             bool no_base)
{
    struct files_told *t = ctx;
    note(t, why);
    t->base_is_missing = no_base;
    t->names[0] = '\0';
    for (size_t i = 0; found && i < found->n; i++) {
        size_t n = strlen(t->names);
        snprintf(t->names + n, sizeof t->names - n, "%s%s ", found->entry[i].name,
                 found->entry[i].is_dir ? "/" : "");
    }
    t->n_names = found ? found->n : 0;
    t->left_out = found ? found->left_out : 0;
}

static inline void on_done(void *ctx, const struct err *why)
{
    note(ctx, why);
}

static inline void forget(struct files_told *t)
{
    free(t->bytes);
    if (t->file)
        file_close(t->file);
    *t = (struct files_told){0};
}

static inline void put(const char *folder, const char *name, const char *text, size_t n)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && fs_write_all(fd, text, n) == 0);
    close(fd);
}

static inline int start(void **state)
{
    struct files_fx *f = xcalloc(1, sizeof *f);
    f->loop.base.ops = &fake_ops;
    f->loop.mono_us = 100 * SECOND;
    f->log.fd = -1;
    snprintf(f->share, sizeof f->share, "/tmp/batchaid-files-XXXXXX");
    snprintf(f->other, sizeof f->other, "/tmp/batchaid-files-XXXXXX");
    assert_non_null(mkdtemp(f->share));
    assert_non_null(mkdtemp(f->other));
    put(f->share, "ten", "0123456789", 10);
    put(f->other, "ten", "0123456789", 10);
    f->files = files_create(&f->loop.base, &f->log);
    *state = f;
    return 0;
}

static inline void on_stopped(void *ctx, size_t left_behind)
{
    struct files_fx *f = ctx;
    f->stopped = true;
    f->left_behind = left_behind;
}

static inline void come_back_all(struct files_fx *f)
{
    for (struct fake_lane *l = f->loop.lanes; l;) {
        int back = 0;
        for (l = f->loop.lanes; l && l->base.busy == 0; l = l->next)
            back++;
        if (l)
            fake_come_back(&f->loop, back);
    }
}

static inline int end(void **state)
{
    struct files_fx *f = *state;
    struct err e;
    bool was_stopped = f->stopped;
    come_back_all(f);
    if (!was_stopped) {
        files_stop(f->files, on_stopped, f);
        fake_turn(&f->loop);
        come_back_all(f);
    }
    /* First, so that a test that fails leaves nothing. */
    bool removed = fs_remove_tree(f->share, &e) == 0 && fs_remove_tree(f->other, &e) == 0;
    assert_true(removed);
    assert_true(f->stopped && (was_stopped || f->left_behind == 0));
    assert_null(f->loop.lanes);
    assert_null(f->loop.timers);
    free(f);
    return 0;
}

#define FOLDER_TEST(name) TEST_IN(name, struct files_fx *f, *state, start, end)

static inline struct file_range whole(const char *text, uint64_t size)
{
    (void)text;
    return (struct file_range){.len = size};
}

static inline struct file_range from(const char *text, uint64_t size)
{
    uint64_t offset = strtoull(text, NULL, 10);
    return (struct file_range){offset, size - offset};
}

static inline void open_file(struct files_fx *f, const char *share, const char *path,
                             struct files_told *t)
{
    const struct files_open what = {.at = {share, path}, .choose = whole};
    files_open(f->files, &what, on_opened, t);
    fake_turn(&f->loop);
}

static inline void put_big(struct files_fx *f)
{
    char *text = xcalloc(1, 3 * FILES_PIECE_MAX);
    memset(text, 'b', 3 * FILES_PIECE_MAX);
    put(f->share, "big", text, 3 * FILES_PIECE_MAX);
    free(text);
}

#endif
