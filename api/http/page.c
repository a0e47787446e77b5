/* SPDX-License-Identifier: MIT
 *
 * Pages of lists, and ARM's form of pages. A page belongs to its request, which frees the page's
 * texts. page_reply() moves the text of the rows to the reply. Called only on the loop's thread.
 */
#include "api/http/page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/url.h"
#include "lib/jsontext.h"

#define PAGE_BYTES (4 * 1024 * 1024) /* bytes; a page of this size is full */
#define ID_SIZE    24

/* --- functions for all forms ------------------------------------------------------------------ */

static void free_texts(void *page)
{
    struct page *p = page;
    strbuf_free(&p->text);
    strbuf_free(&p->last);
}

struct page *page_begin(struct request *r, const struct page_form *form, long max,
                        const char *after)
{
    struct page *p = arena_alloc(&r->arena, sizeof *p);
    *p = (struct page){.r = r, .form = form, .max = max, .after = after};
    request_own_thing(r, p, free_texts);
    return p;
}

int page_limit(const struct page *p)
{
    return (int)p->max + 1;
}

void page_pass(struct page *p, const char *key)
{
    strbuf_reset(&p->last);
    strbuf_puts(&p->last, key);
}

void page_open(struct page *p)
{
    if (!p->begun)
        p->form->begin(p);
    p->begun = true;
}

struct strbuf *page_row(struct page *p, const char *key)
{
    p->more = p->more || p->n >= p->max || p->text.len >= PAGE_BYTES;
    if (p->more)
        return NULL;
    if (p->n++ > 0)
        strbuf_puts(&p->text, p->form->between);
    page_open(p);
    page_pass(p, key);
    return &p->text;
}

void page_add(struct page *p, const char *key, json_t *row)
{
    json_auto_t *shown = row;
    struct strbuf *out = row ? page_row(p, key) : NULL;
    if (out)
        jsontext_add(out, shown);
}

struct replied *page_reply(struct page *p)
{
    page_open(p);
    p->form->end(p);
    return reply_text(p->r, 200, p->form->content_type, strbuf_take(&p->text));
}

/* --- keys that are ids ------------------------------------------------------------------------ */

static const char *id_key(int64_t id, char key[ID_SIZE])
{
    snprintf(key, ID_SIZE, "%lld", (long long)id);
    return key;
}

int64_t page_after_id(const struct page *p)
{
    return strtoll(p->after, NULL, 10);
}

struct strbuf *page_row_of_id(struct page *p, int64_t id)
{
    char key[ID_SIZE];
    return page_row(p, id_key(id, key));
}

void page_add_id(struct page *p, int64_t id, json_t *row)
{
    char key[ID_SIZE];
    page_add(p, id_key(id, key), row);
}

void page_pass_id(struct page *p, int64_t id)
{
    char key[ID_SIZE];
    page_pass(p, id_key(id, key));
}

/* --- the resource manager's form -------------------------------------------------------------- */

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcasecmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

void page_add_link(struct page *p, const char *name, const char *const *without, const char *next)
{
    struct strbuf url = STRBUF_INIT;
    size_t n;
    const struct named_value *query = request_parameters(p->r, &n);
    strbuf_concat(&url, request_base(p->r), p->r->target, "?");
    for (size_t i = 0; i < n; i++) {
        if (is_among(query[i].name, without))
            continue;
        url_encode(&url, query[i].name, 0);
        strbuf_putc(&url, '=');
        url_encode(&url, query[i].value, 0);
        strbuf_putc(&url, '&');
    }
    strbuf_puts(&url, next);
    strbuf_concat(&p->text, ",\"", name, "\":");
    jsontext_add_text(&p->text, url.s, url.len);
    strbuf_free(&url);
}

static void begin(struct page *p)
{
    strbuf_puts(&p->text, "{\"value\":[");
}

static void end(struct page *p)
{
    static const char *const own[] = {"$skiptoken", "maxresults", NULL};
    strbuf_putc(&p->text, ']');
    if (p->more)
        page_add_link(p, "nextLink", own,
                      arena_printf(&p->r->arena, "maxresults=%ld&%%24skiptoken=%s", p->max,
                                   p->last.len > 0 ? p->last.s : "0"));
    strbuf_putc(&p->text, '}');
}

struct page *page_of_ids(struct request *r, struct err *e)
{
    static const struct page_form form = {JSON_CONTENT_TYPE, begin, ",", end};
    long max, after;
    if (request_query_int(r, "maxresults",
                          (struct query_bounds){1, PAGE_MAX_RESULTS, PAGE_MAX_RESULTS}, &max,
                          e) < 0 ||
        request_query_int(r, "$skiptoken", (struct query_bounds){0, LONG_MAX, 0}, &after, e) < 0)
        return NULL;
    return page_begin(r, &form, max, arena_printf(&r->arena, "%ld", after));
}
