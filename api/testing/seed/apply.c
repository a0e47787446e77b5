/* SPDX-License-Identifier: MIT
 *
 * Carries out the steps of a seed as requests (api/http/subrequest.h) from the daemon's own
 * principal, in the phases of applying.h. A small seed without folders is one transaction.
 * Otherwise the groups are in the state "creating" from ROWS to NOTING, so that after a kill the
 * next start removes the unfinished seed (begin.c).
 *
 * The request owns the seed. Its connection is suspended until the reply. A worker thread
 * (seed->lane) reads a long text and fills folders; meanwhile the loop's thread does not use `p`.
 * Everything else runs on the loop's thread.
 */
#include <assert.h>
#include <stdlib.h>

#include "api/access/access.h"
#include "api/http/subrequest.h"
#include "api/testing/seed/applying.h"
#include "lib/loop.h"
#include "model/spec.h"
#include "scheduler/front/batchai/batchai.h"
#include "scheduler/scheduler.h"
#include "storage/folders/change.h"
#include "storage/packages/packages.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

/* The loop's thread itself parses a text of at most this many bytes, in less than a millisecond. */
#define TEXT_AT_ONCE (16 * 1024)

/* Enters a phase and begins its work. Defined below, after the table of phases. */
static void enter(struct applying *p, enum applying_phase phase);

/* Enters `next`, or handles the error if p->why is set. */
static void go_on(struct applying *p, enum applying_phase next)
{
    if (p->why.code == ERR_NONE)
        enter(p, next);
    else
        enter(p, p->written ? APPLYING_UNDOING : APPLYING_OVER);
}

/* --- reading, checking ----------------------------------------------------------------------- */

static void read_text(void *ctx)
{
    struct applying *p = ctx;
    const struct strbuf *raw = &p->r->raw;
    if (seed_doc_read(raw->s ? raw->s : "", raw->len, &p->tree, &p->why) < 0)
        p->nowhere = true; /* the message already contains the place */
}

static void on_read(void *ctx, enum loop_work_end how)
{
    if (how != LOOP_WORK_DONE)
        applying_stops(ctx);
    go_on(ctx, APPLYING_CHECKING);
}

static void read_at_once(struct request *r, void *ctx)
{
    (void)r;
    read_text(ctx);
    go_on(ctx, APPLYING_CHECKING);
}

static void begin_reading(struct applying *p)
{
    if (p->r->raw.len <= TEXT_AT_ONCE || !loop_work(p->seed->lane, read_text, on_read, p))
        request_again(p->r, read_at_once, p);
}

static const json_t *files_of(const struct seed_step *s)
{
    return json_object_get(s->given, s->kind->own[0]);
}

static enum share_kind kind_of(const struct seed_step *s)
{
    return is_kind(s, SEED_SHARE) ? SHARE_FILES : SHARE_BLOBS;
}

/* Checks the contents of files before anything is written, because the creation of rows does not
 * check them. */
static int check_files(struct applying *p)
{
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct seed_step *s = &p->steps.items[i];
        if (s->kind->late && files_of(s) &&
            seed_files_check(files_of(s), is_kind(s, SEED_SHARE) ? SEED_SHARE_FILES : SEED_BLOBS,
                             &p->why) < 0)
            return applying_fails(p, s);
        p->late = p->late || s->kind->late;
    }
    return 0;
}

static void check(struct applying *p)
{
    if (seed_log_in(p->seed, p->r, p->header, &p->why) < 0)
        p->nowhere = true;
    else if (seed_steps_read(&p->r->arena, p->tree, p->subscription, &p->steps, &p->why) == 0)
        (void)check_files(p); /* the error is in p->why */
    go_on(p, APPLYING_ARCHIVING);
}

/* --- archives, rows -------------------------------------------------------------------------- */

static void on_archives(void *ctx, const struct seed_step *s, const struct err *why)
{
    struct applying *p = ctx;
    if (why) {
        p->why = *why;
        p->failed = s;
        packages_sweep(p->seed->packages);
    }
    go_on(p, APPLYING_ROWS);
}

static void keep_archives(struct applying *p)
{
    p->archives = (struct seed_archives){
        .seed = p->seed, .r = p->r, .steps = &p->steps, .cb = on_archives, .ctx = p};
    seed_archives_keep(&p->archives);
}

static void on_rows(struct applying *p)
{
    if (p->why.code != ERR_NONE)
        packages_sweep(p->seed->packages);
    go_on(p, p->late ? APPLYING_FOLDERS : APPLYING_OVER);
}

static void make_rows(struct applying *p)
{
    rows_make(p, on_rows);
}

/* --- folders --------------------------------------------------------------------------------- */

