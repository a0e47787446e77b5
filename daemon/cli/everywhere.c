/* SPDX-License-Identifier: MIT
 *
 * Lists the resources of each subscription, page by page, because the daemon has no list over all
 * subscriptions.
 */
#include "daemon/cli/everywhere.h"

#include <string.h>

#include "daemon/cli/cmd_jobs.h"
#include "lib/strbuf.h"

#define SUBSCRIPTIONS "/subscriptions?api-version=2016-06-01"

static int add_pages(struct daemon_client *c, const char *subscription, const char *list,
                     json_t *rows, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    bool more = true;
    int rc = 0;
    strbuf_concat(&path, "/subscriptions/", subscription, list);
    while (rc == 0 && more) {
        json_t *page = NULL;
        rc = client_call(c, "GET", path.s, NULL, &page, e);
        /* the subscription was removed meanwhile */
        if (rc < 0 && strcmp(e->target, "SubscriptionNotFound") == 0) {
            rc = 0;
            break;
        }
        const char *next = rc == 0 ? jobs_next_page(c, page) : NULL;
        json_array_extend(rows, json_object_get(page, "value"));
        more = next != NULL;
        strbuf_reset(&path);
        strbuf_puts(&path, more ? next : "");
        json_decref(page);
    }
    strbuf_free(&path);
    return rc;
}

int everywhere_list(struct daemon_client *c, const char *list, json_t *rows, struct err *e)
{
    json_t *subscriptions = NULL, *one;
    size_t i;
    int rc = client_call(c, "GET", SUBSCRIPTIONS, NULL, &subscriptions, e);
    json_array_foreach(json_object_get(subscriptions, "value"), i, one)
        if (rc == 0)
            rc = add_pages(c, jobs_text(one, "subscriptionId"), list, rows, e);
    json_decref(subscriptions);
    return rc;
}
