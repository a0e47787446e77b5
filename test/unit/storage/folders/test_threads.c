/* SPDX-License-Identifier: MIT
 *
 * Much at a time in some folders, with the workers that they have in the daemon: files are read,
 * written, put whole, listed, renamed and removed, and what is open is closed at any moment. What
 * this is to find are hand-overs between loop and workers that go wrong: it says most when it is
 * built with AddressSanitizer, and with ThreadSanitizer.
 */
#include <sys/stat.h>

#include "lib/fs.h"
#include "lib/loop_uv.h"
#include "storage/folders/change.h"
#include "storage/folders/upload.h"
#include "storage/folders/walk.h"
#include "test/unit/support/patience.h"
#include "test/unit/support/tests.h"

#define LIMIT_MS 60000
#define FOLDERS  3
#define NAMES    12 /* files that are fought for, in each folder */
#define SLOTS    24
#define SIZE     40000
#define LARGE    1500000 /* is read in pieces */

struct thread_slot {
    struct threads_world *w;
    bool busy;
    int steps; /* until it is closed, whatever it is at */
    char path[32];
    const char *folder;
    struct file *file;
    uint64_t at;
    struct file_upload *upload;
};

struct threads_world {
    uv_loop_t uv;
    uv_timer_t limit;
    struct loop *loop;
    struct log log;
    struct files *files;
    char folder[FOLDERS][64];
    bool timed_out, stopped, ends; /* ends: what is under way may say that it is unavailable */
    unsigned chance;
    struct thread_slot slots[SLOTS];
    int to_begin, busy;
    int good, faults;
};

static size_t chance(struct threads_world *w, size_t below)
{
    return (size_t)rand_r(&w->chance) % below;
}

static void begin(struct thread_slot *s);

static void finish(struct thread_slot *s)
{
    struct threads_world *w = s->w;
    if (s->file)
        file_close(s->file);
    if (s->upload)
        upload_end(s->upload);
    s->file = NULL;
    s->upload = NULL;
    s->busy = false;
    w->busy--;
    if (w->to_begin > 0)
        begin(s);
}

/* What others do to the same names makes many of these fail, but never with anything else. */
static void judge(struct threads_world *w, enum file_fault fault)
{
    assert_true(fault == FILE_FINE || fault == FILE_MISSING || fault == FILE_IS_FILE ||
                fault == FILE_IS_DIRECTORY || fault == FILE_BEYOND_END ||
                fault == FILE_PARENT_MISSING || (w->ends && fault == FILE_UNAVAILABLE));
    w->good += fault == FILE_FINE;
    w->faults += fault != FILE_FINE;
}

static char *letters(size_t n)
{
    char *bytes = malloc(n + 1);
    memset(bytes, 'x', n);
    return bytes;
}

/* --- reading -----------------------------------------------------------------------------------
 */

static void on_read(void *ctx, const struct err *why, char *bytes, size_t n)
{
    struct thread_slot *s = ctx;
    assert_null(why);
    for (size_t i = 0; i < n; i++)
        assert_true(bytes[i] == 'x' || bytes[i] == '\0');
    free(bytes);
    s->at += n;
    if (n == 0 || s->steps-- == 0) {
        finish(s);
        return;
    }
    file_read(s->file, s->at, 50000, on_read, s);
    if (chance(s->w, 8) == 0)
        finish(s); /* which takes the read back */
}

static void on_opened(void *ctx, const struct err *why, struct file *file, struct file_start *start)
{
    struct thread_slot *s = ctx;
    judge(s->w, start->fault);
    s->file = why ? NULL : file;
    s->at = start->n;
    if (why || start->is_all || s->w->ends)
        finish(s);
    else
        file_read(file, s->at, 50000, on_read, s);
}

static struct file_range whole(const char *text, uint64_t size)
{
    assert_string_equal(text, "x");
    return (struct file_range){.len = size};
}

static void open_at(struct thread_slot *s, const char *path)
{
    const struct files_open what = {.at = {s->folder, path}, .choose = whole, .text = "x"};
    files_open(s->w->files, &what, on_opened, s);
}

