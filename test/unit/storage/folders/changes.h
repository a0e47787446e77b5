/* SPDX-License-Identifier: MIT
 *
 * A change at a time, done at once, and what came of it.
 */
#ifndef TEST_FILES_CHANGES_H
#define TEST_FILES_CHANGES_H

#include <inttypes.h>

#include "storage/folders/upload.h"
#include "test/unit/storage/folders/fixture.h"

struct changed {
    int times, told; /* told: with a reason */
    struct file_result r;
    char text[1024];
    char ranges[200];
};

static inline void on_changed(void *ctx, const struct err *why, const struct file_result *r)
{
    struct changed *c = ctx;
    c->times++;
    c->told = why != NULL;
    c->r = *r;
    snprintf(c->text, sizeof c->text, "%s", why ? why->msg : "");
    c->ranges[0] = '\0';
    for (size_t i = 0; i < r->ranges; i++) {
        size_t n = strlen(c->ranges);
        snprintf(c->ranges + n, sizeof c->ranges - n, "%" PRIu64 "+%" PRIu64 " ",
                 r->range[i].offset, r->range[i].len);
    }
    assert_int_equal(why == NULL, r->fault == FILE_FINE);
    if (why)
        assert_null(strstr(why->msg, "/tmp")); /* no text names the path */
}

/* A function that makes one change to `path`; its result is c->r.fault. */
#define CHANGE(name, extra, ...)                                                                   \
    static inline enum file_fault name(struct files_fx *f, const char *path extra,                 \
                                       struct changed *c)                                          \
    {                                                                                              \
        const struct file_place at = {f->share, path};                                             \
        *c = (struct changed){0};                                                                  \
        __VA_ARGS__;                                                                               \
        come_back_all(f);                                                                          \
        assert_int_equal(c->times, 1);                                                             \
        return c->r.fault;                                                                         \
    }
#define COMMA ,

CHANGE(facts, , files_facts(f->files, &at, on_changed, c))
CHANGE(make_directory, , files_make_directory(f->files, &at, 0777, on_changed, c))
CHANGE(remove_directory, , files_remove_directory(f->files, &at, on_changed, c))
CHANGE(remove_file, , files_remove_file(f->files, &at, on_changed, c))
CHANGE(data, , files_data(f->files, &at, on_changed, c))
CHANGE(set_size, COMMA uint64_t size, files_set_size(f->files, &at, size, on_changed, c))
CHANGE(make_file, COMMA uint64_t size,
       files_put(f->files, &(struct files_upload){.at = at, .mode = 0666, .zeros = size},
                 &(struct file_content){xcalloc(1, 1), 0, NULL}, on_changed, c))
CHANGE(rename_file, COMMA const char *to COMMA bool replaces,
       files_rename(f->files, &(struct files_rename){at, to, replaces}, on_changed, c))
CHANGE(clear_range, COMMA uint64_t offset COMMA uint64_t len,
       files_clear(f->files, &(struct files_clear){at, {offset, len}, false}, on_changed, c))
CHANGE(write_text, COMMA uint64_t offset COMMA const char *text,
       files_write(f->files,
                   &(struct files_write){
                       .at = at, .offset = offset, .bytes = xstrdup(text), .n = strlen(text)},
                   on_changed, c))
CHANGE(append_text, COMMA uint64_t offset COMMA const char *text,
       files_write(f->files,
                   &(struct files_write){.at = at,
                                         .offset = offset,
                                         .bytes = xstrdup(text),
                                         .n = strlen(text),
                                         .appends = true},
                   on_changed, c))

static inline char *path_in(const struct files_fx *f, const char *name)
{
    return fs_join(f->share, name);
}

static inline void link_in(const struct files_fx *f, const char *name, const char *to)
{
    char *path = path_in(f, name);
    assert_int_equal(symlink(to, path), 0);
    free(path);
}

static inline void pipe_in(const struct files_fx *f, const char *name)
{
    char *path = path_in(f, name);
    assert_int_equal(mkfifo(path, 0600), 0);
    free(path);
}

static inline struct stat stat_of(const struct files_fx *f, const char *name)
{
    struct stat st;
    char *path = path_in(f, name);
    assert_int_equal(stat(path, &st), 0);
    free(path);
    return st;
}

static inline mode_t mode_of(const struct files_fx *f, const char *name)
{
    return stat_of(f, name).st_mode & 07777;
}

static inline blkcnt_t blocks_of(const struct files_fx *f, const char *name)
{
    return stat_of(f, name).st_blocks;
}

static inline void assert_content(const struct files_fx *f, const char *name, const char *want,
                                  size_t n)
{
    char *path = path_in(f, name), *text = NULL;
    size_t len;
    struct err e;
    assert_int_equal(fs_read(path, 1 << 24, &text, &len, &e), 0);
    assert_int_equal(len, n);
    assert_memory_equal(text, want, n);
    free(text);
    free(path);
}

static inline int open_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

#endif
