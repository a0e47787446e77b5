/* SPDX-License-Identifier: MIT
 *
 * Checks a selector (an error names the operation with the most similar name), and compares it with
 * the properties of a request. The texts of a selector belong to its owner. On the loop's thread.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/testing/errors.h"
#include "api/testing/select.h"
#include "lib/nearest.h"
#include "lib/strbuf.h"
#include "lib/wildcard.h"
#include "model/schema_rows.h"
#include "storage/accounts.h"
#include "storage/batch.h"
#include "storage/detachment.h"

/* About how many bytes of names an error message contains. */
#define NAMED_MAX  300
#define STATUS_MAX 599

static const struct field selector_rows[] = {
    TEXT("operation", INTO(selector, operation)),
    TEXT("method", INTO(selector, method)),
    TEXT("path", INTO(selector, path)),
    TEXT("subscription", INTO(selector, subscription)),
    INT("status", 0, 0, STATUS_MAX, INTO(selector, status)),
    TEXT("pool", INTO(selector, pool)),
    TEXT("name", INTO(selector, name)),
};
SCHEMA(selector_body, selector_rows, "Selector", FILLS(selector));

/* Finds the operation with the most similar name; distance 0: it has exactly this name. */
static struct nearest operation_near(const struct testing *t, const char *name)
{
    struct nearest near = nearest_to(name);
    for (size_t i = 0; i < t->n_services; i++) {
        const struct service *s = t->services[i].service;
        for (size_t k = 0; k < s->n_routes; k++)
            nearest_offer(&near, s->routes[k].operation_id);
    }
    return near;
}

static int check_operation(const struct testing *t, const char *name, struct err *e)
{
    char words[NEAREST_SIZE];
    struct nearest near = operation_near(t, name);
    if (near.name && near.distance == 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "match.operation",
                   "No service has an operation '%.100s'%s; names are like Jobs_Create, and the "
                   "log of requests shows the received ones.",
                   name, nearest_words(&near, "", words));
}

int selector_check(struct request *r, const struct selector *s, struct err *e)
{
    if (s->operation && check_operation(testing_of(r), s->operation, e) < 0)
        return -1;
    if (s->path && *s->path != '/' && *s->path != '*')
        return err_set(e, ERR_INVALID_PROPERTY, "match.path",
                       "The path '%.200s' matches nothing: it must begin with / or *.", s->path);
    return 0;
}

static bool same(const char *wanted, const char *is)
{
    return !wanted || (is && strcasecmp(wanted, is) == 0);
}

static bool like(const char *pattern, const char *is)
{
    return !pattern || (is && wildcard_match(pattern, is, WILDCARD_ANY_CASE));
}

bool selector_fits(const struct selector *s, const struct request_facts *t)
{
    return same(s->method, t->method) && same(s->operation, t->operation) &&
           same(s->subscription, t->subscription) && (s->status == 0 || s->status == t->status) &&
           like(s->path, t->path) && like(s->pool, t->pool) && like(s->name, t->name);
}

int selector_finds_pool(struct request *r, const struct selector *s, struct err *e)
{
    struct storage *st = testing_of(r)->arm.storage;
    struct strbuf there = STRBUF_INIT;
    int64_t *ids;
    size_t n;
    bool found = false;
    if (!s->pool)
        return err_set(e, ERR_MISSING_PROPERTY, "match.pool",
                       "mustExist needs match.pool, the name of a pool or cluster.");
    if (st_pool_ids(st, &r->arena, &ids, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n && !found; i++) {
        struct pool_place p;
        if (st_pool_place(st, &r->arena, ids[i], &p, e) <= 0 || !p.pool || !p.subscription ||
            strcmp(p.subscription, GROUPS_DETACHED) == 0 || !same(s->subscription, p.subscription))
            continue;
        found = like(s->pool, p.pool);
        if (there.len < NAMED_MAX)
            strbuf_concat(&there, there.len > 0 ? ", " : "", p.pool);
    }
    int rc = found ? 0
                   : err_set(e, ERR_RESOURCE_NOT_FOUND, "match.pool",
                             "No pool or cluster matches match.pool '%.100s'; %s%s.", s->pool,
                             there.len > 0 ? "there are: " : "there are none yet",
                             there.len > 0 ? there.s : "");
    strbuf_free(&there);
    return rc;
}

json_t *selector_render(const struct selector *s)
{
    json_t *o = json_pack("{s:s*, s:s*, s:s*, s:s*, s:s*, s:s*}", "method", s->method, "operation",
                          s->operation, "path", s->path, "subscription", s->subscription, "pool",
                          s->pool, "name", s->name);
    if (s->status != 0)
        json_object_set_new(o, "status", json_integer(s->status));
    return o;
}

struct request_facts told_of(const struct request *r, const char *subscription)
{
    const char *named = whose_named(r);
    return (struct request_facts){.method = r->method,
                                  .operation = r->route ? r->route->operation_id : NULL,
                                  .path = r->target,
                                  .subscription = named ? named : subscription,
                                  .status = r->status};
}

/* --- the subscription of a request ------------------------------------------------------------ */

const char *whose_named(const struct request *r)
{
    bool named = r->n_segments > 1 && strcasecmp(r->segment[0], "subscriptions") == 0;
    return named ? r->segment[1] : NULL;
}

const char *whose_account(const struct request *r, struct arena *a)
{
    static const char shared_key[] = "SharedKey ";
    const char *by = r->label ? NULL : request_header(r, "Authorization");
    if (!by || strncasecmp(by, shared_key, sizeof shared_key - 1) != 0)
        return r->label;
    by += sizeof shared_key - 1;
    return arena_strndup(a, by, strcspn(by, ":"));
}

const char *whose_account_is(struct storage *st, struct arena *a, const struct request *r,
                             const char *account)
{
    struct err e;
    struct storage_account stored;
    struct batch_account batch;
    struct vault vault;
    unsigned audiences = r->service && account ? r->service->audiences : 0;
    if (audiences & AUDIENCE_STORAGE)
        return st_account_by_name(st, a, account, &stored, &e) == 1 ? stored.scope.subscription
                                                                    : NULL;
    if (audiences & AUDIENCE_BATCH)
        return st_batch_account_by_name(st, a, account, &batch, &e) == 1 ? batch.scope.subscription
                                                                         : NULL;
    if (audiences & AUDIENCE_VAULT)
        return st_vault_get(st, a, account, &vault, &e) == 1 ? vault.subscription : NULL;
    return NULL;
}