static void read_one(struct thread_slot *s)
{
    open_at(s, s->path);
}

static void read_large(struct thread_slot *s)
{
    open_at(s, "large");
}

/* --- listing -----------------------------------------------------------------------------------
 */

static void on_listed(void *ctx, const struct err *why, struct file_entries *found, bool no_base)
{
    struct thread_slot *s = ctx;
    (void)no_base;
    assert_true(why ? s->w->ends : found->n <= NAMES + 3);
    finish(s);
}

static void list_all(struct thread_slot *s)
{
    const struct files_list what = {.at = {s->folder, ""}, .base = "", .max = 100};
    files_list(s->w->files, &what, on_listed, s);
}

static void on_walked(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_items *found)
{
    struct thread_slot *s = ctx;
    judge(s->w, fault);
    assert_true(why ? s->w->ends : found->n <= NAMES + 3);
    finish(s);
}

static void walk_all(struct thread_slot *s)
{
    const struct files_walk what = {.share = s->folder, .max = 100};
    files_walk(s->w->files, &what, on_walked, s);
}

/* --- changes -----------------------------------------------------------------------------------
 */

static void on_changed(void *ctx, const struct err *why, const struct file_result *r)
{
    struct thread_slot *s = ctx;
    assert_int_equal(why == NULL, r->fault == FILE_FINE);
    judge(s->w, r->fault);
    finish(s);
}

static void write_part(struct thread_slot *s)
{
    const struct files_write what = {.at = {s->folder, s->path},
                                     .offset = chance(s->w, SIZE),
                                     .bytes = letters(3000),
                                     .n = 3000,
                                     .wants_md5 = true};
    files_write(s->w->files, &what, on_changed, s);
}

static void remove_one(struct thread_slot *s)
{
    const struct file_place at = {s->folder, s->path};
    files_remove_file(s->w->files, &at, on_changed, s);
}

static void rename_one(struct thread_slot *s)
{
    const struct files_rename what = {
        .at = {s->folder, s->path}, .to = "below/renamed", .replaces = true};
    files_rename(s->w->files, &what, on_changed, s);
}

static void look_at_one(struct thread_slot *s)
{
    const struct file_place at = {s->folder, s->path};
    files_facts(s->w->files, &at, on_changed, s);
}

static void put_one(struct thread_slot *s)
{
    const struct files_upload what = {
        .at = {s->folder, s->path}, .mode = 0600, .directory_mode = 0700, .wants_md5 = true};
    files_put(s->w->files, &what, &(struct file_content){letters(SIZE), SIZE, NULL}, on_changed, s);
}

static void upload_on(struct thread_slot *s);

static void on_piece(void *ctx, const struct err *why, const struct file_result *r)
{
    struct thread_slot *s = ctx;
    (void)r;
    assert_null(why);
    upload_on(s);
}

/* Ends it in the middle, also while a piece is under way, or when it is whole. */
static void upload_on(struct thread_slot *s)
{
    if (s->steps-- == 0) {
        upload_finish(s->upload, NULL, on_changed, s);
        return;
    }
    upload_write(s->upload, letters(7000), 7000, on_piece, s);
    if (chance(s->w, 12) == 0)
        finish(s);
}

static void on_uploading(void *ctx, const struct err *why, enum file_fault fault,
                         struct file_upload *upload)
{
    struct thread_slot *s = ctx;
    judge(s->w, fault);
    s->upload = upload;
    if (why || s->w->ends)
        finish(s);
    else
        upload_on(s);
}

static void upload_one(struct thread_slot *s)
{
    const struct files_upload what = {
        .at = {s->folder, s->path}, .mode = 0600, .directory_mode = 0700, .wants_md5 = true};
    files_upload(s->w->files, &what, on_uploading, s);
}

/* --- all of it ---------------------------------------------------------------------------------
 */

static void (*const kinds[])(struct thread_slot *s) = {
    read_one,   read_large, list_all,    walk_all, write_part,
    remove_one, rename_one, look_at_one, put_one,  upload_one};

