/* SPDX-License-Identifier: MIT
 *
 * The members of a row's properties that requests do not set by property headers.
 */
#include "api/plane/storage/beside.h"

#include <string.h>

#include "lib/jsontext.h"

static const char *const names[] = {BESIDE_TIER, BESIDE_REHYDRATION, BESIDE_SEALED};
#define NAMES (sizeof names / sizeof *names)

const char *const beside_tiers[] = {"Hot", "Cool", "Cold", "Archive", NULL};

bool beside_tier_is_known(const char *tier)
{
    for (const char *const *name = beside_tiers; tier && *name; name++)
        if (strcmp(tier, *name) == 0)
            return true;
    return false;
}

json_t *beside_open(const struct share_item *i)
{
    json_t *doc = i->properties ? json_loads(i->properties, 0, NULL) : NULL;
    return doc ? doc : json_object();
}

void beside_close(struct arena *a, struct share_item *i, json_t *doc)
{
    i->properties = jsontext_filled_in(a, doc);
}

void beside_keep(struct arena *a, const char *was, struct share_item *i)
{
    json_auto_t *old = was ? json_loads(was, 0, NULL) : NULL;
    json_t *doc = beside_open(i);
    for (size_t k = 0; k < NAMES; k++) {
        json_t *value = json_object_get(old, names[k]);
        if (value)
            json_object_set(doc, names[k], value);
    }
    beside_close(a, i, doc);
}

void beside_drop(struct arena *a, struct share_item *i)
{
    json_t *doc = beside_open(i);
    for (size_t k = 0; k < NAMES; k++)
        json_object_del(doc, names[k]);
    beside_close(a, i, doc);
}

bool beside_is_sealed(const struct share_item *i)
{
    if (!i->properties || !strstr(i->properties, BESIDE_SEALED))
        return false;
    json_auto_t *doc = beside_open(i);
    return json_is_true(json_object_get(doc, BESIDE_SEALED));
}

void beside_seal(struct arena *a, struct share_item *i)
{
    json_t *doc = beside_open(i);
    json_object_set_new(doc, BESIDE_SEALED, json_true());
    beside_close(a, i, doc);
}
