/* SPDX-License-Identifier: MIT
 *
 * Finds the resources that a request's path names, and writes regions and ids of resources as Azure
 * does. If a resource is missing, the error names it. Rows are in the request's arena.
 */
#include "api/arm/lookup.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/arm/errors.h"
#include "storage/storage.h"

const char *arm_subscription(struct request *r)
{
    const struct access *x = arm_of(r)->access;
    bool named = r->n_segments > 1 && strcasecmp(r->segment[0], "subscriptions") == 0;
    return named ? access_subscription_id(x, &r->arena, r->segment[1]) : x->subscription_id;
}

int find_subscription(struct request *r, struct err *e)
{
    struct subscription found;
    const char *s = request_param(r, "subscription");
    int rc = access_subscription(arm_of(r)->access, &r->arena, s, &found, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return err_set(e, ARM_SUBSCRIPTION_NOT_FOUND, NULL,
                   "The subscription '%.100s' could not be found.", s);
}

int find_group(struct request *r, struct resource_group *g, struct err *e)
{
    if (find_subscription(r, e) < 0)
        return -1;
    const char *name = request_param(r, "group");
    int rc = st_group_get(arm_of(r)->storage, &r->arena, arm_subscription(r), name, g, e);
    if (rc == 0)
        return err_set(e, ERR_GROUP_NOT_FOUND, NULL, "Resource group '%.100s' could not be found.",
                       name);
    return rc < 0 ? -1 : 0;
}

int check_group_alive(const struct resource_group *g, struct err *e)
{
    if (g->prov_state != PROV_DELETING)
        return 0;
    return err_set(e, ARM_GROUP_BEING_DELETED, NULL,
                   "The resource group '%s' is in deprovisioning state and cannot perform this "
                   "operation.",
                   g->name);
}

int check_alive(const char *what, const char *name, enum prov_state state, struct err *e)
{
    if (state != PROV_DELETING)
        return 0;
    return err_set(e, ERR_BEING_DELETED, NULL,
                   "The %s %.100s is being deleted; wait until the deletion has finished.", what,
                   name);
}

const char *region_name(struct arena *a, const char *location)
{
    char *out = arena_strdup(a, location ? location : "local"), *w = out;
    for (char *p = out; *p; p++)
        if (*p != ' ')
            *w++ = (char)tolower((unsigned char)*p);
    *w = '\0';
    return out;
}

bool same_region(struct arena *a, const char *one, const char *other)
{
    return strcmp(region_name(a, one), region_name(a, other)) == 0;
}

const char *resource_id(struct arena *a, const char *provider, const struct scope *s,
                        const char *collection, const char *name)
{
    const char *w = s->workspace, *x = s->experiment;
    char *group = arena_strdup(a, s->group);
    for (char *p = group; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return arena_concat(a, "/subscriptions/", s->subscription, "/resourceGroups/", group,
                        "/providers/", provider, w ? "/workspaces/" : "", w ? w : "",
                        x ? "/experiments/" : "", x ? x : "", "/", collection, "/", name);
}

/* --- secrets ---------------------------------------------------------------------------------- */

void arm_show_secrets(struct request *r, struct strbuf *out, int64_t id,
                      int (*get)(struct storage *st, struct arena *a, int64_t id,
                                 const char **secrets, struct err *e))
{
    struct err e;
    const char *secrets = NULL;
    if (!r->dumps)
        return;
    if (get(arm_of(r)->storage, &r->arena, id, &secrets, &e) < 0) {
        *r->dumps = e;
    } else if (secrets) {
        strbuf_cut(out, out->len - 1);
        strbuf_concat(out, ",\"secrets\":", secrets, "}");
    }
}
