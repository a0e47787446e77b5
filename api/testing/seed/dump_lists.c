/* SPDX-License-Identifier: MIT
 *
 * Sends the GETs of a dump as the daemon's own principal. Each is carried out like a separate
 * request (api/http/subrequest.h), which gets its reply at once. The GETs that remain to be sent
 * are on a stack, so that the loop can serve other requests between two GETs. A page pushes the
 * next page and then its items; an item pushes the lists of the kinds that it contains. So the dump
 * has the order of the tree.
 */
#include <assert.h>
#include <string.h>
#include <uv.h>

#include "api/access/access.h"
#include "api/arm/errors.h"
#include "api/testing/seed/dump.h"
#include "storage/shares/shares.h"

#define SLICE_NS (5 * 1000 * 1000)

/* The clock of the GETs is this much ahead, in microseconds, so that no resource is shown as still
 * being created. */
#define LATER_US (100 * 365 * (int64_t)86400 * 1000000)

struct dump_todo {
    int (*go)(struct dumping *d, struct dump_todo *t, struct err *e);
    /* a step for the items of the list, or the resource whose kinds are listed */
    struct seed_step at;
    json_t *into;                   /* the place of the replies in the tree; borrowed */
    const char *target;             /* the URL of the list's next page; NULL: the first page */
    const struct dumped_list *list; /* the list whose items are next */
    size_t next_one;                /* index of the next item, or the next kind */
    struct dump_todo *next;
};

static struct dump_todo *push(struct dumping *d, const struct dump_todo *todo)
{
    struct dump_todo *t = arena_alloc(d->a, sizeof *t);
    *t = *todo;
    t->next = d->todo;
    return d->todo = t;
}

/* Puts the step back on the stack, so that it continues later. */
static void push_again(struct dumping *d, struct dump_todo *t)
{
    t->next = d->todo;
    d->todo = t;
}

/* --- requests --------------------------------------------------------------------------------- */

static void on_answered(void *ctx, struct request *inner)
{
    (void)ctx, (void)inner;
}

static struct request *ask(struct dumping *d, const struct seed_step *s,
                           const struct inner_head *given)
{
    struct inner_head head = *given;
    head.header = &d->header[s->kind->plane];
    head.n_headers = 1;
    head.seeds = true;
    head.dumps = &d->why;
    struct request *one = request_inner(d->r, &head);
    one->now_us += LATER_US;
    request_inner_go(one, on_answered, NULL);
    assert(one->finished); /* a GET of the dump only reads rows, so its reply is complete at once */
    return one;
}

/* The target of "nextLink":"URL", which is the last member of a list that has a next page. NULL:
 * this is the last page. */
static const char *next_target(struct arena *a, const char *text)
{
    static const char mark[] = "extLink\":\"";
    size_t n = strlen(text);
    if (n < sizeof mark || strcmp(text + n - 2, "\"}") != 0)
        return NULL;
    const char *end = text + n - 2, *url = end;
    while (url > text && url[-1] != '"')
        url--;
    size_t before = (size_t)(url - text);
    if (before < sizeof mark - 1 || strncmp(url - (sizeof mark - 1), mark, sizeof mark - 1) != 0)
        return NULL;
    const char *host = strstr(url, "://");
    const char *target = host && host < end ? strchr(host + strlen("://"), '/') : NULL;
    return target ? arena_strndup(a, target, (size_t)(end - target)) : NULL;
}

static struct dumped_list *add_list(struct dumping *d, const struct seed_step *s, json_t *into)
{
    struct dumped_list *l = arena_alloc(d->a, sizeof *l);
    *l = (struct dumped_list){.kind = s->kind, .path = seed_path_above(d->a, s), .into = into};
    *d->last_list = l;
    d->last_list = &l->next;
    return l;
}

/* --- lists ------------------------------------------------------------------------------------ */

static bool is_leaf(const struct seed_kind *kind)
{
    for (int k = 0; k < SEED_KINDS; k++)
        if (seed_is_child((enum seed_kind_id)k, (enum seed_kind_id)(kind - seed_kinds)))
            return false;
    return true;
}

static int ask_page(struct dumping *d, struct dump_todo *t, struct err *e);

/* Requests the list of the next kind below an item that has resources. */
static int ask_below(struct dumping *d, struct dump_todo *t, struct err *e)
{
    while (t->next_one < SEED_KINDS) {
        const enum seed_kind_id kind = (enum seed_kind_id)t->next_one++;
        if (!seed_is_child(kind, (enum seed_kind_id)(t->at.kind - seed_kinds)))
            continue;
        int none = dump_has_none(d, kind, &t->at, e);
        if (none != 0) {
            if (none < 0)
                return -1;
            continue;
        }
        push_again(d, t);
        push(d, &(struct dump_todo){.go = ask_page,
                                    .at = {.kind = &seed_kinds[kind],
                                           .above = &t->at,
                                           .name = "",
                                           .subscription = t->at.subscription},
                                    .into = t->into});
        return 0;
    }
    return 0;
}

static bool is_implicit(const struct seed_kind *kind, const char *name)
{
    return kind == &seed_kinds[SEED_GROUP] && strcmp(name, IMPLICIT_GROUP) == 0;
}

static bool is_wanted(const struct dumping *d, const struct seed_kind *kind, const json_t *item)
{
    return !dump_is_going(item) && (kind != &seed_kinds[SEED_GROUP] || !d->group ||
                                    strcasecmp(d->group, dump_name(kind, item)) == 0);
}

