/* SPDX-License-Identifier: MIT
 *
 * The list of principals, each with its roles: the daemon's service principal, other service
 * principals, then users. Made in slices. The place of a row is KIND/ID, because both kinds are in
 * one table and share its ids.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"
#include "api/admin/routes.h"
#include "api/admin/users.h"
#include "api/http/slices.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define BATCH      100
#define PLACE_SIZE 32

struct user_list {
    struct request *r;
    struct page *page;
    enum identity_kind kind; /* the kind of the next rows; 0: the daemon's service principal */
    int64_t at;              /* the id of the last row that was read */
    bool is_first;
    int64_t count;
};

static void begin(struct page *p)
{
    strbuf_puts(&p->text, "{\"value\":[");
}

static void end(struct page *p)
{
    const struct user_list *l = p->of;
    strbuf_puts(&p->text, "]");
    if (l->is_first)
        strbuf_printf(&p->text, ",\"count\":%lld", (long long)l->count);
    if (p->more) {
        strbuf_puts(&p->text, ",\"next\":");
        jsontext_add_text(&p->text, p->last.s, p->last.len);
    }
    strbuf_puts(&p->text, "}");
}

/* Continues with the kind `next` (0: the list ends) after the last batch of a kind. */
static void go_on(struct user_list *l, struct slices *s, enum identity_kind next)
{
    s->at_end = next == 0;
    l->kind = next;
    l->at = 0;
}

static int fetch(struct slices *s, struct err *e)
{
    struct user_list *l = s->of;
    struct identity_rows rows = {NULL, 0};
    const struct st_page page = {.after = l->at, .limit = BATCH};
    if (l->kind == 0) {
        struct identity *own = arena_alloc(&l->r->arena, sizeof *own);
        *own = access_first(admin_of(l->r)->access);
        s->rows = own;
        s->n = 1;
        go_on(l, s, IDENTITY_SERVICE);
        return 0;
    }
    if (st_identity_list(admin_of(l->r)->storage, &l->r->arena, l->kind, &page, &rows, e) < 0)
        return -1;
    s->rows = rows.items;
    s->n = rows.n;
    if (rows.n < BATCH)
        go_on(l, s, l->kind == IDENTITY_SERVICE ? IDENTITY_USER : 0);
    else
        l->at = rows.items[rows.n - 1].id;
    return 0;
}

static void print_place(int kind, int64_t id, char place[PLACE_SIZE])
{
    (void)snprintf(place, PLACE_SIZE, "%d/%lld", kind, (long long)id);
}

static int add(struct slices *s, const void *row, struct err *e)
{
    const struct user_list *l = s->of;
    const struct identity *i = row;
    char place[PLACE_SIZE];
    json_t *shown = user_render(l->r, i, NULL, e);
    if (!shown)
        return -1;
    print_place((int)i->kind, i->id, place);
    page_add(l->page, place, shown);
    return 0;
}

static int read_place(struct user_list *l, const char *after, struct err *e)
{
    char place[PLACE_SIZE];
    const char *slash = strchr(after, '/');
    int kind = *after == '0' + IDENTITY_SERVICE ? IDENTITY_SERVICE : IDENTITY_USER;
    l->kind = (enum identity_kind)kind;
    l->at = slash ? strtoll(slash + 1, NULL, 10) : 0;
    print_place(kind, l->at, place);
    if (l->at >= 0 && strcmp(place, after) == 0)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "after",
                   "'%.100s' is not a valid position in the list; use `next` of the previous page",
                   after);
}

/* Counts all principals, including the daemon's service principal. */
static int count(struct user_list *l, struct err *e)
{
    int64_t services, users;
    struct storage *st = admin_of(l->r)->storage;
    if (st_identity_count(st, IDENTITY_SERVICE, &services, e) < 0 ||
        st_identity_count(st, IDENTITY_USER, &users, e) < 0)
        return -1;
    l->count = 1 + services + users;
    return 0;
}

struct replied *users_list(struct request *r)
{
    static const struct page_form form = {JSON_CONTENT_TYPE, begin, ",", end};
    static const struct slices_kind kind = {.fetch = fetch, .add = add};
    struct err e;
    long max;
    const char *after = request_query(r, "after");
    struct user_list *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct user_list){.r = r, .is_first = !after};
    if (request_query_int(r, "max", (struct query_bounds){1, LONG_MAX, LONG_MAX}, &max, &e) < 0 ||
        (after && read_place(l, after, &e) < 0) || (l->is_first && count(l, &e) < 0))
        return reply_err(r, &e);
    l->page = page_begin(r, &form, max, "");
    l->page->of = l;
    return slices_reply(l->page, &kind, l, sizeof(struct identity));
}
