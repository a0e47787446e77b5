/* SPDX-License-Identifier: MIT
 *
 * Carries out the steps of a seed as requests (api/http/inner.h) in the name of the daemon's own
 * principal. Those that write rows alone are answered at once, so all of them are in one
 * transaction.
 *
 *   read -> archives of packages -> rows, in one transaction -> folders, one after the other ->
 *   files -> what is noted of them, in another transaction -> answered
 *
 * Without folders there is one transaction. With them, the groups are in the state "creating"
 * between the two, so that the next start removes what a daemon that was killed had not finished
 * (begin.c).
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"
#include "api/arm/errors.h"
#include "api/http/auth.h"
#include "api/http/inner.h"
#include "api/seed/bury.h"
#include "api/seed/steps.h"
#include "files/change.h"
#include "front/batchai.h"
#include "lib/jsontext.h"
#include "lib/loop.h"
#include "model/spec.h"
#include "packages/packages.h"
#include "scheduler/scheduler.h"
#include "scheduler/wake/paced.h"
#include "shares/shares.h"
#include "storage/seeding.h"
#include "storage/storage.h"

enum { PLANES = 3 };

struct applying {
    struct request *r;
    const struct seed *seed;
    json_t *tree; /* owned */
    struct seed_steps steps;
    const struct seed_step *failed; /* where `why` is from; NULL: steps.at */
    struct err why;
    size_t groups, next;
    struct named_value header[PLANES]; /* Authorization */
    struct request **folder;           /* requests for folders; owned */
    size_t n_folders;
    struct seed_folder *fill;
    size_t n_fill;
    struct seed_archives archives;
    bool late;            /* something is behind the first transaction */
    struct burial burial; /* of what is undone */
};

static void applying_free(void *ctx)
{
    struct applying *p = ctx;
    for (size_t i = 0; i < p->n_folders; i++)
        request_inner_end(p->folder[i]);
    json_decref(p->tree);
    free(p);
}

/* --- what is wrong where -----------------------------------------------------------------------
 */

static REPLIED refuse(struct applying *p)
{
    struct err e = p->why;
    seed_say_place(p->r, p->failed ? &p->failed->at : &p->steps.at, &e);
    return reply_err(p->r, &e);
}

/* What the handler of a step answered, as an error of ours. */
static int refused(struct applying *p, const struct seed_step *s, const struct request *inner)
{
    seed_answer_read(&p->r->arena, inner, &p->why);
    p->failed = s;
    return -1;
}

static int fails(struct applying *p, const struct seed_step *s)
{
    p->failed = s;
    return -1;
}

/* How long ago it was made, so that nothing that a seed says is still being created. */
static int64_t age_us(const struct applying *p, const struct seed_step *s)
{
    static const struct {
        int kind;
        enum pace_step step;
    } slow[] = {
        {SEED_CLUSTER, PACE_CLUSTER_CREATION}, {SEED_FILE_SERVER, PACE_FILE_SERVER_CREATION},
        {SEED_JOB, PACE_JOB_CREATION},         {SEED_ACCOUNT, PACE_STORAGE_CREATION},
        {SEED_VAULT, PACE_VAULT_CREATION},     {SEED_BATCH_ACCOUNT, PACE_BATCH_CREATION}};
    const struct pace *pace = wakes_pace(sched_wakes(p->seed->arm.sched));
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++)
        if (s->kind == &seed_kinds[slow[i].kind])
            return pace_us(pace, s->subscription, slow[i].step);
    return 0;
}

static struct request *request_of(struct applying *p, struct arena *a, const struct seed_step *s,
                                  const json_t *given)
{
    struct inner_head head = seed_head(p->r, a, s, given);
    head.header = &p->header[s->kind->plane];
    head.n_headers = 1;
    head.seeds = true;
    struct request *one = request_inner(p->r, &head);
    one->now_us -= age_us(p, s);
    return one;
}

static void on_answered(void *ctx, struct request *inner)
{
    (void)ctx, (void)inner;
}

/* --- rows --------------------------------------------------------------------------------------
 */

