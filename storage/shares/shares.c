/* SPDX-License-Identifier: MIT
 *
 * The reconcilers of shares and accounts: each reads the row's state, asks a worker for the next
 * move of the folder, and writes the next state when the worker answers. On the loop, woken by id
 * (scheduler/wake/); requests that wait for a share are kept in memory and answered at the end.
 */
#include "storage/shares/shares.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/strbuf.h"
#include "model/spec.h"
#include "scheduler/wake/paced.h"
#include "scheduler/wake/wake.h"
#include "storage/folders/change.h"
#include "storage/folders/files.h"
#include "storage/shares/shares_priv.h"
#include "storage/storage.h"

/* For all deleted shares. */
static const struct wake_kind woken_deleted_shares = {"deleted shares", WAKE_LAST};

/* The pause after a failed move or removal of a folder (us). */
#define FOLDER_AGAIN_US INT64_C(60000000)
/* The period of checks of deleted shares (us), and how many at once. */
#define PURGE_EVERY_US  INT64_C(3600000000)
#define PURGE_PAUSE_US  100000
#define PURGED_PER_PASS 20
#define PURGED_ROWS     1000 /* some milliseconds */

/* --- start and end --- */

static void reconcile_share(void *ctx, int64_t id);
static void reconcile_account(void *ctx, int64_t id);
static void purge_pass(void *ctx, int64_t id);

struct shares *shares_create(const struct shares_config *c)
{
    struct shares *sh = xcalloc(1, sizeof *sh);
    sh->c = *c;
    sh->c.storage_dir = sh->storage_dir = xstrdup(c->storage_dir);
    sh->c.subscription = sh->subscription = xstrdup(c->subscription);
    sh->c.principal = sh->principal = xstrdup(c->principal);
    wakes_handle(c->wakes, &woken_share, reconcile_share, sh);
    wakes_handle(c->wakes, &woken_account, reconcile_account, sh);
    wakes_handle(c->wakes, &woken_deleted_shares, purge_pass, sh);
    return sh;
}

