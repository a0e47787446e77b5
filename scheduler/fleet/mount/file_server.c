/* SPDX-License-Identifier: MIT
 *
 * A struct server_work is the work for one file server; fleet.servers owns it, by the id of its
 * row. A reconcile makes it; the work begins when this decision is on disk, and is kept until its
 * end is written:
 *
 * waits for the disk -> begun -> done -> freed by the reconcile or by file_server_forget()
 */
#include "scheduler/fleet/mount/file_server.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "storage/folders/files.h"

/* The pause after a failed export doubles between these limits (us). */
#define AGAIN_MIN_US 1000000
#define AGAIN_MAX_US 300000000

bool fleet_file_server_backing(const struct fleet *fl, struct arena *a, const struct file_server *f,
                               struct file_server_backing *out)
{
    return file_server_backing(a, fl->cfg.site, fl->cfg.local_nodes, fl->cfg.storage_dir, f, out);
}

/* --- work ------------------------------------------------------------------------------------- */

static void wake_waiting(struct server_work *w)
{
    for (size_t i = 0; i < sizeof w->waiting / sizeof w->waiting[0] && w->waiting[i].kind; i++) {
        for (int64_t id; id_map_pop(&w->waiting[i].ids, &id);)
            wake(w->fleet->wakes, w->waiting[i].kind, id);
        id_map_free(&w->waiting[i].ids);
    }
}

static void work_free(struct server_work *w)
{
    wake_waiting(w);
    id_map_remove(&w->fleet->servers, w->id);
    arena_free(&w->a);
    free(w);
}

static void work_done(struct server_work *w)
{
    w->done = true;
    if (w->why.code && w->tries == 0)
        LOG_WARN(w->fleet->log, "file_server.failed", LF_STR("file_server", w->name),
                 LF_STR("why", w->why.message));
    if (wakes_stopping(w->fleet->wakes))
        return;
    wake_waiting(w);
    wake(w->fleet->wakes, &woken_file_server, w->id);
    fleet_row_gone(w->fleet); /* the file server may have been deleted during its set-up */
}

static struct server_work *work_new(struct fleet *fl, const struct file_server *f, bool take_down,
                                    const struct file_server_backing *at)
{
    struct server_work *w = xcalloc(1, sizeof *w);
    arena_init(&w->a);
    w->fleet = fl;
    w->id = f->id;
    w->take_down = take_down;
    w->finished = work_done;
    w->name = arena_strdup(&w->a, f->name);
    w->guid = arena_strdup(&w->a, f->guid);
    w->at = (struct file_server_backing){.is_local = at->is_local,
                                         .host = arena_strdup(&w->a, at->host),
                                         .directory = arena_strdup(&w->a, at->directory),
                                         .machine = arena_strdup(&w->a, at->machine)};
    id_map_put(&fl->servers, w->id, w);
    return w;
}

static void on_folder_removed(void *ctx, const struct err *why)
{
    struct server_work *w = ctx;
    struct fleet *fl = w->fleet;
    if (why)
        w->why = (struct failure){.code = FAIL_FILE_SERVER_NOT_REMOVED,
                                  .message = arena_strdup(&w->a, why->msg),
                                  .exit_code = -1};
    work_done(w);
    wakes_unref(fl->wakes);
}

/* Removes the folder of a file server, which storage/folders/ handles like a share. */
static void remove_folder(struct server_work *w)
{
    wakes_ref(w->fleet->wakes);
    files_remove_tree(w->fleet->cfg.files, w->at.directory, w->at.directory, on_folder_removed, w);
}

/* Begins the work when the decision is on disk. */
static void effect_begin(void *ctx, int64_t id, const struct err *why)
{
    struct fleet *fl = ctx;
    struct server_work *w = id_map_find(&fl->servers, id);
    if (!w || w->begun)
        return;
    if (why) { /* the decision was rolled back: the file server is reconciled again */
        work_free(w);
        wake_at(fl->wakes, &woken_file_server, id, wakes_mono(fl->wakes) + WRITE_AGAIN_US);
        return;
    }
    w->begun = true;
    if (w->at.machine)
        export_begin(w);
    else
        remove_folder(w);
}

void file_servers_stop(struct fleet *fl)
{
    for (size_t i = 0; i < fl->servers.n; i++)
        export_stop(fl->servers.e[i].p);
}