static int check_new_group(struct applying *p, const struct seed_step *s)
{
    struct resource_group g;
    int rc =
        st_group_get(p->seed->arm.storage, &p->r->arena, s->subscription, s->name, &g, &p->why);
    if (rc > 0)
        err_set(&p->why, ERR_CONFLICT, NULL,
                "There is a resource group %s already; a seed makes new ones only, so reset it "
                "first.",
                s->name);
    p->groups += rc == 0;
    return rc == 0 ? 0 : fails(p, s);
}

static int check_subscription(struct applying *p, const struct seed_step *s)
{
    const struct access *x = p->seed->arm.access;
    struct subscription found;
    int rc = access_subscription(x, &p->r->arena, s->subscription, &found, &p->why);
    if (rc != 0)
        return rc < 0 ? fails(p, s) : 0;
    return seed_subscription_make(p->seed->arm.storage, arena_lower(&p->r->arena, s->subscription),
                                  x->first_id, p->r->now_us, &p->why) < 0
               ? fails(p, s)
               : 0;
}

/* An assignment of a role is called by a GUID, which no other one has. */
static int name_role(struct applying *p, struct seed_step *s)
{
    struct role_assignment there;
    char guid[GUID_SIZE];
    int rc = guid_valid(s->name) ? st_role_assignment_get(p->seed->arm.storage, &p->r->arena,
                                                          s->name, &there, &p->why)
                                 : 1;
    if (rc > 0) {
        request_guid(p->r, guid);
        s->name = arena_strdup(&p->r->arena, guid);
    }
    return rc < 0 || seed_role_check(&p->r->arena, s, &p->why) < 0 ? fails(p, s) : 0;
}

static int before(struct applying *p, struct seed_step *s)
{
    if (seed_is_role(s) && name_role(p, s) < 0)
        return -1;
    if (s->above)
        return 0;
    if (check_subscription(p, s) < 0)
        return -1;
    return s->kind == &seed_kinds[SEED_GROUP] ? check_new_group(p, s) : 0;
}

static int ask(struct applying *p, const struct seed_step *s, const json_t *given)
{
    struct arena a;
    arena_init(&a);
    struct request *one = request_of(p, &a, s, given);
    request_inner_go(one, on_answered, NULL);
    assert(one->finished); /* it writes rows alone, so it needs not wait */
    int rc = one->status >= 400 ? refused(p, s, one) : 0;
    request_inner_end(one);
    arena_free(&a);
    return rc;
}

/* Older versions of a secret come first. */
static int carry_out(struct applying *p, const struct seed_step *s)
{
    seed_then *const then = seed_ends[s->kind - seed_kinds].then;
    const char *version;
    json_t *older;
    if (s->kind == &seed_kinds[SEED_SECRET])
        json_object_foreach(json_object_get(s->given, "versions"), version, older)
            if (ask(p, s, older) < 0)
                return -1;
    if (!s->kind->unasked && ask(p, s, s->given) < 0)
        return -1;
    return then && then(p->seed, p->r, s, &p->why) < 0 ? fails(p, s) : 0;
}

static int ends(struct applying *p, const struct seed_step *s)
{
    seed_then *const last = seed_ends[s->kind - seed_kinds].last;
    return last && last(p->seed, p->r, s, &p->why) < 0 ? fails(p, s) : 0;
}

static bool is_kind(const struct seed_step *s, enum seed_kind_id kind)
{
    return s->kind == &seed_kinds[kind];
}

/* What is left to be written when the folders are filled: what is noted of files; groups are there,
 * or were, and have nobody's roles before that. */
static int complete(struct applying *p)
{
    struct storage *st = p->seed->arm.storage;
    struct resource_group g;
    for (size_t i = 0; i < p->n_fill; i++)
        if (seed_notes_write(st, &p->r->arena, &p->fill[i], p->r->now_us, &p->why) < 0)
            return fails(p, p->fill[i].step);
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct seed_step *s = &p->steps.items[i];
        if (is_kind(s, SEED_SUBSCRIPTION_ROLE) && carry_out(p, s) < 0)
            return -1;
        if (!s->above &&
            seed_subscription_settle(st, &p->r->arena, s->subscription, true, &p->why) < 0)
            return fails(p, s);
        if (!is_kind(s, SEED_GROUP))
            continue;
        int rc = st_group_get(st, &p->r->arena, s->subscription, s->name, &g, &p->why);
        if (rc == 0)
            rc = err_set(&p->why, ERR_CONFLICT, NULL, "The group was deleted while it was seeded.");
        if (rc > 0 && p->late)
            rc = st_group_made(st, g.id, &p->why);
        if (rc < 0 || ends(p, s) < 0)
            return fails(p, s);
    }
    return 0;
}

