/* SPDX-License-Identifier: MIT
 *
 * Writes entries as JSON text into the page of a list. Called only on the loop's thread.
 */
#include "api/http/entries.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/jsontext.h"
#include "lib/timefmt.h"

#define ROWS_DEFAULT 1000
#define ROWS_MAX     5000

static void begin(struct page *p)
{
    strbuf_puts(&p->text, "{\"value\":[");
}

static void end(struct page *p)
{
    const struct rows *rows = p->of;
    strbuf_puts(&p->text, "]");
    if (p->more && p->last.len > 0) {
        strbuf_puts(&p->text, ",\"next\":");
        jsontext_add_text(&p->text, p->last.s, p->last.len);
    }
    if (rows->counts)
        strbuf_printf(&p->text, ",\"count\":%ld%s", rows->count,
                      rows->is_minimum ? ",\"countIsMinimum\":true" : "");
    if (rows->left_out > 0)
        strbuf_printf(&p->text, ",\"leftOut\":%zu", rows->left_out);
    strbuf_puts(&p->text, "}");
}

int rows_begin(struct request *r, struct rows *out, struct err *e)
{
    static const struct page_form form = {JSON_CONTENT_TYPE, begin, ",", end};
    const char *after = request_query(r, "after");
    long max;
    if (request_query_int(r, "max", (struct query_bounds){1, ROWS_MAX, ROWS_DEFAULT}, &max, e) < 0)
        return -1;
    *out = (struct rows){.page = page_begin(r, &form, max, after ? after : "")};
    out->page->of = out;
    page_open(out->page);
    return 0;
}

int rows_begin_numbers(struct request *r, struct rows *out, struct err *e)
{
    long place;
    if (request_query_int(r, "after", (struct query_bounds){0, LONG_MAX, 0}, &place, e) < 0)
        return -1;
    return rows_begin(r, out, e);
}

void rows_add(struct page *p, const char *key, const struct entry *en)
{
    struct strbuf *b = page_row(p, key);
    char when[TIMEFMT_SIZE];
    if (!b)
        return;
    strbuf_puts(b, "{\"name\":");
    jsontext_add_text(b, en->name, strlen(en->name));
    if (en->path) {
        strbuf_puts(b, ",\"path\":");
        jsontext_add_text(b, en->path, strlen(en->path));
    }
    strbuf_puts(b, en->is_directory ? ",\"isDirectory\":true" : ",\"isDirectory\":false");
    if (!en->is_directory)
        strbuf_printf(b, ",\"size\":%llu", (unsigned long long)en->size);
    if (en->mtime_us) {
        timefmt_wire(en->mtime_us, when);
        strbuf_concat(b, ",\"modifiedTime\":\"", when, "\"");
    }
    strbuf_puts(b, "}");
}

/* --- bytes ------------------------------------------------------------------------------------ */

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

const char *type_of(const char *name)
{
    static const struct {
        const char *end, *type;
    } types[] = {
        {".txt", "text/plain; charset=utf-8"},
        {".log", "text/plain; charset=utf-8"},
        {".csv", "text/csv; charset=utf-8"},
        {".json", "application/json"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".jpeg", "image/jpeg"},
        {".gif", "image/gif"},
        {".webp", "image/webp"},
        {".bmp", "image/bmp"},
    };
    const char *dot = strrchr(base_name(name), '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++)
        if (strcasecmp(dot, types[i].end) == 0)
            return types[i].type;
    return "application/octet-stream";
}

int read_download(struct request *r, bool *out, struct err *e)
{
    const char *text = request_query(r, "download");
    *out = text && strcasecmp(text, "true") == 0;
    if (!text || *out || strcasecmp(text, "false") == 0)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "download",
                   "'%.100s' is not a valid value of download; use true or false", text);
}
