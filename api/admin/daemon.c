/* SPDX-License-Identifier: MIT
 *
 * The daemon itself: the counters of each part since its start, for benchmarks and administrators;
 * and the HTTPS route that makes it read its configuration again, whose client is `batchaid
 * reload`.
 */
#include "api/admin/admin.h"
#include "api/admin/routes.h"
#include "api/http/request.h"
#include "lib/arena.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/wake/wake.h"
#include "storage/folders/files.h"
#include "storage/storage.h"

static json_t *of_requests(const struct request *r)
{
    const struct api_counters c = request_counters(r);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "received",
                     (json_int_t)c.requests, "refused", (json_int_t)c.refused, "failed",
                     (json_int_t)c.failed, "waitedForDisk", (json_int_t)c.waited, "bodyBytes",
                     (json_int_t)c.body_bytes, "connections", (json_int_t)c.connections, "hungUp",
                     (json_int_t)c.hung_up, "slow", (json_int_t)c.slow, "longestMicroseconds",
                     (json_int_t)c.longest_us);
}

static json_t *of_wakes(const struct wakes *w)
{
    const struct wake_counts *c = wakes_counts(w);
    const struct wake_kind *kind;
    json_t *kinds = json_object();
    for (size_t i = 0; (kind = wakes_kind(w, i)); i++)
        json_object_set_new(kinds, kind->name, json_integer((json_int_t)wakes_woken(w, kind)));
    return json_pack("{s:o, s:I, s:I, s:I}", "woken", kinds, "deadlines", (json_int_t)c->deadlines,
                     "slow", (json_int_t)c->slow, "longestMicroseconds", (json_int_t)c->longest_us);
}

static json_t *of_storage(const struct st_counters *c)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "commits", (json_int_t)c->commits, "rollbacks",
                     (json_int_t)c->rollbacks, "syncs", (json_int_t)c->syncs, "checkpoints",
                     (json_int_t)c->checkpoints, "statements", (json_int_t)c->statements);
}

static json_t *of_files(const struct files *files)
{
    struct files_counts c;
    files_count(files, &c);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "done", (json_int_t)c.done, "refused",
                     (json_int_t)c.refused, "bytesRead", (json_int_t)c.bytes, "waiting",
                     (json_int_t)c.waiting, "open", (json_int_t)c.open, "shares",
                     (json_int_t)c.shares, "hungShares", (json_int_t)c.hung);
}

static json_t *of_links(const struct fleet_counts *c)
{
    return json_pack("{s:I, s:I, s:I}", "opened", (json_int_t)c->opened, "ready",
                     (json_int_t)c->ready, "lost", (json_int_t)c->lost);
}

struct replied *counters_get(struct request *r)
{
    const struct admin *a = admin_of(r);
    const struct st_counters *st = st_counters(a->storage);
    return reply_json(r, 200,
                      json_pack("{s:o, s:o, s:o, s:o, s:o, s:{s:I, s:I}}", "requests",
                                of_requests(r), "wakes", of_wakes(a->wakes), "storage",
                                of_storage(st), "files", of_files(a->files), "links",
                                of_links(fleet_counts(a->fleet)), "allocations", "made",
                                (json_int_t)st->allocations, "over", (json_int_t)st->released));
}

/* --- the authority --------------------------------------------------------------------------- */

struct replied *authority_get(struct request *r)
{
    reply_header_text(r, "Content-Disposition", "attachment; filename=\"batchaid-ca.pem\"");
    return reply_text(r, 200, "application/x-pem-file", xstrdup(admin_of(r)->authority));
}

/* --- its configuration ------------------------------------------------------------------------ */

static void reply_reloaded(void *ctx, const json_t *changed, const struct err *why)
{
    struct request *r = ctx;
    struct err e;
    if (!why) {
        request_finish(r, reply_json(r, 200, json_deep_copy(changed)));
        return;
    }
    e = *why;
    if (e.code == ERR_CONFIG) /* the request is right, the file is not */
        err_set(&e, ERR_CONFLICT, NULL, "Nothing has changed: %s", why->msg);
    request_finish(r, reply_err(r, &e));
}

struct replied *configuration_reload(struct request *r)
{
    const struct admin_reload *reload = &admin_of(r)->reload;
    reload->ask(reload->of, reply_reloaded, r);
    return reply_later(r);
}
