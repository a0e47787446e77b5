/* SPDX-License-Identifier: MIT
 *
 * Lists the resources of all providers in a subscription or group, with $filter and $top. Clients:
 * `az resource list`, and others to find the group of a vault. Contains only resources directly in
 * groups, and only those that the principal may read.
 */
#include <stdlib.h>
#include <string.h>

#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "api/arm/routes.h"
#include "api/http/odata.h"
#include "api/http/page.h"
#include "api/http/slices.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

struct listed_entry {
    int64_t id; /* of its row */
    const char *name, *tags;
    struct scope scope;
};

struct entries {
    struct listed_entry *items;
    size_t n;
};

/* Reads a page of the rows of one type, in order of their ids. */
typedef int (*list_fn)(struct request *r, const struct st_filter *in, const struct st_page *page,
                       struct entries *out, struct err *e);

static void make_room(struct request *r, struct entries *out, size_t n)
{
    out->items = arena_alloc(&r->arena, (n ? n : 1) * sizeof *out->items);
    out->n = n;
}

static int list_workspaces(struct request *r, const struct st_filter *in,
                           const struct st_page *page, struct entries *out, struct err *e)
{
    struct workspace_rows rows;
    if (st_workspace_list(arm_of(r)->storage, &r->arena, in, page, &rows, e) < 0)
        return -1;
    make_room(r, out, rows.n);
    for (size_t i = 0; i < rows.n; i++) {
        const struct workspace *w = &rows.items[i];
        out->items[i] = (struct listed_entry){w->id, w->name, w->tags, w->scope};
    }
    return 0;
}

static int list_vaults(struct request *r, const struct st_filter *in, const struct st_page *page,
                       struct entries *out, struct err *e)
{
    struct vault_rows rows;
    if (st_vault_list(arm_of(r)->storage, &r->arena, in, page, &rows, e) < 0)
        return -1;
    make_room(r, out, rows.n);
    for (size_t i = 0; i < rows.n; i++) {
        const struct vault *v = &rows.items[i];
        const struct scope scope = {
            .subscription = v->subscription, .group = v->group, .location = v->location};
        out->items[i] = (struct listed_entry){v->id, v->name, v->tags, scope};
    }
    return 0;
}

static int list_accounts(struct request *r, const struct st_filter *in, const struct st_page *page,
                         struct entries *out, struct err *e)
{
    struct storage_account_rows rows;
    if (st_account_list(arm_of(r)->storage, &r->arena, in, page, &rows, e) < 0)
        return -1;
    make_room(r, out, rows.n);
    for (size_t i = 0; i < rows.n; i++) {
        const struct storage_account *s = &rows.items[i];
        out->items[i] = (struct listed_entry){s->id, s->name, s->tags, s->scope};
    }
    return 0;
}

static int list_batch_accounts(struct request *r, const struct st_filter *in,
                               const struct st_page *page, struct entries *out, struct err *e)
{
    struct batch_account_rows rows;
    if (st_batch_account_list(arm_of(r)->storage, &r->arena, in, page, &rows, e) < 0)
        return -1;
    make_room(r, out, rows.n);
    for (size_t i = 0; i < rows.n; i++) {
        const struct batch_account *b = &rows.items[i];
        out->items[i] = (struct listed_entry){b->id, b->name, b->tags, b->scope};
        out->items[i].scope.location = region_name(&r->arena, b->scope.location);
    }
    return 0;
}

/* The position of a resource in the list is made of the type's index in this table and the row's
 * id. So add new types at the end. */
static const struct listed_type {
    const char *provider, *collection;
    list_fn list;
} types[] = {
    {"Microsoft.BatchAI", "workspaces", list_workspaces},
    {"Microsoft.KeyVault", "vaults", list_vaults},
    {"Microsoft.Storage", "storageAccounts", list_accounts},
    {"Microsoft.Batch", "batchAccounts", list_batch_accounts},
};
#define TYPES   ((int64_t)(sizeof types / sizeof types[0]))
#define ID_BITS 48
#define ID_MASK ((INT64_C(1) << ID_BITS) - 1)

