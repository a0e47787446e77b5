/* SPDX-License-Identifier: MIT
 *
 * Compares two sites machine by machine, and two configurations setting by setting.
 */
#include "daemon/serve/changes.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- machines; in both sites they are sorted by name ------------------------------------------ */

struct named {
    const struct site_machine *m;
    const struct config_group *group;
};

static int by_name(const void *pa, const void *pb)
{
    const struct named *a = pa, *b = pb;
    return strcasecmp(a->m->name, b->m->name);
}

static struct named *sorted(struct arena *a, const struct daemon_site *s, const struct config *c)
{
    size_t n = s->site.n_machines;
    const struct config_group *groups = c->inventory.items;
    struct named *all = arena_alloc(a, (n + 1) * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = (struct named){&s->machines[i], &groups[s->machines[i].group - s->groups]};
    qsort(all, n, sizeof *all, by_name);
    return all;
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The same password_file may have another password. */
static bool is_same(const struct named *a, const struct named *b)
{
    return strcmp(a->m->host, b->m->host) == 0 && a->m->port == b->m->port &&
           config_same_group(a->group, b->group) &&
           is_same_text(a->m->group->password, b->m->group->password);
}

static void add(json_t *list, const struct named *n)
{
    json_array_append_new(list, json_string(n->m->name));
}

static json_t *machines(const struct changes_of *of)
{
    struct arena a;
    arena_init(&a);
    struct named *old = sorted(&a, of->site, of->live);
    struct named *fresh = sorted(&a, of->fresh_site, of->fresh);
    size_t n_old = of->site->site.n_machines, n_fresh = of->fresh_site->site.n_machines;
    json_t *added = json_array(), *removed = json_array(), *changed = json_array();
    for (size_t i = 0, k = 0; i < n_old || k < n_fresh;) {
        int order = i == n_old ? 1 : k == n_fresh ? -1 : by_name(&old[i], &fresh[k]);
        if (order < 0)
            add(removed, &old[i]);
        else if (order > 0)
            add(added, &fresh[k]);
        else if (!is_same(&old[i], &fresh[k]))
            add(changed, &fresh[k]);
        i += order <= 0;
        k += order >= 0;
    }
    arena_free(&a);
    return json_pack("{s:o, s:o, s:o}", "added", added, "removed", removed, "changed", changed);
}

/* --- settings --------------------------------------------------------------------------------- */

struct changed_settings {
    json_t *settings, *after_restart;
};

static void note(void *ctx, const char *name, bool live)
{
    struct changed_settings *f = ctx;
    json_array_append_new(live ? f->settings : f->after_restart, json_string(name));
}

json_t *changes_find(const struct changes_of *of)
{
    struct changed_settings f = {json_array(), json_array()};
    config_changes(of->live, of->start, of->fresh, note, &f);
    return json_pack("{s:o, s:o, s:o}", "machines", machines(of), "settings", f.settings,
                     "afterRestart", f.after_restart);
}

bool changes_any_live(const json_t *changes)
{
    const json_t *machines = json_object_get(changes, "machines");
    return json_array_size(json_object_get(changes, "settings")) > 0 ||
           json_array_size(json_object_get(machines, "changed")) > 0;
}

static const char *joined(struct arena *a, const char *first, const char *second)
{
    return first ? arena_concat(a, first, ", ", second) : second;
}

static const char *keys(struct arena *a, const json_t *list)
{
    const char *text = NULL;
    for (size_t i = 0; i < json_array_size(list); i++)
        text = joined(a, text, json_string_value(json_array_get(list, i)));
    return text;
}

const char *changes_text(struct arena *a, const json_t *changes, bool after_restart)
{
    static const char *const kinds[][2] = {
        {"added", "more"}, {"removed", "less"}, {"changed", "changed"}};
    const char *text =
        keys(a, json_object_get(changes, after_restart ? "afterRestart" : "settings"));
    for (size_t i = 0; !after_restart && i < sizeof kinds / sizeof *kinds; i++) {
        size_t n =
            json_array_size(json_object_get(json_object_get(changes, "machines"), kinds[i][0]));
        if (n > 0)
            text = joined(
                a, text,
                arena_printf(a, "%zu %s %s", n, n == 1 ? "machine" : "machines", kinds[i][1]));
    }
    return text;
}
