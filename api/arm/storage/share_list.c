/* SPDX-License-Identifier: MIT
 *
 * Lists of shares and containers by name, in pages of $maxpagesize; the place of the next page
 * ($skipToken) is the last name. $filter is "startswith(name, TEXT)", or TEXT alone, which the
 * real service accepts for containers. Deleted containers are listed with $include=deleted, deleted
 * shares with $expand=deleted.
 */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "api/arm/kind.h"
#include "api/arm/storage/routes.h"
#include "api/arm/storage/share.h"
#include "api/arm/storage/storage_rm.h"
#include "api/http/page.h"
#include "api/http/url.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define PAGE_MAX 5000

/* The arguments of a list. */
struct share_list {
    const struct share_words *words;
    struct rm_share shown; /* a row to show, with the path's account */
    const char *prefix;
    long max; /* shares per page; deleted shares are not counted */
};

/* Reads "abc" from "startswith(name, abc)" or "startswith(name, 'abc')". */
static int parse_filter(struct request *r, const char *filter, const char **prefix, struct err *e)
{
    static const char head[] = "startswith(name,";
    size_t n = strlen(filter);
    if (strncasecmp(filter, head, strlen(head)) != 0) {
        if (!strchr(filter, '(') && !strchr(filter, ' ')) {
            *prefix = filter;
            return 0;
        }
        n = 0;
    }
    if (n == 0 || filter[n - 1] != ')')
        return err_set(e, ERR_INVALID_QUERY, "$filter",
                       "The $filter '%.100s' is not supported; write startswith(name, TEXT).",
                       filter);
    char *text = arena_strndup(&r->arena, filter + strlen(head), n - 1 - strlen(head));
    text += strspn(text, " '");
    for (n = strlen(text); n > 0 && strchr(" '", text[n - 1]); n--)
        text[n - 1] = '\0';
    *prefix = text;
    return 0;
}

static void begin(struct page *p)
{
    strbuf_puts(&p->text, "{\"value\":[");
}

static void end(struct page *p)
{
    static const char *const own[] = {"$skipToken", NULL};
    struct strbuf next = STRBUF_INIT;
    strbuf_putc(&p->text, ']');
    if (p->more) {
        strbuf_puts(&next, "%24skipToken=");
        url_encode(&next, p->last.s, 0);
        page_add_link(p, "nextLink", own, next.s);
    }
    strbuf_free(&next);
    strbuf_putc(&p->text, '}');
}

static struct page *begin_list(struct request *r, struct share_list *l, struct err *e)
{
    static const struct page_form form = {JSON_CONTENT_TYPE, begin, ",", end};
    const char *after = request_query(r, "$skipToken"), *filter = request_query(r, "$filter");
    l->prefix = "";
    if (request_query_int(r, "$maxpagesize", (struct query_bounds){1, PAGE_MAX, PAGE_MAX}, &l->max,
                          e) < 0 ||
        (filter && *filter && parse_filter(r, filter, &l->prefix, e) < 0))
        return NULL;
    struct page *page = page_begin(r, &form, l->max, after ? after : "");
    return page;
}

static bool has_deleted(struct request *r, enum share_kind kind)
{
    const char *parts = request_query(r, kind == SHARE_BLOBS ? "$include" : "$expand");
    return parts && strcasestr(parts, "deleted");
}

static void add(struct page *page, struct share_list *l, const struct share *s)
{
    l->shown.row = *s;
    page_add(page, s->name, share_render(page->r, l->words, &l->shown));
}

/* Whether the deleted share belongs to the account. The subscription must be the same, because
 * another one may have had an account of this name. */
static bool is_of_account(const struct share_list *l, const struct share *s)
{
    const struct storage_account *account = &l->shown.account;
    return s->kind == l->words->kind && strcmp(s->account, account->name) == 0 && s->subscription &&
           strcasecmp(s->subscription, account->scope.subscription) == 0;
}

/* Adds the account's deleted shares that can be restored; they are all on the last page. */
static int add_deleted(struct page *page, struct share_list *l, struct err *e)
{
    struct request *r = page->r;
    struct share_rows rows;
    page->max = LONG_MAX;
    for (int64_t after = 0;; after = rows.items[rows.n - 1].id) {
        if (st_share_deleted(arm_of(r)->storage, &r->arena, INT64_MAX,
                             &(struct st_page){.after = after, .limit = PAGE_MAX}, &rows, e) < 0)
            return -1;
        for (size_t i = 0; i < rows.n; i++)
            if (is_of_account(l, &rows.items[i]))
                add(page, l, &rows.items[i]);
        if (rows.n < PAGE_MAX)
            return 0;
    }
}

struct replied *shares_list(struct request *r)
{
    struct err e;
    struct share_list l = {.words = rm_begin(r).kind->of};
    struct page *page;
    struct share_rows rows;
    if (find_made_account(r, &l.shown.account, &e) < 0 || !(page = begin_list(r, &l, &e)) ||
        st_share_list(arm_of(r)->storage, &r->arena, l.shown.account.id, l.words->kind, l.prefix,
                      &(struct st_names){.after = page->after, .limit = page_limit(page)}, &rows,
                      &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < rows.n; i++)
        add(page, &l, &rows.items[i]);
    if (!page->more && has_deleted(r, l.words->kind) && add_deleted(page, &l, &e) < 0)
        return reply_err(r, &e);
    return page_reply(page);
}