void file_servers_free(struct fleet *fl)
{
    for (size_t i = fl->servers.n; i-- > 0;)
        work_free(fl->servers.e[i].p);
    id_map_free(&fl->servers);
}

/* --- places that a rule had until now --------------------------------------------------------- */

/* Copies the place of the work, so that the copy outlives the work. */
static struct file_server_backing place_of(struct arena *a, const struct server_work *w)
{
    return (struct file_server_backing){.is_local = w->at.is_local,
                                        .host = arena_strdup(a, w->at.host),
                                        .directory = arena_strdup(a, w->at.directory),
                                        .machine = arena_strdup(a, w->at.machine)};
}

/* Whether this machine should export the file server now. */
static bool is_served_by(const struct fleet *fl, struct arena *a, const struct file_server *f,
                         const char *machine)
{
    struct file_server_backing at;
    return fleet_file_server_backing(fl, a, f, &at) && at.machine && machine &&
           strcmp(at.machine, machine) == 0;
}

/* Ends the export at the place `was`, at once: no row changes with it. Without `again` the present
 * place has exported nothing yet. */
static void leave_place(struct fleet *fl, const struct file_server *f,
                        const struct file_server_backing *was, bool again)
{
    struct server_work *w = work_new(fl, f, true, was);
    w->again = again;
    w->begun = true;
    export_begin(w);
}

/* --- setting up ------------------------------------------------------------------------------- */

struct finish {
    struct fleet *fleet;
    int64_t id;
    const struct failure *why;
};

static int finish_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct finish *t = ctx;
    const struct front *f = front_of(t->fleet->cfg.fronts, RES_FILE_SERVER);
    return FRONT_ASK(f, file_server_made, st, t->id, t->why, wakes_wall(t->fleet->wakes), e);
}

/* After a rollback, the end of the work is written again; until then `why` of the work keeps the
 * result. Work that another inventory has stopped is followed by an export for that inventory. */
static void effect_finished(void *ctx, int64_t id, const struct err *why)
{
    struct fleet *fl = ctx;
    const struct server_work *w = id_map_find(&fl->servers, id);
    if (why)
        wake_at(fl->wakes, &woken_file_server, id, wakes_mono(fl->wakes) + WRITE_AGAIN_US);
    else if (w && w->done && !w->take_down && w->stopped)
        wake(fl->wakes, &woken_file_server, id);
    else if (w && w->done && !w->take_down)
        file_server_forget(fl, id);
}

static void finish(struct fleet *fl, const struct file_server *f, const struct failure *why)
{
    struct finish t = {fl, f->id, why};
    struct err e = {0};
    if (st_tx(fl->st, "file server set up", finish_tx, &t, &e) != 0) {
        LOG_ERROR(fl->log, "file_server.not_written", LF_STR("file_server", f->name),
                  LF_STR("why", e.msg));
        wake_at(fl->wakes, &woken_file_server, f->id, wakes_mono(fl->wakes) + WRITE_AGAIN_US);
        return;
    }
    if (!why->code)
        LOG_INFO(fl->log, "file_server.exported", LF_STR("file_server", f->name));
    wake_when_durable(fl->wakes, effect_finished, fl, f->id);
}

static void set_up(struct fleet *fl, struct arena *a, const struct file_server *f)
{
    struct server_work *w = id_map_find(&fl->servers, f->id);
    struct file_server_backing at;
    if (w && w->done && (w->stopped || w->take_down)) {
        const struct file_server_backing was = place_of(a, w);
        bool left = !w->take_down && !is_served_by(fl, a, f, was.machine);
        work_free(w);
        if (left) {
            leave_place(fl, f, &was, false);
            return;
        }
        w = NULL;
    }
    if (w && w->done) {
        finish(fl, f, &w->why);
    } else if (!w && fleet_file_server_backing(fl, a, f, &at) && at.machine) {
        work_new(fl, f, false, &at);
        wake_when_durable(fl->wakes, effect_begin, fl, f->id);
    } else if (!w) {
        finish(fl, f, &(struct failure){0}); /* the configuration has changed since */
    }
}

/* --- exporting succeeded file servers again --------------------------------------------------- */

