/* SPDX-License-Identifier: MIT
 *
 * A name occurs once in the list: setting it again replaces the value. Only variables in the list
 * are expanded in paths; no shell is used.
 */
#include "scheduler/fleet/script/env.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "lib/strbuf.h"

void env_init(struct env *v, struct arena *a)
{
    *v = (struct env){.a = a};
}

static struct kv *env_slot(struct env *v)
{
    if (v->n == v->cap) {
        size_t cap = v->cap ? v->cap * 2 : 32;
        struct kv *items = arena_alloc(v->a, cap * sizeof *items);
        if (v->n > 0)
            memcpy(items, v->items, v->n * sizeof *items);
        v->items = items;
        v->cap = cap;
    }
    return &v->items[v->n++];
}

void env_set(struct env *v, const char *name, const char *value)
{
    *env_slot(v) = (struct kv){.name = name, .value = value};
}

void env_add(struct env *v, const struct kv *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *env_slot(v) = items[i];
}

const char *env_get(const struct env *v, const char *name)
{
    for (size_t i = v->n; i-- > 0;)
        if (strcmp(v->items[i].name, name) == 0)
            return v->items[i].value;
    return NULL;
}

static const char *var_name(const struct env *v, const char *name, const char *id)
{
    return id ? arena_concat(v->a, name, id) : name;
}

void env_set_var(struct env *v, const struct front_words *w, enum front_var var, const char *id,
                 const char *value)
{
    size_t i = 0;
    const char *name;
    while ((name = front_var_next(w, var, &i)))
        env_set(v, var_name(v, name, id), value);
}

const char *env_get_var(const struct env *v, const struct front_words *w, enum front_var var,
                        const char *id)
{
    size_t i = 0;
    const char *name = front_var_next(w, var, &i);
    return name ? env_get(v, var_name(v, name, id)) : NULL;
}

static size_t name_length(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_')
        return 0;
    size_t n = 1;
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

/* Reads a reference at `s` (right after a "$"): the place and length of its name. Returns how many
 * characters the reference takes up; 0: not a reference. */
static size_t reference(const char *s, const char **name, size_t *name_len)
{
    bool braces = *s == '{';
    *name = s + braces;
    *name_len = name_length(*name);
    if (*name_len == 0 || (braces && (*name)[*name_len] != '}'))
        return 0;
    return *name_len + (braces ? 2 : 0);
}

const char *env_expand(const struct env *v, const char *text, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    const char *result = NULL;
    for (const char *p = text; *p;) {
        const char *name;
        size_t len, taken = *p == '$' ? reference(p + 1, &name, &len) : 0;
        if (taken == 0) {
            strbuf_putc(&b, *p++);
            continue;
        }
        char *copy = arena_strndup(v->a, name, len);
        const char *value = env_get(v, copy);
        if (!value) {
            err_set(e, ERR_INVALID_PROPERTY, NULL, "path \"%s\" names $%s, which is not set", text,
                    copy);
            goto out;
        }
        strbuf_puts(&b, value);
        p += 1 + taken;
    }
    result = arena_strndup(v->a, b.s ? b.s : "", b.len);
out:
    strbuf_free(&b);
    return result;
}

const char *node_mount_root(struct arena *a, const struct front_words *w, const char *node_root)
{
    return arena_concat(a, node_root, "/", w->mounts_dir);
}
