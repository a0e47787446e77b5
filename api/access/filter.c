/* SPDX-License-Identifier: MIT */
#include "api/access/filter.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Replaces each doubled quote by one quote. False: `s` contains a quote that is not doubled. */
static bool unquote(char *s)
{
    char *to = s;
    for (; *s; s++) {
        if (*s == '\'' && s[1] != '\'')
            return false;
        s += *s == '\'';
        *to++ = *s;
    }
    *to = '\0';
    return true;
}

static bool has_form(struct arena *a, const char *filter, const char *form, const char **text)
{
    const char *at = strchr(form, '%');
    *text = NULL;
    if (!at)
        return strcasecmp(filter, form) == 0;
    size_t before = (size_t)(at - form), after = strlen(at + 1), n = strlen(filter);
    if (n < before + after + 2 || strncasecmp(filter, form, before) != 0 ||
        strcasecmp(filter + n - after, at + 1) != 0 || filter[before] != '\'' ||
        filter[n - after - 1] != '\'')
        return false;
    char *inner = arena_strndup(a, filter + before + 1, n - before - after - 2);
    *text = inner;
    return unquote(inner);
}

int filter_form(struct arena *a, const char *filter, const char *const *forms, const char **text)
{
    for (int i = 0; forms[i]; i++)
        if (has_form(a, filter, forms[i], text))
            return i;
    return -1;
}