int shares_start(struct shares *sh, struct err *e)
{
    struct arena a;
    int64_t *ids;
    size_t n;
    arena_init(&a);
    int rc = st_share_unsettled_ids(sh->c.storage, &a, &ids, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        wake(sh->c.wakes, &woken_share, ids[i]);
    wake(sh->c.wakes, &woken_deleted_shares, WAKE_ALL);
    shares_find(sh);
    arena_free(&a);
    return rc;
}

void shares_end_requests(struct shares *sh)
{
    struct err e;
    err_set(&e, ERR_UNAVAILABLE, NULL, "The daemon stops.");
    share_pendings_end(&sh->shares, &e);
    share_pendings_end(&sh->accounts, &e);
}

void shares_free(struct shares *sh)
{
    if (!sh)
        return;
    share_pendings_free(&sh->shares);
    share_pendings_free(&sh->accounts);
    free(sh->storage_dir);
    free(sh->subscription);
    free(sh->principal);
    free(sh);
}

const char *shares_folder(const struct shares *sh, struct arena *a, const struct share *s)
{
    return share_folder(a, sh->storage_dir, s->account, s->kind, s->name);
}

/* --- the end of a piece of work --- */

static int not_written(struct err *e)
{
    return err_set(e, ERR_STORAGE, NULL,
                   "The state of the share or container could not be written; try again.");
}

static int move_row(struct shares *sh, const struct share *s, enum share_state to,
                    int64_t deleted_us, struct err *e)
{
    const struct st_share_move m = {s->id, s->state, to, s->account_id, deleted_us};
    if (st_share_move(sh->c.storage, &m, e) < 0)
        return -1;
    LOG_INFO(sh->c.log, "share.state_changed", LF_STR("account", s->account),
             LF_STR("share", s->name), LF_STR("kind", enum_to_name(share_kind_names, (int)s->kind)),
             LF_STR("state", enum_to_name(share_state_names, (int)to)));
    wake_durable(sh->c.wakes, &woken_share, s->id);
    return 0;
}

/* Logs a failed step. The deletion of a group may move an account's folder while a share in it is
 * being made; then no request waits, and the log line is for debugging only. */
static void say_failed(struct shares *sh, const struct share *s, const struct err *why)
{
    bool in_vain = s->state == SHARE_MAKING && share_is_detached(s->account);
    LOG_AT(sh->c.log, in_vain ? LOG_LVL_DEBUG : LOG_LVL_WARN, "share.folder_failed",
           LF_STR("account", s->account), LF_STR("share", s->name),
           LF_STR("state", enum_to_name(share_state_names, s->state)), LF_STR("why", why->msg));
}

/* Writes the result of making a folder. A share that cannot be made does not exist; a share that
 * cannot be restored stays deleted. */
static int made(struct shares *sh, const struct share *s, struct folder_work *w, struct err *e)
{
    if (!w->failed)
        return move_row(sh, s, SHARE_THERE, 0, e);
    say_failed(sh, s, &w->why);
    if (s->deleted_us)
        return move_row(sh, s, SHARE_DELETED, s->deleted_us, e);
    wake_durable(sh->c.wakes, &woken_share, s->id);
    return st_share_remove(sh->c.storage, s->id, e);
}

static int moved_away(struct shares *sh, const struct share *s, struct folder_work *w,
                      struct err *e)
{
    if (w->failed) {
        say_failed(sh, s, &w->why);
        wake_at(sh->c.wakes, &woken_share, s->id, wakes_mono(sh->c.wakes) + FOLDER_AGAIN_US);
        return 0;
    }
    if (w->stays)
        LOG_INFO(sh->c.log, "share.folder_left_in_place", LF_STR("folder", w->place));
    if (move_row(sh, s, SHARE_DELETED, s->deleted_us, e) < 0)
        return -1;
    wake(sh->c.wakes, &woken_account, s->account_id);
    if (sh->c.keep_us == 0 || share_is_detached(s->account))
        wake_durable(sh->c.wakes, &woken_deleted_shares, WAKE_ALL);
    return 0;
}

void shares_keep(struct shares *sh, int64_t keep_us)
{
    sh->c.keep_us = keep_us;
    wake(sh->c.wakes, &woken_deleted_shares, WAKE_ALL);
}

/* 1: the share's folder belongs to another share now; 0: it does not; -1: err. */
static int is_taken(struct shares *sh, const struct share *s, struct err *e)
{
    const struct share_name n = {.account = s->account, .share = s->name, .kind = s->kind};
    return shares_is_named(sh, &n, e);
}

/* Removes the row of a purged share. A share whose folder could not be moved keeps its row: without
 * a row, the folder would become a share again. Rows of a share's content are removed in slices. */
static int purged(struct shares *sh, const struct share *s, struct folder_work *w, struct err *e)
{
    int gone, taken = w->stays ? is_taken(sh, s, e) : 1;
    if (w->failed)
        say_failed(sh, s, &w->why);
    if (w->failed || taken <= 0)
        return taken < 0 ? -1 : 0;
    if (st_share_empty(sh->c.storage, s->id, PURGED_ROWS, &gone, e) < 0)
        return -1;
    if (gone == PURGED_ROWS) {
        sh->purged_to = 0;
        wake_at(sh->c.wakes, &woken_deleted_shares, WAKE_ALL, wakes_mono(sh->c.wakes));
        return 0;
    }
    LOG_INFO(sh->c.log, "share.purged", LF_STR("account", s->account), LF_STR("share", s->name));
    return st_share_remove(sh->c.storage, s->id, e);
}

/* 1: the share was marked as deleting meanwhile; its reconciler goes on. */
static int finish(struct share_pending *p, struct folder_work *w, struct err *e)
{
    static int (*const ends[])(struct shares *, const struct share *, struct folder_work *,
                               struct err *) = {
        [FOLDER_MAKE] = made, [FOLDER_MOVE_AWAY] = moved_away, [FOLDER_PURGE] = purged};
    struct arena a;
    struct share s;
    arena_init(&a);
    int rc = st_share_by_id(p->sh->c.storage, &a, p->id, &s, e);
    bool marked = rc == 1 && s.state != p->from;
    if (marked)
        wake(p->sh->c.wakes, &woken_share, p->id);
    else if (rc == 1)
        rc = ends[w->task](p->sh, &s, w, e);
    arena_free(&a);
    return rc < 0 ? -1 : marked;
}

static void end_work(struct share_pending *p, const struct err *why)
{
    struct shares *sh = p->sh;
    struct folder_work *w = p->work;
    struct err e = {0};
    int64_t id = p->id;
    p->busy = false;
    p->work = NULL;
    if (why) { /* the daemon stops: the next start continues */
        share_settle(&sh->shares, id, why);
        return;
    }
    int rc = finish(p, w, &e);
    if (rc < 0) {
        LOG_ERROR(sh->c.log, "share.not_written", LF_INT("share_id", id), LF_STR("why", e.msg));
        wake_at(sh->c.wakes, &woken_share, id, wakes_mono(sh->c.wakes) + WRITE_AGAIN_US);
    } else if (rc == 0) {
        if (w->failed) /* the log has the place of the folder */
            err_set(&e, ERR_IO, NULL,
                    "The folder cannot be used; the daemon's log has the reason.");
        share_settle(&sh->shares, id, w->failed ? &e : NULL);
    }
    folder_work_free(w);
}

/* --- work ------------------------------------------------------------------------------------- */

struct share_task {
    struct share_pending *p; /* outlives the work */
    struct wakes *wakes;
    struct folder_work *work;
};

static void on_worker(void *ctx)
{
    folder_work_do(((struct share_task *)ctx)->work);
}

static void on_worked(void *ctx, const struct err *why)
{
    struct share_task *t = ctx;
    struct wakes *wakes = t->wakes;
    end_work(t->p, why);
    if (!why)
        free(t); /* its work was returned and freed */
    wakes_unref(wakes);
}

/* For work that was not done. */
static void task_destroy(void *ctx)
{
    struct share_task *t = ctx;
    folder_work_free(t->work);
    free(t);
}

static const struct files_task on_folder = {on_worker, on_worked, task_destroy};

static void begin(struct shares *sh, const struct share *s, enum folder_task what)
{
    struct share_pending *p = share_pending_get(sh, &sh->shares, s->id);
    struct share_task *t = xcalloc(1, sizeof *t);
    p->busy = true;
    p->from = s->state;
    p->work = folder_work_new(sh->storage_dir, s, what);
    p->work->sync = files_sync(sh->c.files);
    *t = (struct share_task){p, sh->c.wakes, p->work};
    wakes_ref(sh->c.wakes);
    files_run(sh->c.files, what == FOLDER_PURGE ? p->work->away : p->work->place, &on_folder, t);
}

/* Whether a deleted share must keep its name for longer (strict mode). A share that is deleted with
 * its account does not wait. */
static bool is_held_up(struct shares *sh, struct arena *a, const struct share *s)
{
    struct storage_account account;
    struct err e;
    if (!pace_is_on(wakes_pace(sh->c.wakes), NULL) ||
        st_account_by_id(sh->c.storage, a, s->account_id, &account, &e) != 1 ||
        account.prov_state == PROV_DELETING)
        return false;
    const struct paced deletion = {.step = PACE_SHARE_DELETION,
                                   .subscription = account.scope.subscription,
                                   .since_us = s->deleted_us};
    return wake_paced(sh->c.wakes, &woken_share, s->id, &deletion);
}

static void reconcile_share(void *ctx, int64_t id)
{
    struct shares *sh = ctx;
    struct share_pending *p = id_map_find(&sh->shares, id);
    struct err e = {0};
    struct arena a;
    struct share s;
    if (p && p->busy)
        return; /* the end of the running work will wake the row */
    arena_init(&a);
    int rc = st_share_by_id(sh->c.storage, &a, id, &s, &e);
    if (rc < 0) {
        LOG_ERROR(sh->c.log, "share.not_read", LF_INT("share_id", id), LF_STR("why", e.msg));
        wake_at(sh->c.wakes, &woken_share, id, wakes_mono(sh->c.wakes) + WRITE_AGAIN_US);
    } else if (rc == 1 && s.state == SHARE_MAKING) {
        begin(sh, &s, FOLDER_MAKE);
    } else if (rc == 1 && s.state == SHARE_DELETING && p && p->want == SHARE_THERE) {
        err_set(&e, ERR_BEING_DELETED, NULL, "%s is being deleted.", s.name);
        share_settle(&sh->shares, id, &e);
        wake(sh->c.wakes, &woken_share, id);
    } else if (rc == 1 && s.state == SHARE_DELETING && is_held_up(sh, &a, &s)) {
        share_settle(&sh->shares, id, NULL);
    } else if (rc == 1 && s.state == SHARE_DELETING) {
        begin(sh, &s, FOLDER_MOVE_AWAY);
    } else if (p && rc == 1 && s.state == p->want) {
        share_settle(&sh->shares, id, NULL);
    } else if (p) { /* the write was rolled back */
        not_written(&e);
        share_settle(&sh->shares, id, &e);
    }
    arena_free(&a);
}

/* --- shares that were deleted long ago --- */

/* 1: there may be more shares to purge. */
static int purge_some(struct shares *sh, struct arena *a, struct err *e)
{
    struct share_rows rows;
    int64_t before = wakes_steady_wall(sh->c.wakes) - sh->c.keep_us + 1;
    if (st_share_deleted(sh->c.storage, a, before,
                         &(struct st_page){.after = sh->purged_to, .limit = PURGED_PER_PASS}, &rows,
                         e) < 0)
        return -1;
    for (size_t i = 0; i < rows.n; i++) {
        const struct share_pending *p = id_map_find(&sh->shares, rows.items[i].id);
        if (!p || !p->busy)
            begin(sh, &rows.items[i], FOLDER_PURGE);
    }
    sh->purged_to = rows.n == PURGED_PER_PASS ? rows.items[rows.n - 1].id : 0;
    return sh->purged_to != 0;
}

/* Starts the sweeps, at the start and once a day. */
static void sweep(struct shares *sh)
{
    int64_t now = wakes_mono(sh->c.wakes);
    if (now < sh->sweep_at_us)
        return;
    sh->sweep_at_us = now + SWEEP_EVERY_US;
    int64_t before_us = wakes_steady_wall(sh->c.wakes) - SWEEP_AFTER_US;
    shares_sweep_blocks(sh, before_us);
    shares_sweep_aside(sh, before_us);
}

static void purge_pass(void *ctx, int64_t id)
{
    struct shares *sh = ctx;
    struct err e = {0};
    struct arena a;
    arena_init(&a);
    int rc = purge_some(sh, &a, &e);
    if (rc < 0)
        LOG_ERROR(sh->c.log, "deleted_shares.not_purged", LF_STR("why", e.msg));
    arena_free(&a);
    sweep(sh);
    int rows = shares_forget_uncommitted(sh, &e);
    if (rows < 0)
        LOG_ERROR(sh->c.log, "share.not_written", LF_STR("why", e.msg));
    wake_at(sh->c.wakes, &woken_deleted_shares, id,
            wakes_mono(sh->c.wakes) + (rc > 0 || rows > 0 ? PURGE_PAUSE_US : PURGE_EVERY_US));
}

/* --- accounts --------------------------------------------------------------------------------- */

/* Wakes the shares of an account that is being deleted; when it has none, removes its row. Marks
 * the shares again, because an earlier daemon let clients make shares after the first mark. 1:
 * removed; 0: it still has shares; 2: it is not being deleted; -1: err. */
static int end_account(struct shares *sh, struct arena *a, int64_t id, struct err *e)
{
    struct storage_account s;
    int64_t *ids;
    size_t n;
    int rc = st_account_by_id(sh->c.storage, a, id, &s, e);
    if (rc <= 0)
        return rc < 0 ? -1 : 1;
    if (s.prov_state != PROV_DELETING)
        return 2;
    if (st_mark_deleting(sh->c.storage, RES_STORAGE_ACCOUNT, id, wakes_wall(sh->c.wakes), e) < 0 ||
        st_share_ids_of(sh->c.storage, a, id, &ids, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        wake(sh->c.wakes, &woken_share, ids[i]);
    if (n > 0)
        return 0;
    int64_t now = wakes_wall(sh->c.wakes);
    if (st_remove(sh->c.storage, RES_STORAGE_ACCOUNT, id, now, e) < 0)
        return -1;
    LOG_INFO(sh->c.log, "resource.deleted", LF_STR("kind", "storage account"),
             LF_STR("name", s.name));
    wake_durable(sh->c.wakes, &woken_account, id);
    if (share_is_detached(s.name))
        wake_durable(sh->c.wakes, &woken_deleted_shares, WAKE_ALL);
    wake(sh->c.wakes, sh->c.gone, WAKE_ALL);
    return 1;
}

static void reconcile_account(void *ctx, int64_t id)
{
    struct shares *sh = ctx;
    struct err e = {0};
    struct arena a;
    arena_init(&a);
    int rc = end_account(sh, &a, id, &e);
    arena_free(&a);
    if (rc < 0) {
        LOG_ERROR(sh->c.log, "storage_account.not_deleted", LF_INT("id", id), LF_STR("why", e.msg));
        wake_at(sh->c.wakes, &woken_account, id, wakes_mono(sh->c.wakes) + WRITE_AGAIN_US);
    } else if (rc > 0) {
        not_written(&e);
        share_settle(&sh->accounts, id, rc == 1 ? NULL : &e);
    }
}

int shares_delete_account(struct shares *sh, int64_t account_id, int64_t now_us, shares_done cb,
                          void *ctx, struct err *e)
{
    if (st_mark_deleting(sh->c.storage, RES_STORAGE_ACCOUNT, account_id, now_us, e) < 0)
        return -1;
    share_pending_add(share_pending_get(sh, &sh->accounts, account_id), cb, ctx);
    wake_durable(sh->c.wakes, &woken_account, account_id);
    return 0;
}

/* --- shares ----------------------------------------------------------------------------------- */

static int refuse_taken(struct shares *sh, const struct share *s, struct err *e)
{
    struct arena a;
    struct share there;
    arena_init(&a);
    int rc = st_share_by_name(sh->c.storage, &a, s->account_id, s->kind, s->name, &there, e);
    if (rc == 1 && there.state == SHARE_DELETING)
        err_set(e, ERR_BEING_DELETED, NULL, "%s is being deleted.", s->name);
    else if (rc == 1)
        err_set(e, ERR_CONFLICT, NULL, "%s exists already.", s->name);
    arena_free(&a);
    return rc == 0 ? 0 : -1;
}

static int check_account(struct shares *sh, const struct share *s, struct err *e)
{
    struct arena a;
    struct storage_account account;
    arena_init(&a);
    int rc = st_account_by_id(sh->c.storage, &a, s->account_id, &account, e);
    if (rc == 0)
        err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "The storage account %s has been deleted.",
                s->account);
    if (rc == 1 && account.prov_state == PROV_DELETING)
        rc = err_set(e, ERR_BEING_DELETED, NULL, "The storage account %s is being deleted.",
                     s->account);
    arena_free(&a);
    return rc == 1 ? 0 : -1;
}

int shares_make(struct shares *sh, const struct share *s, int64_t now_us, shares_done cb, void *ctx,
                struct err *e)
{
    struct share row = *s;
    int64_t id;
    if (check_account(sh, s, e) < 0 || refuse_taken(sh, s, e) < 0)
        return -1;
    row.state = SHARE_MAKING;
    row.etag = st_next_etag(0, now_us);
    row.created_us = row.updated_us = now_us;
    row.deleted_us = 0;
    row.public_access = row.public_access ? row.public_access : PUBLIC_NONE;
    row.lease_state = LEASE_AVAILABLE;
    if (st_share_insert(sh->c.storage, &row, &id, e) < 0)
        return -1;
    share_await_written(sh, id, SHARE_THERE, cb, ctx);
    return 0;
}

void shares_when_made(struct shares *sh, int64_t id, shares_done cb, void *ctx)
{
    share_await(sh, id, SHARE_THERE, cb, ctx);
}

int shares_delete(struct shares *sh, const struct share *s, int64_t now_us, shares_done cb,
                  void *ctx, struct err *e)
{
    const struct st_share_move m = {s->id, SHARE_THERE, SHARE_DELETING, s->account_id, now_us};
    if (st_share_move(sh->c.storage, &m, e) < 0)
        return -1;
    share_await_written(sh, s->id, SHARE_DELETED, cb, ctx);
    return 0;
}

/* Finds the account of a deleted share, or the account of its subscription that has taken its name:
 * another subscription must not get the content. */
static int find_home(struct shares *sh, struct arena *a, int64_t id, struct share *s, struct err *e)
{
    struct storage_account acct;
    int rc = st_share_by_id(sh->c.storage, a, id, s, e);
    if (rc < 0)
        return -1;
    if (rc == 0 || s->state != SHARE_DELETED)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL,
                       "There is no deleted share or container with the number %lld.",
                       (long long)id);
    rc = st_account_by_name(sh->c.storage, a, s->account, &acct, e);
    if (rc < 0)
        return -1;
    if (rc == 0 || acct.prov_state == PROV_DELETING)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL,
                       "The storage account %s does not exist any more; create it, then try again.",
                       s->account);
    if (s->subscription && strcasecmp(s->subscription, acct.scope.subscription) != 0)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL,
                       "The storage account %s belongs to another subscription now; %s was deleted "
                       "in the subscription %s.",
                       s->account, s->name, s->subscription);
    s->account_id = acct.id;
    return 0;
}

static int restore_row(struct shares *sh, struct arena *a, int64_t id, struct err *e)
{
    struct share s;
    if (find_home(sh, a, id, &s, e) < 0 || refuse_taken(sh, &s, e) < 0)
        return -1;
    const struct st_share_move m = {id, SHARE_DELETED, SHARE_MAKING, s.account_id, s.deleted_us};
    return st_share_move(sh->c.storage, &m, e);
}

int shares_restore(struct shares *sh, int64_t id, shares_done cb, void *ctx, struct err *e)
{
    struct arena a;
    const struct share_pending *p = id_map_find(&sh->shares, id);
    if (p && p->busy)
        return err_set(e, ERR_CONFLICT, NULL,
                       "The share or container is being removed and cannot be restored.");
    arena_init(&a);
    int rc = restore_row(sh, &a, id, e);
    arena_free(&a);
    if (rc == 0)
        share_await_written(sh, id, SHARE_THERE, cb, ctx);
    return rc;
}
