/* SPDX-License-Identifier: MIT
 *
 * The list of machines: filtered, sorted, in pages, with the selected members only. Thousands of
 * machines with their GPUs are read and shown in several turns of the loop:
 *
 *   read briefly, all -> filter, sort, find the page -> complete and show the page's rows
 *
 * If the query has none of these options, all machines are read completely at once. The request
 * owns all memory.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/admin/admin.h"
#include "api/admin/node_json.h"
#include "api/admin/routes.h"
#include "lib/jsontext.h"

#define MACHINES_PER_TURN 50
#define NODES_MAX         10000 /* most machines of a page */

static const char *const state_names[] = {"unknown", "free",    "unreachable", "preparing", "idle",
                                          "running", "leaving", "unusable",    NULL};

/* --- orders ----------------------------------------------------------------------------------- */

static const char *name_of(const struct machine_view *m)
{
    return m->name;
}

static const char *state_of(const struct machine_view *m)
{
    return m->state;
}

static const char *cluster_of(const struct machine_view *m)
{
    return m->pool ? m->pool : "";
}

static int compare(const char *key, const char *name, const char *other_key, const char *other)
{
    int c = strcasecmp(key, other_key);
    c = c ? c : strcasecmp(name, other);
    return c ? c : strcmp(name, other);
}

#define ORDER(key)                                                                                 \
    static int by_##key(const void *a, const void *b)                                              \
    {                                                                                              \
        const struct machine_view *m = *(const struct machine_view *const *)a,                     \
                                  *o = *(const struct machine_view *const *)b;                     \
        return compare(key##_of(m), m->name, key##_of(o), o->name);                                \
    }
ORDER(name)
ORDER(state)
ORDER(cluster)

struct order {
    const char *name;
    const char *(*key_of)(const struct machine_view *m);
    int (*compare)(const void *a, const void *b);
};
static const struct order orders[] = {
    {"name", name_of, by_name}, {"state", state_of, by_state}, {"cluster", cluster_of, by_cluster}};

/* --- the list --------------------------------------------------------------------------------- */

struct listing {
    struct machines_reading *reading;
    enum machines_depth depth;
    /* the options of the query; a text NULL: not given */
    const char *states, *cluster, *begins, *after;
    const struct order *order; /* NULL: order of the inventory */
    bool descends;
    uint64_t wanted;
    long max;

    bool read;                /* the members below are set */
    struct machine_view *all; /* all machines, in the inventory's order */
    size_t n_all;
    struct machine_view **list; /* the machines that pass the filter */
    size_t n, at, end;          /* at: the next row; end: the end of the page */
    const char *next;           /* place of the page's last row; NULL: last page */
    bool any;                   /* a row was written */
    struct strbuf text;
};

static void listing_free(void *ctx)
{
    struct listing *l = ctx;
    strbuf_free(&l->text);
}

static bool passes(const struct listing *l, const struct machine_view *m)
{
    return (!l->states || words_have(l->states, m->state)) &&
           (!l->cluster || strcasecmp(l->cluster, cluster_of(m)) == 0) &&
           (!l->begins || strncasecmp(l->begins, m->name, strlen(l->begins)) == 0);
}

static void filter(struct listing *l, struct arena *a)
{
    l->all = fleet_machines_list(l->reading, &l->n_all);
    l->list = arena_alloc(a, (l->n_all + 1) * sizeof *l->list);
    for (size_t i = 0; i < l->n_all; i++)
        if (passes(l, &l->all[i]))
            l->list[l->n++] = &l->all[i];
}

static void sort(struct listing *l)
{
    if (!l->order || l->n == 0)
        return;
    qsort(l->list, l->n, sizeof *l->list, l->order->compare);
    for (size_t i = 0; l->descends && i < l->n / 2; i++) {
        struct machine_view *other = l->list[l->n - 1 - i];
        l->list[l->n - 1 - i] = l->list[i];
        l->list[i] = other;
    }
}

/* The place of a row: KEY/NAME of the sort order. In the inventory's order NUMBER/NAME, because the
 * machine may be removed before the next page. */
static const char *token_of(const struct listing *l, struct arena *a, size_t i)
{
    const struct machine_view *m = l->list[i];
    return l->order ? arena_concat(a, l->order->key_of(m), "/", m->name)
                    : arena_printf(a, "%zu/%s", (size_t)(m - l->all) + 1, m->name);
}

/* How many machines of the inventory earlier pages have had: up to the machine `name`; if it was
 * removed, up to the machine before number `key`. */
static size_t passed_by(const struct listing *l, const char *key, const char *name)
{
    for (size_t i = 0; i < l->n_all; i++)
        if (strcmp(l->all[i].name, name) == 0)
            return i + 1;
    unsigned long number = strtoul(key, NULL, 10);
    return number > 0 ? number - 1 : 0;
}

/* The first row after the place KEY/NAME. */
static size_t row_behind(const struct listing *l, const char *key, const char *name)
{
    size_t i = 0, passed = l->order ? 0 : passed_by(l, key, name);
    if (l->order)
        while (i < l->n && (compare(l->order->key_of(l->list[i]), l->list[i]->name, key, name) *
                            (l->descends ? -1 : 1)) <= 0)
            i++;
    else
        while (i < l->n && (size_t)(l->list[i] - l->all) < passed)
            i++;
    return i;
}

static int find_page(struct listing *l, struct arena *a, struct err *e)
{
    const char *slash = l->after ? strchr(l->after, '/') : NULL;
    if (l->after && !slash)
        return err_set(
            e, ERR_INVALID_QUERY, "after",
            "'%.100s' is not a valid position in the list; use `next` of the previous page",
            l->after);
    if (slash)
        l->at = row_behind(l, arena_strndup(a, l->after, (size_t)(slash - l->after)), slash + 1);
    l->end = l->n - l->at > (size_t)l->max ? l->at + (size_t)l->max : l->n;
    /* call this before rows are completed, because completing them reads states again */
    if (l->end < l->n && l->end > 0)
        l->next = token_of(l, a, l->end - 1);
    return 0;
}

/* 1: more must be read; 0: all was read; -1: err. */
static int read_some(struct request *r, struct listing *l, struct err *e)
{
    int rc = fleet_machines_more(l->reading, e);
    if (rc != 0)
        return rc;
    l->read = true;
    filter(l, &r->arena);
    sort(l);
    return find_page(l, &r->arena, e);
}

/* --- the reply -------------------------------------------------------------------------------- */

/* Whether a brief list has all wanted members. */
static bool is_brief(const struct listing *l)
{
    for (size_t i = 0; node_members[i].name; i++)
        if ((l->wanted >> i & 1) && !words_have(NODE_BRIEF, node_members[i].name))
            return false;
    return true;
}

static int show(struct request *r, struct listing *l, struct machine_view *m, struct err *e)
{
    int rc = l->depth == MACHINES_BRIEF && !is_brief(l)
                 ? fleet_machine_complete(admin_of(r)->fleet, &r->arena, m, e)
                 : 1;
    if (rc <= 0)
        return rc;
    json_auto_t *one = members_show(r, node_members, l->wanted, m);
    strbuf_puts(&l->text, l->any ? "," : "{\"value\":[");
    jsontext_add(&l->text, one);
    l->any = true;
    return 1;
}

static struct replied *finish(struct request *r, struct listing *l)
{
    strbuf_puts(&l->text, l->any ? "]" : "{\"value\":[]");
    if (l->depth == MACHINES_BRIEF)
        strbuf_printf(&l->text, ",\"count\":%zu", l->n);
    if (l->next) {
        strbuf_puts(&l->text, ",\"next\":");
        jsontext_add_text(&l->text, l->next, strlen(l->next));
    }
    strbuf_puts(&l->text, "}");
    return reply_json_text(r, 200, &l->text);
}

/* NULL: later turns continue. */
static struct replied *list_some(struct request *r, struct listing *l)
{
    struct err e;
    if (!l->read)
        return read_some(r, l, &e) < 0 ? reply_err(r, &e) : NULL;
    for (int i = 0; i < MACHINES_PER_TURN && l->at < l->end; i++, l->at++)
        if (show(r, l, l->list[l->at], &e) < 0)
            return reply_err(r, &e);
    return l->at < l->end ? NULL : finish(r, l);
}

static void list_more(struct request *r, void *ctx)
{
    struct replied *done = list_some(r, ctx);
    if (done)
        request_finish(r, done);
    else
        request_again(r, list_more, ctx);
}

/* --- the request ------------------------------------------------------------------------------ */

static int read_order(struct request *r, struct listing *l, struct err *e)
{
    const char *sort = query_filled(r, "sort");
    if (!sort)
        return 0;
    l->descends = *sort == '-';
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        if (strcasecmp(sort + l->descends, orders[i].name) == 0)
            l->order = &orders[i];
    if (l->order)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "sort",
                   "'%.100s' is not a valid order of machines; use name, state or cluster, with a "
                   "- in front to begin with the last",
                   sort);
}

