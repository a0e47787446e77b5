/* SPDX-License-Identifier: MIT */
#include "api/arm/account.h"

#include <stdlib.h>
#include <string.h>

#include "api/arm/lookup.h"
#include "api/arm/operation.h"
#include "lib/jsontext.h"

enum { NAME_LEAST = 3, NAME_MOST = 24 };

bool account_name_is_valid(const char *name)
{
    size_t n = strlen(name);
    return n >= NAME_LEAST && n <= NAME_MOST &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789") == n;
}

json_t *account_name_reply(const char *reason, const char *message)
{
    if (!reason)
        return json_pack("{s:b}", "nameAvailable", 1);
    return json_pack("{s:b, s:s, s:o}", "nameAvailable", 0, "reason", reason, "message",
                     jsontext_string(message));
}

int account_check_location(struct request *r, const char *name, const struct scope *at,
                           const json_t *doc, int kind, struct err *e)
{
    const char *location = json_string_value(json_object_get(doc, "location"));
    if (!location || same_region(&r->arena, location, at->location))
        return 0;
    return err_set(e, kind, "location",
                   "The resource '%s' already exists in location '%s' in resource group '%s'. A "
                   "resource with the same name cannot be created in location '%.100s'.",
                   name, at->location, at->group, location);
}

const char *account_given_tags(struct account_given *g, const char *there)
{
    const json_t *tags = json_object_get(g->doc, "tags");
    if (tags)
        g->tags = jsontext(tags);
    return tags ? g->tags : there;
}

void account_given_free(struct account_given *g)
{
    json_decref(g->doc);
    free(g->text);
    free(g->tags);
}

const char *account_provisioning(const struct request *r, const struct scope *at,
                                 enum pace_step step, int64_t created_us)
{
    return creation_look(r, at->subscription, step, &created_us) ? "Creating" : "Succeeded";
}
