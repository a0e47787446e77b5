/* SPDX-License-Identifier: MIT */
#include "daemon/config/config_places.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/fs.h"

enum { MAX_FILE = 1 << 20, STEPS_MAX = 8 };

int config_places_read(const char *file, struct config_places *out, struct err *e)
{
    static const struct yaml_rules rules = {.depth_max = 16, .all_texts = true};
    char *text;
    size_t len;
    struct yaml_place at;
    *out = (struct config_places){.file = xstrdup(file)};
    if (fs_read(file, MAX_FILE, &text, &len, e) < 0) {
        e->code = ERR_CONFIG;
        return -1;
    }
    int rc = yaml_doc_read(text, len, &rules, &out->doc, &at, e);
    free(text);
    if (rc < 0) {
        if (*e->target)
            err_prefix(e, "%s", e->target);
        e->code = ERR_CONFIG;
        *e->target = '\0';
        err_prefix(e, "%s:%zu", file, at.line);
    }
    return rc;
}

void config_places_free(struct config_places *p)
{
    yaml_doc_free(&p->doc);
    free(p->file);
    p->file = NULL;
}

void config_path(char out[CONFIG_PATH_SIZE], const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(out, CONFIG_PATH_SIZE, fmt, args);
    va_end(args);
}

/* Finds the line of a path, followed by a key (or NULL). If the file lacks it, finds the line of
 * the nearest enclosing value; 0 if that is the whole file. *whole: whether the file contains
 * it. */
static int find_line(const struct config_places *p, const char *path, const char *key, bool *whole)
{
    char names[CONFIG_PATH_SIZE];
    const char *steps[STEPS_MAX + 1];
    struct yaml_place at;
    size_t n = 0;
    snprintf(names, sizeof names, "%s", path);
    for (char *rest, *name = strtok_r(names, ".[]", &rest); name && n < STEPS_MAX;
         name = strtok_r(NULL, ".[]", &rest))
        steps[n++] = name;
    if (key)
        steps[n++] = key;
    size_t found = yaml_doc_place(&p->doc, steps, n, &at);
    *whole = found == n;
    return found ? (int)at.line : 0;
}

int config_place_line(const struct config_places *p, const char *path)
{
    bool whole;
    return find_line(p, path, NULL, &whole);
}

int config_place_blame_key(const struct config_places *p, const char *path, const char *key,
                           struct err *e)
{
    const char *file = p->file ? p->file : "(defaults)";
    size_t len = strlen(path);
    bool whole;
    int line = find_line(p, path, key, &whole);
    /* If a single text stands in place of a list, the file has no items, so the index is left
     * out. */
    if (!whole && len && path[len - 1] == ']')
        len = (size_t)(strrchr(path, '[') - path);
    if (len)
        err_prefix(e, "%.*s", (int)len, path);
    return line ? err_prefix(e, "%s:%d", file, line) : err_prefix(e, "%s", file);
}

int config_place_blame(const struct config_places *p, const char *path, struct err *e)
{
    return config_place_blame_key(p, path, NULL, e);
}
