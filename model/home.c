/* SPDX-License-Identifier: MIT */
#include "model/home.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

#define PROVIDER   "/providers/Microsoft.BatchAI/"
#define WORKSPACE  "workspaces/" HOME_WORKSPACE "/"
#define EXPERIMENT "experiments/" HOME_EXPERIMENT "/"

bool home_has(const struct scope *s)
{
    return s->workspace && strcasecmp(s->workspace, HOME_WORKSPACE) == 0 &&
           (!s->experiment || strcasecmp(s->experiment, HOME_EXPERIMENT) == 0);
}

/* Returns the part of the id after the provider; NULL: the id has no such part. */
static const char *below_provider(const char *id)
{
    const char *p = strcasestr(id, PROVIDER);
    return p ? p + strlen(PROVIDER) : NULL;
}

static bool starts(const char *s, const char *with)
{
    return strncasecmp(s, with, strlen(with)) == 0;
}

/* Joins the part of `id` before `until`, middle and tail. The caller frees. */
static char *joined(const char *id, const char *until, const char *middle, const char *tail)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_add(&b, id, (size_t)(until - id));
    strbuf_puts(&b, middle);
    strbuf_puts(&b, tail);
    return strbuf_take(&b);
}

char *home_long_id(const char *id)
{
    const char *rest = below_provider(id);
    if (!rest || !(starts(rest, "clusters/") || starts(rest, "fileServers/")))
        return NULL;
    return joined(id, rest, WORKSPACE, rest);
}

char *home_short_id(const char *id)
{
    const char *rest = below_provider(id);
    if (!rest || !starts(rest, WORKSPACE))
        return NULL;
    const char *below = rest + strlen(WORKSPACE);
    if (starts(below, "experiments/")) {
        if (!starts(below, EXPERIMENT))
            return NULL;
        below += strlen(EXPERIMENT);
    }
    return joined(id, rest, "", below);
}