/* Gets the row of a step's share or container. */
static int find_share(struct applying *p, const struct seed_step *s, struct share *out,
                      struct err *e)
{
    struct storage_account acct;
    struct storage *st = p->seed->arm.storage;
    int rc = st_account_by_name(st, &p->r->arena, s->above->name, &acct, e);
    return rc > 0 ? st_share_by_name(st, &p->r->arena, acct.id, kind_of(s), s->name, out, e) : rc;
}

static void next_folder(struct request *r, void *ctx);

static void on_folder(void *ctx, struct request *inner)
{
    struct applying *p = ctx;
    if (inner->status >= 400)
        (void)applying_refused(p, &p->steps.items[p->next - 1], inner);
    request_again(p->r, next_folder, p);
}

static void on_made(void *ctx, const struct err *why)
{
    struct applying *p = ctx;
    (void)why; /* the request for the folder reports the error */
    request_again(p->r, next_folder, p);
}

/* Whether the folder is being created already, because a mount of a seeded cluster has named the
 * share. If so, continues when it exists. */
static bool waits_for_folder(struct applying *p, const struct seed_step *s)
{
    struct share row;
    struct err e;
    if (find_share(p, s, &row, &e) <= 0 || row.state != SHARE_MAKING)
        return false;
    shares_when_made(p->seed->arm.shares, row.id, on_made, p);
    return true;
}

static void next_folder(struct request *r, void *ctx)
{
    struct applying *p = ctx;
    (void)r;
    while (p->next < p->steps.n && !p->steps.items[p->next].kind->late)
        p->next++;
    if (p->why.code != ERR_NONE || p->next == p->steps.n) {
        go_on(p, APPLYING_FILLING);
        return;
    }
    if (waits_for_folder(p, &p->steps.items[p->next]))
        return;
    const struct seed_step *s = &p->steps.items[p->next++];
    struct request *one = applying_request(p, &p->r->arena, s, s->given);
    p->folder[p->n_folders++] = one;
    request_inner_go(one, on_folder, p);
}

static void make_folders(struct applying *p)
{
    p->folder = arena_alloc(&p->r->arena, (p->steps.n + 1) * sizeof *p->folder);
    request_again(p->r, next_folder, p);
}

/* --- files ----------------------------------------------------------------------------------- */

static int add_fill(struct applying *p, const struct seed_step *s)
{
    struct share row;
    struct arena *a = &p->r->arena;
    const char *account = arena_lower(a, s->above->name), *dir = p->seed->storage_dir;
    int rc = find_share(p, s, &row, &p->why);
    if (rc == 0)
        err_set(&p->why, ERR_CONFLICT, NULL,
                "The share or container was deleted before its files were written.");
    if (rc <= 0)
        return applying_fails(p, s);
    const json_t *files = seed_files_of(p->r, s, files_of(s));
    size_t n = json_object_size(files);
    p->fill[p->n_fill++] = (struct seed_folder){
        .path = share_folder(a, dir, account, kind_of(s), arena_lower(a, s->name)),
        .account = arena_concat(a, dir, "/", account),
        .share_id = row.id,
        .what = is_kind(s, SEED_SHARE) ? SEED_SHARE_FILES : SEED_BLOBS,
        .sync = files_sync(p->seed->files),
        .time_ns = files_time_ns(p->seed->files),
        .files = files,
        .written = arena_alloc(a, (n + 1) * sizeof *p->fill->written),
        .step = s};
    return 0;
}

static void fill_work(void *ctx)
{
    struct applying *p = ctx;
    for (size_t i = 0; i < p->n_fill; i++)
        if (seed_files_write(&p->fill[i], &p->why) < 0) {
            p->failed = p->fill[i].step;
            break;
        }
    for (size_t i = 0; p->failed && i < p->n_fill; i++)
        /* makes room on a full disk, because the removal of rows needs some */
        seed_files_unwrite(&p->fill[i]);
}

static void on_filled(void *ctx, enum loop_work_end how)
{
    if (how != LOOP_WORK_DONE)
        applying_stops(ctx);
    go_on(ctx, APPLYING_NOTING);
}

static void fill(struct applying *p)
{
    p->fill = arena_alloc(&p->r->arena, (p->n_folders + 1) * sizeof *p->fill);
    for (size_t i = 0; i < p->steps.n && !p->failed; i++)
        if (p->steps.items[i].kind->late && files_of(&p->steps.items[i]))
            (void)add_fill(p, &p->steps.items[i]);
    if (p->failed || p->n_fill == 0)
        go_on(p, APPLYING_NOTING);
    else if (!loop_work(p->seed->lane, fill_work, on_filled, p))
        on_filled(p, LOOP_WORK_DROPPED);
}

/* --- the end --------------------------------------------------------------------------------- */

static void note(struct applying *p)
{
    if (applying_write(p, "seed made", rows_complete) == 0)
        sched_gate_opened(p->seed->arm.sched);
    go_on(p, APPLYING_OVER);
}

static int undo(struct storage *st, void *ctx, struct err *e)
{
    (void)st;
    return rows_undo(ctx, e);
}

