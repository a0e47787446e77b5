/* SPDX-License-Identifier: MIT
 *
 * The room of shares with what it stands on: a database with an account "acct", a storage
 * directory, the workers of storage/folders/.
 */
#ifndef TEST_SHARES_ROOM_H
#define TEST_SHARES_ROOM_H

#include "test/unit/storage/fixture.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include "scheduler/wake/wake.h"
#include "storage/folders/files.h"
#include "storage/shares/shares.h"

#define DAY_US (INT64_C(24) * 3600 * 1000000)

struct shares_room {
    struct fx *f;
    char dir[128];
    struct files *files;
    struct wakes *wakes;
    struct shares *shares;
    int64_t account;
    bool strict;
};

/* --- a life of the room ----------------------------------------------------------------------- */

static const struct wake_kind woken_deletions = {"deletions", WAKE_FIRST};

static inline void deletions(void *ctx, int64_t id)
{
    (void)ctx, (void)id;
}

static inline void begin(struct shares_room *w, int64_t keep_us)
{
    struct fx *f = w->f;
    w->files = files_create(f->tools, &f->log);
    const struct wakes_config wc = {.loop = f->tools, .storage = f->st, .log = &f->log};
    w->wakes = wakes_create(&wc);
    wakes_handle(w->wakes, &woken_deletions, deletions, w);
    const struct shares_config c = {.storage = f->st,
                                    .files = w->files,
                                    .wakes = w->wakes,
                                    .log = &f->log,
                                    .storage_dir = w->dir,
                                    .keep_us = keep_us,
                                    .subscription = SUB,
                                    .principal = "somebody",
                                    .strict = w->strict,
                                    .gone = &woken_deletions};
    w->shares = shares_create(&c);
}

static inline void go_on(struct shares_room *w)
{
    ok(w->f, shares_start(w->shares, &w->f->e));
}

static inline void turn(struct shares_room *w)
{
    wakes_turn(w->wakes);
    st_turn_end(w->f->st);
    uv_run(&w->f->loop, UV_RUN_NOWAIT);
    usleep(500);
}

/* The commit of this turn's writes fails. */
static inline void lose_turn(struct shares_room *w)
{
    w->f->st->turn_doomed = true;
    err_set(&w->f->st->doom, ERR_STORAGE, NULL, "the disk is full");
    st_turn_end(w->f->st);
}

static inline void on_files_stopped(void *ctx, size_t left_behind)
{
    assert_int_equal(left_behind, 0);
    fx_set_true(ctx);
}

static inline void end(struct shares_room *w)
{
    bool wakes_gone = false, files_gone = false;
    shares_end_requests(w->shares);
    wakes_stop(w->wakes, fx_set_true, &wakes_gone);
    files_stop(w->files, on_files_stopped, &files_gone);
    while (!wakes_gone || !files_gone) {
        st_turn_end(w->f->st);
        uv_run(&w->f->loop, UV_RUN_NOWAIT);
    }
    shares_free(w->shares);
    wakes_free(w->wakes);
}

static inline int start(void **state)
{
    fx_start(state);
    struct shares_room *w = calloc(1, sizeof *w);
    w->f = *state;
    snprintf(w->dir, sizeof w->dir, "%s/storage", w->f->dir);
    assert_int_equal(mkdir(w->dir, 0755), 0);
    w->account = fx_add_storage_account(w->f, w->f->group, "acct");
    begin(w, DAY_US);
    *state = w;
    return 0;
}

static inline int stop(void **state)
{
    struct shares_room *w = *state;
    struct fx *f = w->f;
    end(w);
    free(w);
    *state = f;
    return fx_end(state);
}

/* As after kill -9: what the worker did is lost track of, the rows are as they were. */
static inline void crash(struct shares_room *w, int64_t keep_us)
{
    end(w);
    begin(w, keep_us);
}

/* --- asking ----------------------------------------------------------------------------------- */

struct answer {
    bool told;
    enum err_code code; /* ERR_NONE: done */
};

static inline void on_done(void *ctx, const struct err *why)
{
    struct answer *a = ctx;
    assert_false(a->told);
    a->told = true;
    a->code = why ? why->code : ERR_NONE;
}

static inline void wait_for(struct shares_room *w, struct answer *a)
{
    for (int i = 0; i < 20000 && !a->told; i++)
        turn(w);
    assert_true(a->told);
}

static inline struct share named(struct shares_room *w, const char *name)
{
    return (struct share){.account_id = w->account,
                          .account = "acct",
                          .name = name,
                          .kind = SHARE_FILES,
                          .metadata = "{\"k\":\"v\"}"};
}

static inline enum err_code make(struct shares_room *w, const char *name)
{
    struct answer a = {0};
    const struct share s = named(w, name);
    if (shares_make(w->shares, &s, T0, on_done, &a, &w->f->e) < 0)
        return w->f->e.code;
    wait_for(w, &a);
    return a.code;
}

static inline bool find(struct shares_room *w, const char *name, struct share *s)
{
    int rc = st_share_by_name(w->f->st, &w->f->a, w->account, SHARE_FILES, name, s, &w->f->e);
    ok(w->f, rc);
    return rc == 1;
}

static inline enum err_code delete_it(struct shares_room *w, const char *name, int64_t now_us)
{
    struct answer a = {0};
    struct share s;
    assert_true(find(w, name, &s));
    if (shares_delete(w->shares, &s, now_us, on_done, &a, &w->f->e) < 0)
        return w->f->e.code;
    wait_for(w, &a);
    return a.code;
}

static inline enum err_code restore(struct shares_room *w, int64_t id)
{
    struct answer a = {0};
    if (shares_restore(w->shares, id, on_done, &a, &w->f->e) < 0)
        return w->f->e.code;
    wait_for(w, &a);
    return a.code;
}

static inline const char *path(struct shares_room *w, const char *below)
{
    return arena_printf(&w->f->a, "%s/%s", w->dir, below);
}

static inline void write_file(struct shares_room *w, const char *below)
{
    int fd = open(path(w, below), O_CREAT | O_WRONLY | O_EXCL, 0644);
    assert_true(fd >= 0);
    close(fd);
}

static inline bool there(struct shares_room *w, const char *below)
{
    struct stat st;
    return lstat(path(w, below), &st) == 0;
}

static inline int64_t deleted_id(struct shares_room *w, size_t expected)
{
    struct share_rows rows;
    ok(w->f, st_share_deleted(w->f->st, &w->f->a, INT64_MAX, &(struct st_page){.limit = 10}, &rows,
                              &w->f->e));
    assert_int_equal(rows.n, expected);
    return rows.n ? rows.items[rows.n - 1].id : 0;
}

static inline enum share_state state_of(struct shares_room *w, int64_t id)
{
    struct share s;
    int rc = st_share_by_id(w->f->st, &w->f->a, id, &s, &w->f->e);
    ok(w->f, rc);
    return rc == 1 ? s.state : (enum share_state)0;
}

static inline void until(struct shares_room *w, int64_t id, int state)
{
    for (int i = 0; i < 20000 && (int)state_of(w, id) != state; i++)
        turn(w);
    assert_int_equal(state_of(w, id), state);
}

#define ROOM_TEST(name) TEST_IN(name, struct shares_room *w, *state, start, stop)

#endif
