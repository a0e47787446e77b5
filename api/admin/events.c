/* SPDX-License-Identifier: MIT
 *
 * The history of jobs, clusters, pools of Azure Batch and nodes: changes of state in the order in
 * which they were committed. For each resource the latest events are kept; they are removed with
 * the resource.
 */
#include <limits.h>

#include "api/access/access.h"
#include "api/admin/admin.h"
#include "api/admin/routes.h"
#include "api/arm/event_text.h"
#include "api/http/request.h"
#include "storage/storage.h"

#define EVENTS_MAX     1000
#define EVENTS_DEFAULT 100
#define SLICE          64 /* events to read in a turn of the loop */

struct event_list {
    const struct grants *grants; /* NULL: the first principal, who sees all */
    long since, max;
    json_t *list;
    bool at_end;
};

/* Adds the event if the caller may read it. The stream of events uses the same rule. */
static int add(struct request *r, struct arena *a, const struct event *ev, struct event_list *l,
               struct err *e)
{
    const struct admin *d = admin_of(r);
    struct event_subject s;
    int rc = event_subject(d->storage, d->fleet, a, ev, &s, e);
    if (rc < 0)
        return -1;
    if (rc == 0) {
        LOG_WARN(r->config->log, "event.skipped", LF_INT("sequence", ev->seq),
                 LF_STR("why", "resources of its kind have no events; the row was not written by "
                               "this daemon"));
        return 0;
    }
    if (!l->grants ||
        access_verdict(l->grants, event_action(ev, &s), event_scope(a, ev, &s)) == ACCESS_YES)
        json_array_append_new(l->list, event_show(ev, &s));
    return 0;
}

static bool is_full(const struct event_list *l)
{
    return json_array_size(l->list) >= (size_t)l->max;
}

/* Adds the next events that the caller may see. */
static int add_slice(struct request *r, struct arena *a, struct event_list *l, struct err *e)
{
    const struct st_page page = {.after = l->since, .limit = SLICE};
    struct event_rows rows;
    if (st_event_since(admin_of(r)->storage, a, &page, &rows, e) < 0)
        return -1;
    for (size_t i = 0; i < rows.n && !is_full(l); i++) {
        if (add(r, a, &rows.items[i], l, e) < 0)
            return -1;
        l->since = rows.items[i].seq;
    }
    l->at_end = rows.n < SLICE;
    return 0;
}

/* Reads further slices until the list is full or there are no more events: so an empty list means
 * the end, even if the caller may see only few events. */
static void list_more(struct request *r, void *ctx)
{
    struct event_list *l = ctx;
    struct arena a;
    struct err e;
    arena_init(&a);
    int rc = add_slice(r, &a, l, &e);
    arena_free(&a);
    if (rc < 0)
        request_finish(r, reply_err(r, &e));
    else if (!is_full(l) && !l->at_end)
        request_again(r, list_more, l);
    else
        request_finish(
            r, reply_json(r, 200,
                          json_pack("{s:O, s:I}", "value", l->list, "next", (json_int_t)l->since)));
}

struct replied *events_list(struct request *r)
{
    struct err e;
    struct grants *g = arena_alloc(&r->arena, sizeof *g);
    struct event_list *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct event_list){.grants = r->who->first ? NULL : g,
                             .list = request_own(r, json_array())};
    if (request_query_int(r, "since", (struct query_bounds){0, LONG_MAX, 0}, &l->since, &e) < 0 ||
        request_query_int(r, "max", (struct query_bounds){1, EVENTS_MAX, EVENTS_DEFAULT}, &l->max,
                          &e) < 0 ||
        (l->grants && access_load(admin_of(r)->access, &r->arena, r->who, g, &e) < 0))
        return reply_err(r, &e);
    request_again(r, list_more, l);
    return reply_later(r);
}