/* Exporting changes no row, so no write has to be on disk before it begins. */
static void plan_again(struct fleet *fl, struct arena *a, const struct file_server *f, int tries)
{
    struct file_server_backing at;
    if (!fleet_file_server_backing(fl, a, f, &at) || !at.machine)
        return;
    struct server_work *w = work_new(fl, f, false, &at);
    w->again = true;
    w->tries = tries;
    wake(fl->wakes, &woken_file_server, f->id);
}

/* Like plan_again() for another inventory: if the machine `was` exported it until now and should
 * not any more, the export there is ended first. */
static void plan_anew(struct fleet *fl, struct arena *a, const struct file_server *f,
                      const struct file_server_backing *was)
{
    if (!was->machine || is_served_by(fl, a, f, was->machine)) {
        plan_again(fl, a, f, 0);
        return;
    }
    struct server_work *w = work_new(fl, f, true, was);
    w->again = true;
    wake(fl->wakes, &woken_file_server, f->id);
}

static int64_t again_pause(int tries)
{
    int64_t us = AGAIN_MIN_US;
    for (int i = 0; i < tries && us < AGAIN_MAX_US; i++)
        us *= 2;
    return us < AGAIN_MAX_US ? us : AGAIN_MAX_US;
}

static void go_on_again(struct fleet *fl, struct arena *a, const struct file_server *f,
                        struct server_work *w)
{
    int64_t now = wakes_mono(fl->wakes);
    int tries = w->tries + 1;
    if (!w->begun) {
        w->begun = true;
        export_begin(w);
    } else if (w->done && w->stopped) {
        const struct file_server_backing was = place_of(a, w);
        work_free(w);
        plan_anew(fl, a, f, &was);
    } else if (w->done &&
               w->take_down) { /* a failure was logged; the new place serves all the same */
        work_free(w);
        plan_again(fl, a, f, 0);
    } else if (w->done && !w->why.code) {
        LOG_INFO(fl->log, "file_server.exported_again", LF_STR("file_server", f->name));
        work_free(w);
    } else if (w->done && w->next_us != 0 && now >= w->next_us) {
        work_free(w);
        plan_again(fl, a, f, tries);
    } else if (w->done) {
        if (w->next_us == 0)
            w->next_us = now + wakes_jitter(fl->wakes, again_pause(w->tries));
        wake_at(fl->wakes, &woken_file_server, w->id, w->next_us);
    }
}

void file_server_reconcile(void *ctx, int64_t id)
{
    struct fleet *fl = ctx;
    struct arena a;
    struct file_server f;
    struct err e = {0};
    struct server_work *w = id_map_find(&fl->servers, id);
    if (w && export_is_over(w)) {
        export_stop(w);
        return;
    }
    arena_init(&a);
    int rc = st_file_server_by_id(fl->st, &a, id, &f, &e);
    if (rc < 0) {
        LOG_ERROR(fl->log, "file_server.reconcile_failed", LF_INT("id", id), LF_STR("why", e.msg));
        wake_at(fl->wakes, &woken_file_server, id, wakes_mono(fl->wakes) + WRITE_AGAIN_US);
    } else if (rc > 0 && f.prov_state == PROV_CREATING) {
        set_up(fl, &a, &f);
    } else if (rc > 0 && f.prov_state == PROV_SUCCEEDED && w &&
               (w->again || (w->done && w->stopped))) {
        go_on_again(fl, &a, &f, w);
    }
    arena_free(&a);
}

static int resume_served(struct fleet *fl, struct arena *a, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_file_server_served_ids(fl->st, a, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct file_server f;
        int found = st_file_server_by_id(fl->st, a, ids[i], &f, e);
        if (found < 0)
            return -1;
        if (found > 0)
            plan_again(fl, a, &f, 0);
    }
    return 0;
}

int file_servers_resume(struct fleet *fl, struct arena *a, struct err *e)
{
    if (wake_listed(fl->wakes, &woken_file_server, st_file_server_creating_ids, e) < 0)
        return -1;
    return resume_served(fl, a, e);
}

/* --- another inventory ------------------------------------------------------------------------ */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Whether both have the same machines, to whose hosts everything is exported, and the same rules,
 * which name machines. */
