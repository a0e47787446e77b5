/* SPDX-License-Identifier: MIT
 *
 * Keeps the entries of a list until all sources (share or nodes) have replied, sorts them, and
 * writes one page. The list owns its entries; file_list_release() frees them with the request.
 * Called only on the loop's thread.
 */
#include "api/arm/batchai/file_list.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/front/batchai/batchai.h"

#define US_PER_MINUTE 60000000LL

void file_list_add(struct file_list *l, const char *name, bool is_dir, int64_t size,
                   int64_t mtime_us)
{
    if ((l->n & (l->n - 1)) == 0)
        l->entry = xrealloc(l->entry, (l->n ? l->n * 2 : 1) * sizeof *l->entry);
    l->entry[l->n++] = (struct file_entry){
        .name = xstrdup(name), .is_dir = is_dir, .size = size, .mtime_us = mtime_us};
}

bool file_list_has(const struct file_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->entry[i].name, name) == 0)
            return true;
    return false;
}

void file_list_release(void *list)
{
    struct file_list *l = list;
    for (size_t i = 0; i < l->n; i++)
        free(l->entry[i].name);
    free(l->entry);
}

/* A file with the properties of all api-versions; schema_file selects those of one version. */
static json_t *canonical(struct file_list *l, const struct file_entry *en)
{
    json_t *o = json_pack("{s:o, s:s, s:b}", "name", json_string(en->name), "fileType",
                          en->is_dir ? "directory" : "file", "isDirectory", en->is_dir);
    if (!o || en->is_dir)
        return o;
    struct request *r = l->r;
    char when[TIMEFMT_SIZE];
    timefmt_seconds(en->mtime_us, when);
    struct file_ref f = l->dir;
    f.path = *f.path ? arena_printf(&r->arena, "%s/%s", f.path, en->name) : en->name;
    json_object_set_new(
        o, "downloadUrl",
        json_string(link_create(r, &f, r->now_us + l->expiry_minutes * US_PER_MINUTE)));
    json_object_set_new(
        o, "properties",
        json_pack("{s:s, s:I}", "lastModified", when, "contentLength", (json_int_t)en->size));
    return o;
}

static void add(struct file_list *l, const struct file_entry *en, int64_t id)
{
    json_auto_t *o = canonical(l, en);
    struct strbuf *out = o ? page_row_of_id(l->page, id) : NULL;
    if (out)
        schema_render_tree(out, &schema_file, l->r->version, o);
}

static bool is_sorted(const struct file_list *l)
{
    for (size_t i = 1; i < l->n; i++)
        if (file_entry_by_name(&l->entry[i - 1], &l->entry[i]) > 0)
            return false;
    return true;
}

static size_t first_of(const struct file_list *l)
{
    const struct file_entry last = {.name = (char *)l->page->after};
    size_t i = 0;
    if (!l->show)
        return (size_t)page_after_id(l->page);
    while (*l->page->after && i < l->n && file_entry_by_name(&l->entry[i], &last) <= 0)
        i++;
    return i;
}

static void hide_log(struct file_list *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->n; i++)
        if (front_is_log_name(&batchai_front_words, l->entry[i].name))
            free(l->entry[i].name);
        else
            l->entry[kept++] = l->entry[i];
    l->n = kept;
}

struct replied *file_list_reply(struct file_list *l)
{
    if (l->hides_log)
        hide_log(l);
    if (!is_sorted(l))
        qsort(l->entry, l->n, sizeof *l->entry, file_entry_by_name);
    for (size_t i = first_of(l); i < l->n && !l->page->more; i++)
        if (l->show)
            l->show(l, &l->entry[i]);
        else
            add(l, &l->entry[i], (int64_t)i + 1); /* id: its position, from 1 on */
    struct replied *done = page_reply(l->page);
    request_release(l->r); /* a client may take long to read the reply */
    return done;
}
