/* SPDX-License-Identifier: MIT
 *
 * The history of jobs, clusters, pools of Azure Batch and nodes: changes of state in the order in
 * which they were committed. The latest of each resource are kept, and removed with it.
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
#define PAGES_MAX      10 /* of events of others, passed over */

/* Like the stream of events: each sees those of what his roles may read. `g` NULL: the first
 * principal. */
static int add(struct request *r, const struct event *ev, const struct grants *g, json_t *list,
               struct err *e)
{
    const struct admin *d = admin_of(r);
    struct event_subject s;
    int rc = event_subject(d->storage, d->fleet, &r->arena, ev, &s, e);
    if (rc < 0)
        return -1;
    if (rc == 0) {
        LOG_WARN(r->config->log, "event.skipped", LF_INT("sequence", ev->seq),
                 LF_STR("why", "resources of its kind have no events; the row was not written by "
                               "this daemon"));
        return 0;
    }
    if (!g || access_verdict(g, event_action(ev, &s), event_scope(&r->arena, ev, &s)) == ACCESS_YES)
        json_array_append_new(list, event_show(ev, &s));
    return 0;
}

/* Adds the events behind `*since` that the caller may see, at most `max`, and moves it behind them.
 * A page of events of others is passed over, so that an empty list means the end. */
static int add_page(struct request *r, const struct grants *g, int max, long *since, json_t *list,
                    struct err *e)
{
    struct event_rows rows = {.n = 0};
    int pages = 0;
    do {
        const struct st_page page = {.after = *since, .limit = max};
        if (st_event_since(admin_of(r)->storage, &r->arena, &page, &rows, e) < 0)
            return -1;
        for (size_t i = 0; i < rows.n; i++)
            if (add(r, &rows.items[i], g, list, e) < 0)
                return -1;
        *since = rows.n > 0 ? rows.items[rows.n - 1].seq : *since;
    } while (json_array_size(list) == 0 && rows.n == (size_t)max && ++pages < PAGES_MAX);
    return 0;
}

struct replied *events_list(struct request *r)
{
    struct err e;
    struct grants g;
    long since, max;
    bool first = r->who->first;
    json_t *list = request_own(r, json_array());
    if (request_query_int(r, "since", 0, LONG_MAX, 0, &since, &e) < 0 ||
        request_query_int(r, "max", 1, EVENTS_MAX, EVENTS_DEFAULT, &max, &e) < 0 ||
        (!first && access_load(admin_of(r)->access, &r->arena, r->who, &g, &e) < 0) ||
        add_page(r, first ? NULL : &g, (int)max, &since, list, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200, json_pack("{s:O, s:I}", "value", list, "next", (json_int_t)since));
}