struct looking {
    struct request *r;
    struct st_filter in;
    struct odata o;
    struct page *page;
    int64_t type, after; /* the type of the batch, and the id of its last row */
    bool type_ends;      /* the type has no rows after the batch */
};

/* The members of a resource in a list. */
struct listed {
    const char *path, *type;
    const struct listed_entry *x;
};

static bool wanted(const struct looking *l, const struct listed *s)
{
    if (!arm_sees_by(l->r, arena_concat(&l->r->arena, s->type, "/read"), s->path))
        return false;
    if (!l->o.filter)
        return true;
    json_auto_t *item =
        json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", s->path, "name", s->x->name, "resourceType",
                  s->type, "location", s->x->scope.location, "resourceGroup", s->x->scope.group);
    json_auto_t *tags = s->x->tags ? json_loads(s->x->tags, 0, NULL) : NULL;
    return item && odata_matches_tags(&l->o, item, tags);
}

static int add(struct slices *s, const void *row, struct err *e)
{
    struct looking *l = s->of;
    const struct listed_entry *x = row;
    const struct listed_type *t = &types[l->type];
    struct arena *a = &l->r->arena;
    const struct listed one = {resource_id(a, t->provider, &x->scope, t->collection, x->name),
                               arena_concat(a, t->provider, "/", t->collection), x};
    int64_t at = (l->type << ID_BITS) + x->id;
    (void)e;
    if (!wanted(l, &one)) {
        page_pass_id(l->page, at);
        return 0;
    }
    json_t *tags = x->tags ? json_loads(x->tags, 0, NULL) : NULL;
    page_add_id(l->page, at,
                json_pack("{s:s, s:s, s:s, s:s, s:o*}", "id", one.path, "name", x->name, "type",
                          one.type, "location", x->scope.location, "tags", tags));
    return 0;
}

#define BATCH_MAX 256

/* Reads a batch of rows of one type; after the last row of a type, a batch of the next type. */
static int fetch(struct slices *s, struct err *e)
{
    struct looking *l = s->of;
    struct entries some = {0};
    if (l->type_ends) {
        l->type++;
        l->after = 0;
    }
    int limit = page_limit(l->page);
    const struct st_page page = {.after = l->after, .limit = limit < BATCH_MAX ? limit : BATCH_MAX};
    if (types[l->type].list(l->r, &l->in, &page, &some, e) < 0)
        return -1;
    s->rows = some.items;
    s->n = some.n;
    l->type_ends = some.n < (size_t)page.limit;
    s->at_end = l->type_ends && l->type == TYPES - 1;
    if (some.n > 0)
        l->after = some.items[some.n - 1].id;
    return 0;
}

static struct replied *list(struct request *r, int64_t group_id)
{
    static const struct slices_kind slices = {.fetch = fetch, .add = add};
    struct err e;
    struct looking *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct looking){.r = r,
                          .in = {.subscription = arm_subscription(r), .group_id = group_id},
                          .o = {.filter = request_query(r, "$filter"),
                                .schema = &schema_listed,
                                .version = V_2018_05_01,
                                .arena = &r->arena}};
    if (l->o.filter && !*l->o.filter)
        l->o.filter = NULL;
    if (odata_check(&l->o, &e) < 0 || !(l->page = page_of_ids(r, &e)) ||
        request_query_int(r, "$top", (struct query_bounds){1, l->page->max, l->page->max},
                          &l->page->max, &e) < 0)
        return reply_err(r, &e);
    int64_t after = page_after_id(l->page);
    l->type = after >> ID_BITS;
    l->after = after & ID_MASK;
    if (l->type >= TYPES)
        return page_reply(l->page);
    return slices_reply(l->page, &slices, l, sizeof(struct listed_entry));
}

struct replied *resources_list(struct request *r)
{
    struct err e;
    return find_subscription(r, &e) < 0 ? reply_err(r, &e) : list(r, 0);
}

struct replied *resources_list_by_group(struct request *r)
{
    struct err e;
    struct resource_group g;
    return find_group(r, &g, &e) < 0 ? reply_err(r, &e) : list(r, g.id);
}