static void take_item(struct dumping *d, const struct dump_todo *t, const json_t *item)
{
    json_t *body = json_object();
    struct dump_todo *below =
        push(d, &(struct dump_todo){.go = ask_below, .at = t->at, .into = body});
    below->at.name = arena_strdup(d->a, dump_name(t->at.kind, item));
    below->at.given = item;
    dump_put(t->into, t->at.kind->collection, below->at.name, body);
}

/* Continues with the next item of a kind that contains other kinds. Storage accounts that mounts
 * have created are first, because a seed would otherwise create them again for the mounts. */
static int take_items(struct dumping *d, struct dump_todo *t, struct err *e)
{
    const json_t *all = json_object_get(t->list->shown, "value");
    const size_t n = json_array_size(all);
    (void)e;
    while (t->next_one < 2 * n) {
        const bool implicit = t->next_one < n;
        const json_t *item = json_array_get(all, t->next_one++ % n);
        if (is_wanted(d, t->at.kind, item) &&
            is_implicit(t->at.kind, dump_name(t->at.kind, item)) == implicit) {
            push_again(d, t);
            take_item(d, t, item);
            return 0;
        }
    }
    return 0;
}

static int ask_extra(struct dumping *d, struct dump_todo *t, struct err *e)
{
    return dump_extras[t->at.kind - seed_kinds](d, t->at.above, t->into, e);
}

/* Requests a page of a list. Parses it at once if the kind contains other kinds; the worker thread
 * parses all other pages later. */
static int list_page(struct dumping *d, struct dump_todo *t, struct dumped_list **out,
                     struct err *e)
{
    struct inner_head head = seed_list_head(d->r, d->a, &t->at);
    struct dumped_list *l = *out = add_list(d, &t->at, t->into);
    if (t->target)
        head.target = t->target;
    l->asked = ask(d, &t->at, &head);
    if (l->asked->status >= 400) {
        seed_answer_read(d->a, l->asked, e);
        return -1;
    }
    const char *text = request_inner_body(l->asked);
    t->target = next_target(d->a, text);
    if (is_leaf(t->at.kind))
        return 0;
    l->shown = json_loads(text, 0, NULL);
    request_inner_end(l->asked);
    l->asked = NULL;
    return 0;
}

static int ask_page(struct dumping *d, struct dump_todo *t, struct err *e)
{
    struct dumped_list *l = NULL;
    if (!t->at.kind->unlisted && list_page(d, t, &l, e) < 0)
        return -1;
    if (t->target)
        push_again(d, t);
    else if (dump_extras[t->at.kind - seed_kinds])
        push(d, &(struct dump_todo){.go = ask_extra, .at = t->at, .into = t->into});
    if (l && l->shown)
        push(d, &(struct dump_todo){.go = take_items, .at = t->at, .into = t->into, .list = l});
    return 0;
}

/* --- subscriptions ---------------------------------------------------------------------------- */

static int ask_deleted(struct dumping *d, struct dump_todo *t, struct err *e)
{
    return dump_deleted_vaults(d, t->at.subscription, t->into, e);
}

/* Requests what a subscription contains. Its roles are listed after its groups, and only if the
 * whole subscription is dumped. */
static int ask_subscription(struct dumping *d, struct dump_todo *t, struct err *e)
{
    struct dump_todo todo = {.go = ask_page,
                             .at = {.kind = &seed_kinds[SEED_SUBSCRIPTION_ROLE],
                                    .name = "",
                                    .subscription = t->at.subscription},
                             .into = t->into};
    (void)e;
    if (!d->group)
        push(d, &todo);
    push(d, &(struct dump_todo){.go = ask_deleted, .at = todo.at, .into = t->into});
    todo.at.kind = &seed_kinds[SEED_GROUP];
    push(d, &todo);
    return 0;
}

static void push_subscription(struct dumping *d, const char *guid, json_t *into)
{
    push(d,
         &(struct dump_todo){.go = ask_subscription, .at = {.subscription = guid}, .into = into});
}

static int all(struct dumping *d, struct err *e)
{
    const struct access *x = d->seed->arm.access;
    struct subscription *rows;
    size_t n;
    if (st_subscription_list(d->seed->arm.storage, d->a, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i <= n; i++)
        dump_put(d->tree, "subscriptions", i == 0 ? x->subscription_id : rows[i - 1].guid,
                 json_object());
    const json_t *made = json_object_get(d->tree, "subscriptions");
    for (size_t i = n + 1; i-- > 0;) {
        const char *guid = i == 0 ? x->subscription_id : rows[i - 1].guid;
        push_subscription(d, guid, json_object_get(made, guid));
    }
    return 0;
}

static int one(struct dumping *d, const char *id, struct err *e)
{
    struct subscription s;
    const struct access *x = d->seed->arm.access;
    int rc = access_subscription(x, d->a, id ? id : x->subscription_id, &s, e);
    if (rc == 0)
        return err_set(e, ARM_SUBSCRIPTION_NOT_FOUND, "subscription",
                       "The subscription '%.100s' could not be found.", id);
    if (rc < 0)
        return -1;
    d->subscription = s.guid;
    push_subscription(d, s.guid, d->tree);
    return 0;
}

int dump_lists_begin(struct dumping *d, struct err *e)
{
    const char *id = request_query(d->r, "subscription");
    return id || d->group ? one(d, id, e) : all(d, e);
}

int dump_lists_some(struct dumping *d, struct err *e)
{
    uint64_t until_ns = uv_hrtime() + SLICE_NS;
    while (d->todo) {
        struct dump_todo *t = d->todo;
        d->todo = t->next;
        if (t->go(d, t, e) < 0)
            return -1;
        if (uv_hrtime() >= until_ns)
            return 0;
    }
    if (d->group && json_object_size(d->tree) == 0)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, "resourceGroup",
                       "There is no resource group '%.100s' in the subscription.", d->group);
    return 1;
}
