/* SPDX-License-Identifier: MIT
 *
 * Variables of the environment; the case of their names does not matter.
 */
#include <ctype.h>
#include <string.h>

#include "nodeagent-proto/windows/windows_priv.h"

static struct cmd_variable *find(const struct variables *v, const char *name)
{
    for (size_t i = 0; i < v->count; i++)
        if (same_name(v->all[i].name, name) == 0)
            return &v->all[i];
    return NULL;
}

const char *variables_get(const struct variables *v, const char *name)
{
    struct cmd_variable *found = find(v, name);
    return found ? found->value : NULL;
}

void variables_set(struct variables *v, const char *name, const char *value)
{
    struct cmd_variable *found = find(v, name);
    if (!value) {
        if (found)
            *found = v->all[--v->count];
        return;
    }
    if (!found) {
        if (v->count == v->room) {
            v->room = v->room ? v->room * 2 : 64;
            struct cmd_variable *more = arena_alloc(v->arena, v->room * sizeof *more);
            if (v->count > 0)
                memcpy(more, v->all, v->count * sizeof *more);
            v->all = more;
        }
        found = &v->all[v->count++];
        found->name = arena_strdup(v->arena, name);
    }
    found->value = arena_strdup(v->arena, value);
}

void variables_init(struct variables *v, struct arena *a, char *const *environment)
{
    *v = (struct variables){.arena = a};
    for (; environment && *environment; environment++) {
        const char *equals = strchr(*environment, '=');
        if (!equals || equals == *environment)
            continue;
        variables_set(v, arena_strndup(a, *environment, (size_t)(equals - *environment)),
                      equals + 1);
    }
}

char **variables_environment(const struct variables *v, const char *path)
{
    char **out = arena_alloc(v->arena, (v->count + 2) * sizeof *out);
    size_t n = 0;
    for (size_t i = 0; i < v->count; i++)
        if (same_name(v->all[i].name, "PATH") != 0)
            out[n++] = arena_concat(v->arena, v->all[i].name, "=", v->all[i].value);
    out[n] = arena_concat(v->arena, "PATH=", path);
    return out;
}
