/* SPDX-License-Identifier: MIT */
#include "api/testing/unserved_calls.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/testing/log.h"
#include "api/testing/routes.h"
#include "api/testing/testing.h"

static bool is_in(const struct unknown_path *p, const char *subscription)
{
    return !subscription || (p->subscription && strcasecmp(p->subscription, subscription) == 0);
}

void unknown_note(struct unknown *u, const struct request *r, const char *subscription)
{
    for (size_t i = 0; i < u->n; i++)
        if (strcmp(u->list[i].method, r->method) == 0 &&
            strcmp(u->list[i].target, r->target) == 0) {
            u->list[i].count++;
            return;
        }
    if (u->n == UNKNOWN_MAX) {
        u->others++;
        return;
    }
    if (!u->list)
        u->list = xcalloc(UNKNOWN_MAX, sizeof *u->list);
    u->list[u->n++] =
        (struct unknown_path){.method = xstrdup(r->method),
                              .target = xstrdup(r->target),
                              .subscription = subscription ? xstrdup(subscription) : NULL,
                              .count = 1};
}

void unknown_forget(struct unknown *u, const char *subscription)
{
    size_t kept = 0;
    for (size_t i = 0; i < u->n; i++) {
        struct unknown_path *p = &u->list[i];
        if (!is_in(p, subscription)) {
            u->list[kept++] = *p;
            continue;
        }
        free(p->method);
        free(p->target);
        free(p->subscription);
    }
    u->n = kept;
    if (!subscription)
        u->others = 0;
}

/* Query: ?subscription=ID lists only requests in this subscription. */
struct replied *unknown_list(struct request *r)
{
    const struct unknown *u = &testing_of(r)->log->unknown;
    const char *subscription = request_query(r, "subscription");
    json_t *value = json_array();
    for (size_t i = 0; i < u->n; i++) {
        const struct unknown_path *p = &u->list[i];
        if (is_in(p, subscription))
            json_array_append_new(value, json_pack("{s:s, s:s, s:s*, s:I}", "method", p->method,
                                                   "path", p->target, "subscription",
                                                   p->subscription, "count", (json_int_t)p->count));
    }
    return reply_json(r, 200,
                      json_pack("{s:o, s:I}", "value", value, "others", (json_int_t)u->others));
}

struct replied *unknown_remove(struct request *r)
{
    unknown_forget(&testing_of(r)->log->unknown, request_query(r, "subscription"));
    return reply_empty(r, 204);
}