static int read_wishes(struct request *r, struct listing *l, struct err *e)
{
    static const char *const wishes[] = {"state",  "cluster", "begins", "sort",
                                         "fields", "max",     "after",  NULL};
    for (size_t i = 0; wishes[i]; i++)
        if (request_query(r, wishes[i]))
            l->depth = MACHINES_BRIEF;
    l->states = query_filled(r, "state");
    l->cluster = request_query(r, "cluster");
    l->begins = request_query(r, "begins");
    l->after = query_filled(r, "after");
    if (read_order(r, l, e) < 0 ||
        words_check(r, "state", "state of a machine", l->states, state_names, e) < 0)
        return -1;
    return request_query_int(r, "max", (struct query_bounds){1, NODES_MAX, NODES_MAX}, &l->max, e);
}

struct replied *nodes_list(struct request *r)
{
    struct err e;
    struct listing *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct listing){.depth = MACHINES_WHOLE};
    if (read_wishes(r, l, &e) < 0 ||
        members_wanted(r, node_members, "a machine", &l->wanted, &e) < 0)
        return reply_err(r, &e);
    if (l->depth == MACHINES_WHOLE)
        l->max = LONG_MAX;
    l->reading = fleet_machines_begin(admin_of(r)->fleet, &r->arena, l->depth);
    request_own_thing(r, l, listing_free);
    request_again(r, list_more, l);
    return reply_later(r);
}