/* Called when the removal is on disk. If the disk is full, all rows and folders stay until the next
 * start. */
static void on_undone(void *ctx, const struct err *why)
{
    struct applying *p = ctx;
    if (why) {
        detach_undo(&p->detachment);
        LOG_ERROR(p->r->config->log, "testing.seed_not_undone", LF_STR("why", why->msg));
    }
    batchai_wake_detachments(p->seed->arm.front);
    sched_gate_opened(p->seed->arm.sched);
    enter(p, APPLYING_OVER);
}

static void undo_all(struct applying *p)
{
    struct err e;
    p->detachment = (struct detachment){.st = p->seed->arm.storage,
                                        .a = &p->r->arena,
                                        .storage_dir = p->seed->storage_dir,
                                        .now_us = p->r->now_us,
                                        .vaults_after = p->vaults_before};
    if (st_tx(p->seed->arm.storage, "seed undone", undo, p, &e) < 0)
        on_undone(p, &e);
    else
        st_when_durable(p->seed->arm.storage, on_undone, p);
}

static REPLIED refuse(struct applying *p)
{
    struct err e = p->why;
    if (!p->nowhere)
        seed_say_place(p->r, p->failed ? &p->failed->at : &p->steps.at, &e);
    return reply_err(p->r, &e);
}

static REPLIED done(struct applying *p)
{
    LOG_INFO(p->r->config->log, "testing.seeded", LF_INT("groups", (int64_t)p->groups),
             LF_INT("resources", (int64_t)p->steps.n));
    return reply_json(p->r, 200,
                      json_pack("{s:I, s:I}", "resourceGroups", (json_int_t)p->groups, "resources",
                                (json_int_t)p->steps.n));
}

static void answer(struct applying *p)
{
    request_finish(p->r, p->why.code == ERR_NONE ? done(p) : refuse(p));
}

/* --- the phases ------------------------------------------------------------------------------ */

#define BIT(phase) (1U << (phase))

static const struct {
    void (*begin)(struct applying *p); /* begins the work of the phase */
    unsigned next;                     /* the phases that may follow */
} phases[] = {
    [APPLYING_READING] = {begin_reading, BIT(APPLYING_CHECKING) | BIT(APPLYING_OVER)},
    [APPLYING_CHECKING] = {check, BIT(APPLYING_ARCHIVING) | BIT(APPLYING_OVER)},
    [APPLYING_ARCHIVING] = {keep_archives, BIT(APPLYING_ROWS) | BIT(APPLYING_OVER)},
    [APPLYING_ROWS] = {make_rows,
                       BIT(APPLYING_FOLDERS) | BIT(APPLYING_UNDOING) | BIT(APPLYING_OVER)},
    [APPLYING_FOLDERS] = {make_folders, BIT(APPLYING_FILLING) | BIT(APPLYING_UNDOING)},
    [APPLYING_FILLING] = {fill, BIT(APPLYING_NOTING) | BIT(APPLYING_UNDOING)},
    [APPLYING_NOTING] = {note, BIT(APPLYING_OVER) | BIT(APPLYING_UNDOING)},
    [APPLYING_UNDOING] = {undo_all, BIT(APPLYING_OVER)},
    [APPLYING_OVER] = {answer, 0},
};
static_assert(sizeof phases / sizeof phases[0] == APPLYING_OVER + 1, "a row a phase");

/* Checks the invariants of a phase when it begins. */
static void check_phase(const struct applying *p)
{
    if (p->phase == APPLYING_OVER)
        return;
    assert((p->why.code != ERR_NONE) == (p->phase == APPLYING_UNDOING));
    assert(p->written == (p->phase > APPLYING_ROWS));
    assert(p->late || p->phase <= APPLYING_ROWS);
}

static void enter(struct applying *p, enum applying_phase phase)
{
    assert(phases[p->phase].next & BIT(phase));
    p->phase = phase;
    check_phase(p);
    phases[phase].begin(p);
}

static void applying_free(void *ctx)
{
    struct applying *p = ctx;
    for (size_t i = 0; i < p->n_folders; i++)
        request_inner_end(p->folder[i]);
    json_decref(p->tree);
    free(p);
}

struct replied *seed_apply(struct request *r, const struct seed *seed)
{
    struct err e;
    const char *subscription = request_query(r, "subscription");
    if (subscription && !guid_valid(subscription)) {
        err_set(&e, ERR_INVALID_QUERY, "subscription",
                "subscription is '%.100s'; it must be a GUID.", subscription);
        return reply_err(r, &e);
    }
    struct applying *p = xcalloc(1, sizeof *p);
    *p = (struct applying){.r = r,
                           .seed = seed,
                           .subscription =
                               subscription ? subscription : seed->arm.access->subscription_id};
    request_keep(r, p, applying_free);
    struct replied *token = reply_later(r);
    begin_reading(p); /* the first phase */
    return token;
}
