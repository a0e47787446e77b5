/* SPDX-License-Identifier: MIT
 *
 * The history of jobs, clusters, pools of Azure Batch and nodes: changes of state in the order in
 * which they were committed. The latest of each resource are kept, and removed with it.
 */
#include <limits.h>

#include "api/admin/admin.h"
#include "api/admin/routes.h"
#include "api/arm/event_text.h"
#include "api/http/request.h"
#include "storage/storage.h"

#define EVENTS_MAX     1000
#define EVENTS_DEFAULT 100

static int add(struct request *r, const struct event *ev, json_t *list, struct err *e)
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
    json_array_append_new(list, event_show(ev, &s));
    return 0;
}

struct replied *events_list(struct request *r)
{
    struct event_rows rows;
    struct err e;
    long since, max;
    if (request_query_int(r, "since", 0, LONG_MAX, 0, &since, &e) < 0 ||
        request_query_int(r, "max", 1, EVENTS_MAX, EVENTS_DEFAULT, &max, &e) < 0 ||
        st_event_since(admin_of(r)->storage, &r->arena,
                       &(struct st_page){.after = since, .limit = (int)max}, &rows, &e) < 0)
        return reply_err(r, &e);
    json_t *list = request_own(r, json_array());
    for (size_t i = 0; i < rows.n; i++)
        if (add(r, &rows.items[i], list, &e) < 0)
            return reply_err(r, &e);
    return reply_json(r, 200,
                      json_pack("{s:O, s:I}", "value", list, "next",
                                (json_int_t)(rows.n > 0 ? rows.items[rows.n - 1].seq : since)));
}