static bool export_the_same(const struct site *a, const struct site *b)
{
    if (!a || !b || a->n_machines != b->n_machines || a->n_file_servers != b->n_file_servers)
        return false;
    for (size_t i = 0; i < a->n_machines; i++)
        if (!same_text(a->machines[i].host, b->machines[i].host) ||
            !same_text(a->machines[i].name, b->machines[i].name))
            return false;
    for (size_t i = 0; i < a->n_file_servers; i++) {
        const struct site_file_server_rule *one = &a->file_servers[i], *other = &b->file_servers[i];
        if (!same_text(one->name, other->name) || !same_text(one->machine, other->machine) ||
            !same_text(one->directory, other->directory))
            return false;
    }
    return true;
}

/* Exports a file server for which no work goes on. */
static int follow_served(struct fleet *fl, struct arena *a, int64_t id, const struct site *before,
                         struct err *e)
{
    struct file_server f;
    struct file_server_backing was;
    int found = id_map_has(&fl->servers, id) ? 0 : st_file_server_by_id(fl->st, a, id, &f, e);
    if (found <= 0)
        return found;
    (void)file_server_backing(a, before, fl->cfg.local_nodes, fl->cfg.storage_dir, &f, &was);
    plan_anew(fl, a, &f, &was);
    return 0;
}

void file_servers_follow(struct fleet *fl, const struct site *before)
{
    struct arena a;
    struct err e = {0};
    int64_t *ids;
    size_t n = 0;
    if (export_the_same(before, fl->cfg.site))
        return;
    for (size_t i = 0; i < fl->servers.n; i++) {
        struct server_work *w = fl->servers.e[i].p;
        if (w->take_down && !w->again)
            continue;
        w->stopped = true;
        export_stop(w);
        wake(fl->wakes, &woken_file_server, w->id);
    }
    arena_init(&a);
    int rc = st_file_server_served_ids(fl->st, &a, &ids, &n, &e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = follow_served(fl, &a, ids[i], before, &e);
    if (rc < 0)
        LOG_ERROR(fl->log, "inventory.not_applied", LF_STR("why", e.msg));
    arena_free(&a);
}

void fleet_wake_file_server(struct fleet *fl, int64_t id)
{
    wake(fl->wakes, &woken_file_server, id);
}

bool file_server_is_awaited(const struct fleet *fl, int64_t id)
{
    const struct server_work *w = id_map_find(&fl->servers, id);
    return w && w->again && (w->stopped || w->take_down || (w->tries == 0 && !w->done));
}

void file_server_await(struct fleet *fl, int64_t file_server, const struct wake_kind *kind,
                       int64_t id)
{
    struct server_work *w = id_map_find(&fl->servers, file_server);
    struct server_waiting *of = w ? w->waiting : NULL;
    if (!w)
        return;
    if (of->kind && of->kind != kind)
        of++;
    assert(!of->kind || of->kind == kind);
    of->kind = kind;
    id_map_put(&of->ids, id, NULL);
}

/* --- taking down ------------------------------------------------------------------------------ */

bool file_server_cleared(struct fleet *fl, struct arena *a, int64_t id)
{
    struct file_server f;
    struct file_server_backing at, was = {0};
    struct err e = {0};
    struct server_work *w = id_map_find(&fl->servers, id);
    bool is_planned = w && w->again && !w->begun; /* nothing begins it now */
    if (w && !w->done && !is_planned) {
        if (!w->take_down) {
            w->stopped = true;
            export_stop(w);
        }
        return false;
    }
    if (w && w->take_down && !w->again)
        return true; /* a failure to end the export was logged already */
    if (w && (w->stopped || is_planned))
        was = place_of(a, w);
    file_server_forget(fl, id);
    if (st_file_server_by_id(fl->st, a, id, &f, &e) <= 0)
        return true;
    if (was.machine && !is_served_by(fl, a, &f, was.machine)) {
        leave_place(fl, &f, &was, true); /* the present place follows */
        return false;
    }
    if (!fleet_file_server_backing(fl, a, &f, &at) || (!at.machine && !at.is_local))
        return true;
    work_new(fl, &f, true, &at);
    wake_when_durable(fl->wakes, effect_begin, fl, id);
    return false;
}

void file_server_forget(struct fleet *fl, int64_t id)
{
    struct server_work *w = id_map_find(&fl->servers, id);
    if (w)
        work_free(w);
}
