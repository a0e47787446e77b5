/* SPDX-License-Identifier: MIT
 *
 * Converts and compares the two paths of a resource that versions without workspaces see. Pure
 * functions of texts; they keep nothing.
 */
#include "model/home.h"

#include <ctype.h>
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

/* The length of what both texts begin with; names are compared without regard to case. */
static size_t common(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && tolower((unsigned char)a[n]) == tolower((unsigned char)b[n]))
        n++;
    return n;
}

static bool within(const char *path, const char *outer)
{
    size_t n = strlen(outer);
    return starts(path, outer) && (path[n] == '\0' || path[n] == '/');
}

/* The long form of a short path is `above`, a slash and `rest`. Both begin behind the provider. */
struct long_path {
    const char *above, *rest;
};

static bool lengthen(const char *shorter, struct long_path *out)
{
    bool job = starts(shorter, "jobs/");
    if (!job && !starts(shorter, "clusters/") && !starts(shorter, "fileServers/"))
        return false;
    *out = (struct long_path){job ? "workspaces/" HOME_WORKSPACE "/experiments/" HOME_EXPERIMENT
                                  : "workspaces/" HOME_WORKSPACE,
                              shorter};
    return true;
}

bool home_path_within(const char *path, const char *outer)
{
    struct long_path is;
    size_t n = common(path, outer), provider = strlen(PROVIDER);
    if (n < provider || !starts(path + n - provider, PROVIDER))
        return false;
    const char *in = path + n, *out = outer + n;
    if (lengthen(out, &is)) {
        size_t above = strlen(is.above);
        return within(in, is.above) && in[above] == '/' && within(in + above + 1, is.rest);
    }
    if (!lengthen(in, &is))
        return false;
    size_t above = strlen(is.above);
    if (within(is.above, out))
        return true;
    return within(out, is.above) && out[above] == '/' && within(is.rest, out + above + 1);
}