static int begin_group(struct applying *p, const struct seed_step *s)
{
    struct resource_group g;
    struct storage *st = p->seed->arm.storage;
    if (!p->late)
        return 0;
    return st_group_get(st, &p->r->arena, s->subscription, s->name, &g, &p->why) <= 0 ||
                   st_group_making(st, g.id, &p->why) < 0
               ? fails(p, s)
               : 0;
}

static int make_rows(struct applying *p)
{
    for (size_t i = 0; i < p->steps.n; i++) {
        struct seed_step *s = &p->steps.items[i];
        if (before(p, s) < 0)
            return -1;
        if (s->kind->late || is_kind(s, SEED_SUBSCRIPTION_ROLE))
            continue;
        if (carry_out(p, s) < 0 || (is_kind(s, SEED_GROUP) && begin_group(p, s) < 0))
            return -1;
    }
    for (size_t i = p->steps.n; i > 0; i--) /* from the inside out */
        if (!is_kind(&p->steps.items[i - 1], SEED_GROUP) && ends(p, &p->steps.items[i - 1]) < 0)
            return -1;
    return p->late ? 0 : complete(p);
}

static int write_rows(struct storage *st, void *ctx, struct err *e)
{
    struct applying *p = ctx;
    (void)st;
    if (make_rows(p) == 0)
        return 0;
    *e = p->why;
    return -1;
}

static int write_end(struct storage *st, void *ctx, struct err *e)
{
    struct applying *p = ctx;
    (void)st;
    if (complete(p) == 0)
        return 0;
    *e = p->why;
    return -1;
}

/* --- the end -----------------------------------------------------------------------------------
 */

static int undo(struct storage *st, void *ctx, struct err *e)
{
    struct applying *p = ctx;
    struct resource_group g;
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct seed_step *s = &p->steps.items[i];
        if (!is_kind(s, SEED_GROUP))
            continue;
        int rc = st_group_get(st, &p->r->arena, s->subscription, s->name, &g, e);
        if (rc < 0 || (rc > 0 && bury_group_alone(&p->burial, &g, e) < 0) ||
            (rc == 0 && bury_deleted(&p->burial, s->subscription, s->name, e) < 0) ||
            seed_subscription_settle(st, &p->r->arena, s->subscription, false, e) < 0)
            return -1;
    }
    return 0;
}

/* Rows are there, but a folder or file could not be made: all of it goes again. */
static void give_up(struct applying *p)
{
    struct err e;
    p->burial = (struct burial){.st = p->seed->arm.storage,
                                .a = &p->r->arena,
                                .storage_dir = p->seed->storage_dir,
                                .now_us = p->r->now_us};
    if (st_tx(p->seed->arm.storage, "seed undone", undo, p, &e) < 0)
        LOG_ERROR(p->r->config->log, "testing.seed_not_undone", LF_STR("why", e.msg));
    batchai_wake_burials(p->seed->arm.front);
    sched_gate_opened(p->seed->arm.sched);
    request_finish(p->r, refuse(p));
}

static REPLIED done(struct applying *p)
{
    LOG_INFO(p->r->config->log, "testing.seeded", LF_INT("groups", (int64_t)p->groups),
             LF_INT("resources", (int64_t)p->steps.n));
    return reply_json(p->r, 200,
                      json_pack("{s:I, s:I}", "resourceGroups", (json_int_t)p->groups, "resources",
                                (json_int_t)p->steps.n));
}

/* --- files -------------------------------------------------------------------------------------
 */

static void fill_work(void *ctx)
{
    struct applying *p = ctx;
    for (size_t i = 0; i < p->n_fill; i++)
        if (seed_files_write(&p->fill[i], &p->why) < 0) {
            p->failed = p->fill[i].step;
            break;
        }
    for (size_t i = 0; p->failed && i < p->n_fill; i++)
        seed_files_unwrite(&p->fill[i]); /* the disk may be full, and what follows needs room */
}