static void begin(struct thread_slot *s)
{
    struct threads_world *w = s->w;
    w->to_begin--;
    w->busy++;
    s->busy = true;
    s->steps = (int)chance(w, 12);
    s->folder = w->folder[chance(w, FOLDERS)];
    snprintf(s->path, sizeof s->path, "%sf%zu", chance(w, 3) == 0 ? "below/" : "",
             chance(w, NAMES / 2));
    kinds[chance(w, sizeof kinds / sizeof kinds[0])](s);
}

static void on_limit(uv_timer_t *t)
{
    ((struct threads_world *)t->data)->timed_out = true;
}

static void on_stopped(void *ctx, size_t left_behind)
{
    assert_int_equal(left_behind, 0);
    ((struct threads_world *)ctx)->stopped = true;
}

/* A hundredth of the time: a share counts as hung, and work as left behind, after seconds for which
 * the disk of a busy machine may well take. */
static int64_t slow_us(void *ctx)
{
    (void)ctx;
    return (int64_t)(uv_hrtime() / 1000 / 100);
}

#define WAIT(w, condition)                                                                         \
    do {                                                                                           \
        uv_timer_start(&(w)->limit, on_limit, patient_ms(LIMIT_MS), 0);                            \
        while (!(condition) && !(w)->timed_out)                                                    \
            uv_run(&(w)->uv, UV_RUN_ONCE);                                                         \
        uv_timer_stop(&(w)->limit);                                                                \
        assert_true(condition);                                                                    \
    } while (0)

static void make_folders(struct threads_world *w)
{
    struct err e;
    for (int i = 0; i < FOLDERS; i++) {
        char below[80];
        snprintf(w->folder[i], sizeof w->folder[i], "/tmp/batchaid-threads-XXXXXX");
        assert_non_null(mkdtemp(w->folder[i]));
        snprintf(below, sizeof below, "%s/below", w->folder[i]);
        assert_int_equal(mkdir(below, 0700), 0);
        snprintf(below, sizeof below, "%s/large", w->folder[i]);
        FREED char *bytes = letters(LARGE);
        assert_int_equal(fs_write_atomic(below, bytes, LARGE, 0600, &e), 0);
    }
}

static void run(struct threads_world *w, int many)
{
    struct err e;
    make_folders(w);
    assert_int_equal(uv_loop_init(&w->uv), 0);
    w->loop = loop_uv_create(&w->uv, NULL, &(const struct clock){slow_us, NULL});
    uv_timer_init(&w->uv, &w->limit);
    w->limit.data = w;
    w->log.fd = -1;
    w->files = files_create(w->loop, &w->log);
    files_without_sync(w->files);
    w->to_begin = many;
    for (size_t i = 0; i < SLOTS; i++) {
        w->slots[i].w = w;
        begin(&w->slots[i]);
    }
    if (!w->ends)
        WAIT(w, w->busy == 0 && w->to_begin == 0);
    files_stop(w->files, on_stopped, w);
    WAIT(w, w->stopped && w->busy == 0);
    uv_close((uv_handle_t *)&w->limit, NULL);
    loop_uv_destroy(w->loop);
    uv_run(&w->uv, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->uv), 0);
    for (int i = 0; i < FOLDERS; i++)
        assert_int_equal(fs_remove_tree(w->folder[i], &e), 0);
}

/* UNIT_MANY: how many there are, for whoever wants to search longer. */
TEST(much_at_a_time_goes_well)
{
    const char *wanted = getenv("UNIT_MANY");
    struct threads_world w = {.chance = 1};
    run(&w, wanted ? atoi(wanted) : 4000);
    assert_true(w.good > w.faults / 10 && w.faults > 0);
}

TEST(what_is_under_way_ends_with_the_files)
{
    for (unsigned seed = 1; seed < 30; seed++) {
        struct threads_world w = {.chance = seed, .ends = true};
        run(&w, SLOTS);
    }
}
