/* SPDX-License-Identifier: MIT
 *
 * A dump from its request to its text: the steps of dump.h, and the GETs of the first. These are
 * carried out as if they had come alone (api/http/subrequest.h), in the name of the daemon's own
 * principal, and answer at once; a list of several pages is asked for page by page.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"
#include "api/arm/errors.h"
#include "api/testing/seed/dump.h"
#include "lib/jsontext.h"
#include "lib/loop.h"
#include "lib/timefmt.h"
#include "storage/shares/shares.h"

/* The clock of these requests is this much ahead, in microseconds, so that no resource is shown as
 * still being created. */
#define LATER_US (100 * 365 * (int64_t)86400 * 1000000)

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
    assert(one->finished); /* it reads rows alone */
    return one;
}

/* The target of "nextLink":"URL", the last member of a list with further pages. NULL: last page. */
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

static int list(struct dumping *d, const struct seed_step *like, json_t *into, struct err *e);

static int list_below(struct dumping *d, const struct seed_step *s, json_t *into, struct err *e)
{
    for (int k = 0; k < SEED_KINDS; k++) {
        const enum seed_kind_id kind = (enum seed_kind_id)k;
        const struct seed_step like = {
            .kind = &seed_kinds[k], .above = s, .name = "", .subscription = s->subscription};
        if (!seed_is_child(kind, (enum seed_kind_id)(s->kind - seed_kinds)))
            continue;
        int none = dump_has_none(d, kind, s, e);
        if (none < 0 || (none == 0 && list(d, &like, into, e) < 0))
            return -1;
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

static int take_item(struct dumping *d, const struct seed_step *like, const json_t *item,
                     json_t *into, struct err *e)
{
    struct seed_step *s = arena_alloc(d->a, sizeof *s);
    json_t *body = json_object();
    *s = *like;
    s->name = arena_strdup(d->a, dump_name(like->kind, item));
    s->given = item;
    dump_put(into, like->kind->collection, s->name, body);
    return list_below(d, s, body, e);
}

/* Takes the items of a kind that contains other kinds. Accounts that mounts have created come
 * first, because a seed would otherwise create them again for the mounts. */
static int take_items(struct dumping *d, const struct seed_step *like, const struct dumped_list *l,
                      struct err *e)
{
    size_t i;
    json_t *item;
    for (int implicit = 1; implicit >= 0; implicit--)
        json_array_foreach(json_object_get(l->shown, "value"), i, item) {
            if (is_wanted(d, l->kind, item) &&
                is_implicit(l->kind, dump_name(l->kind, item)) == implicit &&
                take_item(d, like, item, l->into, e) < 0)
                return -1;
        }
    return 0;
}

/* Reads names at once if the kind contains others; the thread of the lane reads all other texts
 * later. */
static int list_page(struct dumping *d, const struct seed_step *like, const struct inner_head *head,
                     const char **next, json_t *into, struct err *e)
{
    struct dumped_list *l = add_list(d, like, into);
    l->asked = ask(d, like, head);
    if (l->asked->status >= 400) {
        seed_answer_read(d->a, l->asked, e);
        return -1;
    }
    const char *text = request_inner_body(l->asked);
    *next = next_target(d->a, text);
    if (is_leaf(like->kind))
        return 0;
    l->shown = request_own(d->r, json_loads(text, 0, NULL));
    request_inner_end(l->asked);
    l->asked = NULL;
    return take_items(d, like, l, e);
}

static int list(struct dumping *d, const struct seed_step *like, json_t *into, struct err *e)
{
    dump_extra *const extra = dump_extras[like->kind - seed_kinds];
    struct inner_head head = seed_list_head(d->r, d->a, like);
    const char *next = NULL;
    if (!like->kind->unlisted) {
        do {
            if (list_page(d, like, &head, &next, into, e) < 0)
                return -1;
            if (next)
                head.target = next;
        } while (next);
    }
    return extra ? extra(d, like->above, into, e) : 0;
}

/* --- subscriptions ---------------------------------------------------------------------------- */

/* The roles of a subscription are dumped before its groups, and only if the whole subscription
 * is. */
static int subscription(struct dumping *d, const char *guid, json_t *into, struct err *e)
{
    const struct seed_step groups = {.kind = &seed_kinds[SEED_GROUP],
                                     .name = "",
                                     .subscription = guid},
                           of_all = {.kind = &seed_kinds[SEED_SUBSCRIPTION_ROLE],
                                     .name = "",
                                     .subscription = guid};
    if (list(d, &groups, into, e) < 0 || dump_deleted_vaults(d, guid, into, e) < 0)
        return -1;
    return d->group ? 0 : list(d, &of_all, into, e);
}

static int all(struct dumping *d, struct err *e)
{
    const struct access *x = d->seed->arm.access;
    struct subscription *rows;
    size_t n;
    if (st_subscription_list(d->seed->arm.storage, d->a, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i <= n; i++) {
        const char *guid = i == 0 ? x->subscription_id : rows[i - 1].guid;
        json_t *one = json_object();
        dump_put(d->tree, "subscriptions", guid, one);
        if (subscription(d, guid, one, e) < 0)
            return -1;
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
    if (subscription(d, s.guid, d->tree, e) < 0)
        return -1;
    if (d->group && json_object_size(d->tree) == 0)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, "resourceGroup",
                       "There is no resource group '%.100s' in the subscription.", d->group);
    return 0;
}

/* --- the text --------------------------------------------------------------------------------- */

static void dumping_free(void *ctx)
{
    struct dumping *d = ctx;
    for (struct dumped_list *l = d->lists; l; l = l->next)
        if (l->asked)
            request_inner_end(l->asked);
    json_decref(d->tree);
    free(d->text);
    free(d);
}

/* Puts SEED_SUBSCRIPTION in the place of the id, so that the dump fits into any subscription. */
static char *portable(const char *text, const char *guid)
{
    struct strbuf b = STRBUF_INIT;
    for (const char *at; (at = strcasestr(text, guid)); text = at + strlen(guid)) {
        strbuf_add(&b, text, (size_t)(at - text));
        strbuf_puts(&b, SEED_SUBSCRIPTION);
    }
    strbuf_puts(&b, text);
    return strbuf_take(&b);
}

static REPLIED answer(struct dumping *d)
{
    if (d->why.code != ERR_NONE)
        return reply_err(d->r, &d->why);
    char *text = d->text;
    d->text = NULL;
    return reply_text(d->r, 200, JSON_CONTENT_TYPE, text);
}

static void write_text(void *ctx)
{
    struct dumping *d = ctx;
    dump_bodies(d);
    if (dump_folders(d, &d->why) < 0)
        return;
    d->text = jsontext(d->tree);
    json_decref(d->tree);
    d->tree = NULL;
    if (d->subscription) {
        char *fits = portable(d->text, d->subscription);
        free(d->text);
        d->text = fits;
    }
}

static void text_written(void *ctx, enum loop_work_end how)
{
    struct dumping *d = ctx;
    if (how != LOOP_WORK_DONE)
        err_set(&d->why, ERR_UNAVAILABLE, NULL, "The daemon is stopping.");
    request_finish(d->r, answer(d));
}

static void begin_text(struct dumping *d)
{
    bool failed = d->why.code != ERR_NONE;
    if (!failed && loop_work(d->seed->lane, write_text, text_written, d))
        return;
    if (!failed)
        err_set(&d->why, ERR_UNAVAILABLE, NULL, "Too many files are being read; try again.");
    request_finish(d->r, answer(d));
}

static void begin_files(struct request *r, void *ctx)
{
    (void)r;
    dump_tasks(ctx, begin_text);
}

struct replied *seed_dump(struct request *r, const struct seed *seed)
{
    struct err e;
    const char *id = request_query(r, "subscription");
    struct dumping *d = xcalloc(1, sizeof *d);
    *d = (struct dumping){.r = r,
                          .seed = seed,
                          .a = &r->arena,
                          .tree = json_object(),
                          .group = request_query(r, "resourceGroup"),
                          .left = DUMP_BYTES};
    d->last_list = &d->lists;
    request_keep(r, d, dumping_free);
    if (seed_log_in(seed, r, d->header, &e) < 0 ||
        (id || d->group ? one(d, id, &e) : all(d, &e)) < 0)
        return reply_err(r, &e);
    request_again(r, begin_files, d);
    return reply_later(r);
}