static void conclude(struct applying *p)
{
    struct err e;
    if (!p->failed && st_tx(p->seed->arm.storage, "seed made", write_end, p, &e) < 0 &&
        p->why.code == ERR_NONE) { /* the transaction itself */
        p->why = e;
        p->failed = p->steps.items;
    }
    if (p->why.code != ERR_NONE) {
        give_up(p);
        return;
    }
    sched_gate_opened(p->seed->arm.sched);
    request_finish(p->r, done(p));
}

static void fill_done(void *ctx, enum loop_work_end how)
{
    struct applying *p = ctx;
    if (how != LOOP_WORK_DONE) {
        err_set(&p->why, ERR_UNAVAILABLE, NULL, "The daemon is stopping.");
        p->failed = p->steps.items;
    }
    conclude(p);
}

static const json_t *files_of(const struct seed_step *s)
{
    return json_object_get(s->given, s->kind->own[0]);
}

static enum share_kind kind_of(const struct seed_step *s)
{
    return is_kind(s, SEED_SHARE) ? SHARE_FILES : SHARE_BLOBS;
}

/* The row of a step's share or container. A getter. */
static int find_share(struct applying *p, const struct seed_step *s, struct share *out,
                      struct err *e)
{
    struct storage_account acct;
    struct storage *st = p->seed->arm.storage;
    int rc = st_account_by_name(st, &p->r->arena, s->above->name, &acct, e);
    return rc > 0 ? st_share_by_name(st, &p->r->arena, acct.id, kind_of(s), s->name, out, e) : rc;
}

static int add_fill(struct applying *p, const struct seed_step *s)
{
    struct share row;
    struct arena *a = &p->r->arena;
    const char *account = arena_lower(a, s->above->name), *dir = p->seed->storage_dir;
    int rc = find_share(p, s, &row, &p->why);
    if (rc == 0)
        err_set(&p->why, ERR_CONFLICT, NULL, "It was deleted while it was seeded.");
    if (rc <= 0)
        return fails(p, s);
    size_t n = json_object_size(files_of(s));
    p->fill[p->n_fill++] = (struct seed_folder){
        .path = share_folder(a, dir, account, kind_of(s), arena_lower(a, s->name)),
        .account = arena_concat(a, dir, "/", account),
        .share_id = row.id,
        .what = is_kind(s, SEED_SHARE) ? SEED_SHARE_FILES : SEED_BLOBS,
        .sync = files_sync(p->seed->files),
        .time_ns = files_time_ns(p->seed->files),
        .files = files_of(s),
        .written = arena_alloc(a, (n + 1) * sizeof *p->fill->written),
        .step = s};
    return 0;
}

static void fill(struct applying *p)
{
    p->fill = arena_alloc(&p->r->arena, (p->n_folders + 1) * sizeof *p->fill);
    for (size_t i = 0; i < p->steps.n && !p->failed; i++)
        if (p->steps.items[i].kind->late && files_of(&p->steps.items[i]))
            (void)add_fill(p, &p->steps.items[i]);
    if (p->failed || p->n_fill == 0) {
        conclude(p);
        return;
    }
    if (!loop_work(p->seed->lane, fill_work, fill_done, p))
        fill_done(p, LOOP_WORK_DROPPED);
}

/* --- folders -----------------------------------------------------------------------------------
 */

static void next_folder(struct request *r, void *ctx);

static void on_folder(void *ctx, struct request *inner)
{
    struct applying *p = ctx;
    if (inner->status >= 400)
        (void)refused(p, &p->steps.items[p->next - 1], inner);
    request_again(p->r, next_folder, p);
}

static void on_made(void *ctx, const struct err *why)
{
    struct applying *p = ctx;
    (void)why; /* its own request will say it */
    request_again(p->r, next_folder, p);
}

/* A mount of a seeded cluster has named it, so its folder is being made already. */
static bool waits_for_folder(struct applying *p, const struct seed_step *s)
{
    struct share row;
    struct err e;
    if (find_share(p, s, &row, &e) <= 0 || row.state != SHARE_MAKING)
        return false;
    shares_when_made(p->seed->shares, row.id, on_made, p);
    return true;
}

