/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/access/filter.h"
#include "api/arm/authorization/handlers.h"

#define MADE "2015-02-02T21:55:09Z" /* the creation date of Azure's built-in roles */

const char *role_definition_id(struct request *r, const char *guid)
{
    return arena_concat(&r->arena, "/subscriptions/", authorization_of(r)->access->subscription_id,
                        "/providers/Microsoft.Authorization/roleDefinitions/", guid);
}

static void add_patterns(json_t *to, const char *const *patterns)
{
    for (; *patterns; patterns++)
        json_array_append_new(to, json_string(*patterns));
}

static json_t *list_of(const char *const *patterns, const char *const *more)
{
    json_t *out = json_array();
    add_patterns(out, patterns);
    add_patterns(out, more);
    return out;
}

static json_t *render(struct request *r, const struct role *role)
{
    static const char *const none[] = {NULL};
    json_t *permissions = json_pack(
        "{s:o, s:o, s:o, s:o}", "actions", list_of(role->actions, role->own_actions), "notActions",
        list_of(role->not_actions, none), "dataActions", list_of(role->data_actions, none),
        "notDataActions", list_of(role->not_data_actions, none));
    json_t *properties =
        json_pack("{s:s, s:s, s:s, s:[s], s:[o], s:s, s:s}", "roleName", role->name, "type",
                  "BuiltInRole", "description", role->description, "assignableScopes", "/",
                  "permissions", permissions, "createdOn", MADE, "updatedOn", MADE);
    return json_pack("{s:s, s:s, s:s, s:o}", "id", role_definition_id(r, role->guid), "type",
                     "Microsoft.Authorization/roleDefinitions", "name", role->guid, "properties",
                     properties);
}

static const char *const forms[] = {"roleName eq %", "type eq %", "atScopeAndBelow()", NULL};
enum { BY_NAME, BY_TYPE };

struct replied *role_definitions_list(struct request *r)
{
    const char *filter = request_query(r, "$filter"), *text = NULL;
    int form = filter && *filter ? filter_form(&r->arena, filter, forms, &text) : BY_TYPE + 1;
    struct err e;
    if (form < 0) {
        err_set(&e, ERR_INVALID_QUERY, "$filter",
                "The filter '%.200s' is not served; roleName eq 'NAME' is.", filter);
        return reply_err(r, &e);
    }
    json_t *value = json_array();
    for (size_t i = 0; i < n_roles; i++) {
        bool wanted = form == BY_NAME   ? strcasecmp(roles[i].name, text) == 0
                      : form == BY_TYPE ? strcasecmp("BuiltInRole", text) == 0
                                        : true;
        if (wanted)
            json_array_append_new(value, render(r, &roles[i]));
    }
    return reply_json(r, 200, json_pack("{s:o}", "value", value));
}

struct replied *role_definitions_get(struct request *r)
{
    const char *guid = request_param(r, "name");
    const struct role *role = role_by_guid(guid);
    struct err e;
    if (role)
        return reply_json(r, 200, render(r, role));
    err_set(&e, ROLES_NO_DEFINITION, NULL,
            "The specified role definition with ID '%.100s' does not exist.", guid);
    return reply_err(r, &e);
}
