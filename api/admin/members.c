/* SPDX-License-Identifier: MIT */
#include "api/admin/members.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

const char *query_filled(struct request *r, const char *name)
{
    const char *text = request_query(r, name);
    return text && *text ? text : NULL;
}

static bool is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncasecmp(text, word, n) == 0;
}

bool words_have(const char *text, const char *word)
{
    for (const char *p = text; *p; p += *p == ',') {
        size_t n = strcspn(p, ",");
        if (is_word(p, n, word))
            return true;
        p += n;
    }
    return false;
}

static bool is_among(const char *text, size_t n, const char *const *names)
{
    for (; *names; names++)
        if (is_word(text, n, *names))
            return true;
    return false;
}

/* "a, b or c" */
static const char *joined(struct arena *a, const char *const *names)
{
    const char *text = *names;
    for (names++; *names; names++)
        text = arena_concat(a, text, names[1] ? ", " : " or ", *names);
    return text;
}

int words_check(struct request *r, const char *parameter, const char *what, const char *text,
                const char *const *names, struct err *e)
{
    for (const char *p = text; p && *p; p += *p == ',') {
        size_t n = strcspn(p, ",");
        if (!is_among(p, n, names))
            return err_set(e, ERR_INVALID_QUERY, parameter, "'%.*s' is not a valid %s; use %s",
                           n > 100 ? 100 : (int)n, p, what, joined(&r->arena, names));
        p += n;
    }
    return 0;
}

int members_wanted(struct request *r, const struct member *table, const char *of, uint64_t *wanted,
                   struct err *e)
{
    const char *names[MEMBERS_MAX + 1] = {NULL}, *fields = query_filled(r, "fields");
    size_t n = 0;
    *wanted = 0;
    for (; table[n].name; n++) {
        assert(n < MEMBERS_MAX);
        names[n] = table[n].name;
        if (!fields || words_have(fields, table[n].name))
            *wanted |= UINT64_C(1) << n;
    }
    return words_check(r, "fields", arena_concat(&r->arena, "member of ", of), fields, names, e);
}

json_t *members_show(struct request *r, const struct member *table, uint64_t wanted,
                     const void *row)
{
    json_t *out = json_object();
    for (size_t i = 0; table[i].name; i++) {
        json_t *value = wanted >> i & 1 ? table[i].show(r, row) : NULL;
        if (value)
            json_object_set_new_nocheck(out, table[i].name, value);
    }
    return out;
}

uint64_t members_bit(const struct member *table, const char *name)
{
    size_t i = 0;
    while (strcmp(table[i].name, name) != 0)
        i++;
    return UINT64_C(1) << i;
}