static void next_folder(struct request *r, void *ctx)
{
    struct applying *p = ctx;
    (void)r;
    if (p->failed) {
        give_up(p);
        return;
    }
    while (p->next < p->steps.n && !p->steps.items[p->next].kind->late)
        p->next++;
    if (p->next == p->steps.n) {
        fill(p);
        return;
    }
    if (waits_for_folder(p, &p->steps.items[p->next]))
        return;
    const struct seed_step *s = &p->steps.items[p->next++];
    struct request *one = request_of(p, &p->r->arena, s, s->given);
    p->folder[p->n_folders++] = one;
    request_inner_go(one, on_folder, p);
}

/* --- the beginning -----------------------------------------------------------------------------
 */

static int log_in(struct applying *p, struct err *e)
{
    static const char *const audience[PLANES] = {[SEED_ARM] = "https://management.azure.com",
                                                 [SEED_AT_VAULT] = "https://vault.azure.net",
                                                 [SEED_AT_BATCH] =
                                                     "https://batch.core.windows.net"};
    struct principal who;
    const struct api_config *c = p->r->config;
    const char *first = p->seed->arm.access->first_id;
    int seconds;
    int rc = c->directory->find(c->directory->ctx, first, &who, e);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(e, ERR_INTERNAL, NULL, "The daemon's own principal is gone.");
    for (int i = 0; i < PLANES; i++) {
        char *token = auth_issue(c, &who, who.app_id, audience[i], p->r->now_us, &seconds);
        p->header[i] =
            (struct named_value){"Authorization", arena_concat(&p->r->arena, "Bearer ", token)};
        free(token);
    }
    return 0;
}

/* What the transaction does not see: files are checked before anything is written. */
static int check_files(struct applying *p)
{
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct seed_step *s = &p->steps.items[i];
        if (s->kind->late && files_of(s) &&
            seed_files_check(files_of(s), is_kind(s, SEED_SHARE) ? SEED_SHARE_FILES : SEED_BLOBS,
                             &p->why) < 0)
            return fails(p, s);
        p->late = p->late || s->kind->late;
    }
    return 0;
}

/* Not called inside seed_apply(). */
static void on_archives(void *ctx, const struct seed_step *s, const struct err *why)
{
    struct applying *p = ctx;
    struct err e;
    if (why) {
        p->why = *why;
        p->failed = s;
    }
    if (why || st_tx(p->seed->arm.storage, "seed", write_rows, p, &e) < 0) {
        packages_sweep(p->seed->packages);
        request_finish(p->r, p->why.code == ERR_NONE ? reply_err(p->r, &e) : refuse(p));
        return;
    }
    if (!p->late) {
        request_finish(p->r, done(p));
        return;
    }
    p->folder = arena_alloc(&p->r->arena, (p->steps.n + 1) * sizeof *p->folder);
    request_again(p->r, next_folder, p);
}

struct replied *seed_apply(struct request *r, const struct seed *seed)
{
    struct err e;
    const char *subscription = request_query(r, "subscription");
    struct applying *p = xcalloc(1, sizeof *p);
    *p = (struct applying){.r = r, .seed = seed};
    request_keep(r, p, applying_free);
    if (seed_doc_read(r->raw.s ? r->raw.s : "", r->raw.len, &p->tree, &e) < 0 || log_in(p, &e) < 0)
        return reply_err(r, &e);
    if (subscription && !guid_valid(subscription)) {
        err_set(&e, ERR_INVALID_QUERY, "subscription", "subscription is '%.100s', and no GUID.",
                subscription);
        return reply_err(r, &e);
    }
    if (!subscription)
        subscription = seed->arm.access->subscription_id;
    if (seed_steps_read(&r->arena, p->tree, subscription, &p->steps, &p->why) < 0 ||
        check_files(p) < 0)
        return refuse(p);
    p->archives = (struct seed_archives){
        .seed = seed, .r = r, .steps = &p->steps, .cb = on_archives, .ctx = p};
    seed_archives_keep(&p->archives);
    return reply_later(r);
}
