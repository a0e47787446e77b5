/* SPDX-License-Identifier: MIT
 *
 * Lists of shares and containers: by name, in pages of $maxpagesize, whose mark ($skipToken) is the
 * last name; with $filter "startswith(name, TEXT)", or TEXT alone, as the service takes it for
 * containers.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/arm/storage/handlers.h"
#include "api/arm/storage/share.h"
#include "api/http/url.h"
#include "storage/storage.h"

#define PAGE_MAX 5000

struct share_page {
    const char *after, *prefix;
    long max;
};

/* "startswith(name, abc)" or "startswith(name, 'abc')" is about "abc". */
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

static int parse(struct request *r, struct share_page *p, struct err *e)
{
    const char *after = request_query(r, "$skipToken"), *filter = request_query(r, "$filter");
    *p = (struct share_page){after ? after : "", "", PAGE_MAX};
    if (request_query_int(r, "$maxpagesize", 1, PAGE_MAX, PAGE_MAX, &p->max, e) < 0)
        return -1;
    return filter && *filter ? parse_filter(r, filter, &p->prefix, e) : 0;
}

/* The same request, from the mark on. */
static json_t *next_link(struct request *r, const struct share_page *p, const char *last)
{
    struct strbuf url = STRBUF_INIT;
    const char *filter = request_query(r, "$filter");
    strbuf_printf(&url, "%s%s?api-version=", request_base(r), r->target);
    url_encode(&url, r->version_name, 0);
    strbuf_printf(&url, "&$maxpagesize=%ld", p->max);
    if (filter) {
        strbuf_puts(&url, "&$filter=");
        url_encode(&url, filter, 0);
    }
    strbuf_puts(&url, "&$skipToken=");
    url_encode(&url, last, 0);
    json_t *link = json_stringn(url.s, url.len);
    strbuf_free(&url);
    return link;
}

static bool expands(struct request *r, const char *what)
{
    const char *expand = request_query(r, "$expand");
    return expand && strcasestr(expand, what);
}

/* Those that can be restored, of the account; all are in the last page. */
static int add_deleted(struct request *r, const struct share_words *w,
                       const struct storage_account *acct, json_t *list, struct err *e)
{
    struct share *rows;
    size_t n;
    for (int64_t after = 0;; after = rows[n - 1].id) {
        if (st_share_deleted(arm_of(r)->storage, &r->arena, INT64_MAX, after, PAGE_MAX, &rows, &n,
                             e) < 0)
            return -1;
        for (size_t i = 0; i < n; i++)
            if (rows[i].kind == w->kind && strcmp(rows[i].account, acct->name) == 0)
                json_array_append_new(list, share_render(r, w, acct, &rows[i]));
        if (n < PAGE_MAX)
            return 0;
    }
}

static struct replied *list(struct request *r, const struct share_words *w)
{
    struct err e;
    struct storage_account acct;
    struct share_page p;
    struct share *rows;
    size_t n;
    if (find_made_account(r, &acct, &e) < 0 || parse(r, &p, &e) < 0 ||
        st_share_list(arm_of(r)->storage, &r->arena, acct.id, w->kind, p.after, p.prefix,
                      (int)p.max + 1, &rows, &n, &e) < 0)
        return reply_err(r, &e);
    bool more = n > (size_t)p.max;
    n -= more;
    json_t *value = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(value, share_render(r, w, &acct, &rows[i]));
    if (!more && expands(r, "deleted") && add_deleted(r, w, &acct, value, &e) < 0) {
        json_decref(value);
        return reply_err(r, &e);
    }
    return reply_json(r, 200,
                      json_pack("{s:o, s:o*}", "value", value, "nextLink",
                                more ? next_link(r, &p, rows[n - 1].name) : NULL));
}

struct replied *shares_list(struct request *r)
{
    return list(r, &share_words);
}

struct replied *containers_list(struct request *r)
{
    return list(r, &container_words);
}
