/* SPDX-License-Identifier: MIT
 *
 * Common parts of the functions that change old commands: where a resource was in old versions, and
 * where it is today.
 */
#include "daemon/cli/az_change.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/url.h"
#include "daemon/cli/client.h"
#include "lib/guid.h"
#include "model/home.h"

const char *az_change_escaped(struct az_change *c, const char *text, bool keep_slash)
{
    struct strbuf b = STRBUF_INIT;
    url_encode(&b, text, keep_slash);
    const char *escaped = arena_strdup(c->arena, b.s ? b.s : "");
    strbuf_free(&b);
    return escaped;
}

static const char *scope_of(struct az_change *c, const char *group)
{
    const char *scope = arena_concat(c->arena, "/subscriptions/", c->subscription);
    return group ? arena_concat(c->arena, scope, "/resourceGroups/", group) : scope;
}

const char *az_change_scope(struct az_change *c, const char *group)
{
    return az_change_escaped(c, scope_of(c, group), true);
}

int az_change_group(struct az_change *c, const char **out, struct err *e)
{
    const struct az_option *o = az_line_find(&c->line, AZ_GROUP);
    const char *group = o ? az_line_value(&c->line, AZ_GROUP) : c->facts->group;
    bool all = (c->form->place & ANY_GROUP) != 0;
    *out = group && *group ? group : NULL;
    if (*out || all)
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   o ? "az %s: %s has no value; use: -g GROUP"
                     : "az %s needs a resource group: %s GROUP, or once: az configure -d "
                       "group=GROUP",
                   c->form->words, o ? o->name : "-g");
}

static int no_group(const char *group, struct err *e)
{
    return err_set(e, ERR_GROUP_NOT_FOUND, NULL,
                   "the resource group '%s' does not exist; create it with: az group create -n %s "
                   "-l eastus",
                   group, group);
}

/* Sends a GET. A 404 is no error, and leaves *out NULL. */
static int look(struct az_change *c, const char *path, json_t **out, struct err *e)
{
    long status = 0;
    *out = NULL;
    if (az_daemon_look(c->facts->daemon, path, &status, out, e) < 0)
        return -1;
    if (status < HTTP_REFUSE)
        return 0;
    const char *text = "";
    (void)json_unpack(*out, "{s:{s:s}}", "error", "message", &text);
    int rc = status == HTTP_NOT_FOUND
                 ? 0
                 : err_set(e, ERR_UNAVAILABLE, NULL, "the daemon refuses GET %s: %s", path, text);
    json_decref(*out);
    *out = NULL;
    return rc;
}

/* The id of the subscription with this display name. az compares names without case; several
 * subscriptions may have one name. */
static int find_subscription(struct az_change *c, const char *name, struct err *e)
{
    json_t *reply, *one;
    size_t i, found = 0;
    if (look(c, "/subscriptions?api-version=2019-11-01", &reply, e) < 0)
        return -1;
    json_array_foreach(json_object_get(reply, "value"), i, one) {
        const char *id = "", *its = "";
        (void)json_unpack(one, "{s:s, s:s}", "subscriptionId", &id, "displayName", &its);
        if (strcasecmp(its, name) == 0 && ++found)
            c->subscription = arena_strdup(c->arena, id);
    }
    json_decref(reply);
    if (found == 1)
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   found ? "az %s: several subscriptions have the name '%s'; use the id of one: "
                           "batchaid subscription list"
                         : "az %s: '%s' is not a subscription; the subscriptions: batchaid "
                           "subscription list",
                   c->form->words, name);
}

int az_change_subscription(struct az_change *c, struct err *e)
{
    const char *given = az_line_value(&c->line, AZ_SUBSCRIPTION);
    if (!az_line_find(&c->line, AZ_SUBSCRIPTION))
        return 0;
    if (!given || !*given)
        return err_set(e, ERR_CONFIG, NULL, "az %s: %s has no value; use: %s SUBSCRIPTION",
                       c->form->words, AZ_SUBSCRIPTION, AZ_SUBSCRIPTION);
    c->subscription = given;
    return guid_valid(given) ? 0 : find_subscription(c, given, e);
}

int az_change_location(struct az_change *c, const char *group, const char **out, struct err *e)
{
    json_t *reply;
    const char *given = az_line_value(&c->line, "-l --location");
    *out = given ? given : c->facts->location;
    if (*out)
        return 0;
    if (look(c, arena_concat(c->arena, az_change_scope(c, group), "?api-version=2021-04-01"),
             &reply, e) < 0)
        return -1;
    if (!reply)
        return no_group(group, e);
    *out = arena_strdup(c->arena, json_string_value(json_object_get(reply, "location")));
    json_decref(reply);
    return 0;
}

int az_change_has_place(struct az_change *c, const char *group, bool *out, const char **others,
                        struct err *e)
{
    json_t *reply, *workspace;
    size_t i;
    const char *path = arena_concat(c->arena, az_change_scope(c, group), AZ_PROVIDER, "/workspaces",
                                    "?api-version=", AZ_TODAY);
    *out = false;
    *others = "";
    if (look(c, path, &reply, e) < 0)
        return -1;
    if (!reply)
        return no_group(group, e);
    json_array_foreach(json_object_get(reply, "value"), i, workspace) {
        const char *name = json_string_value(json_object_get(workspace, "name"));
        *out = *out || strcasecmp(name, HOME_WORKSPACE) == 0;
        *others = arena_concat(c->arena, *others, **others ? ", " : "", name);
    }
    json_decref(reply);
    return 0;
}

int az_change_has_experiment(struct az_change *c, const char *group, bool *out, struct err *e)
{
    json_t *reply;
    const char *path =
        arena_concat(c->arena, az_change_scope(c, group), AZ_PROVIDER, "/workspaces/",
                     HOME_WORKSPACE, "/experiments/", HOME_EXPERIMENT, "?api-version=", AZ_TODAY);
    if (look(c, path, &reply, e) < 0)
        return -1;
    *out = reply != NULL;
    json_decref(reply);
    return 0;
}

int az_change_no_place(const struct az_change *c, const char *group, const char *others,
                       struct err *e)
{
    const char *more = c->form->place & IN_EXPERIMENT ? " -e EXPERIMENT" : "";
    if (*others)
        return err_set(e, ERR_WORKSPACE_NOT_FOUND, NULL,
                       "az %s without -w reads the workspace " HOME_WORKSPACE
                       ", which the resource group '%s' does not have; name one: -w WORKSPACE%s "
                       "(its workspaces: %s)",
                       c->form->words, group, more, others);
    return err_set(e, ERR_WORKSPACE_NOT_FOUND, NULL,
                   "the resource group '%s' has no clusters and jobs yet", group);
}

int az_change_check_cluster(struct az_change *c, const char *id, struct err *e)
{
    json_t *reply;
    const char *path =
        arena_concat(c->arena, az_change_escaped(c, id, true), "?api-version=", AZ_TODAY);
    if (look(c, path, &reply, e) < 0)
        return -1;
    bool there = reply != NULL;
    json_decref(reply);
    return there ? 0
                 : err_set(e, ERR_RESOURCE_NOT_FOUND, NULL,
                           "az %s: the cluster '%s' does not exist; nothing was created",
                           c->form->words, id);
}

const char *az_change_id(struct az_change *c, const char *group, const char *type, const char *name)
{
    if (*name != '/')
        return arena_concat(c->arena, scope_of(c, group), AZ_PROVIDER, "/workspaces/",
                            HOME_WORKSPACE, "/", type, "/", name);
    char *today = home_long_id(name);
    const char *id = today ? arena_strdup(c->arena, today) : name;
    free(today);
    return id;
}

/* The usage line "az batchai cluster show -g GROUP -n CLUSTER", in its old form or in today's. */
static const char *usage(struct az_change *c, bool today)
{
    const struct old_form *f = c->form;
    const char *text = arena_concat(c->arena, "az ", today ? f->today : f->words);
    if (f->place)
        text = arena_concat(c->arena, text, " -g GROUP");
    if (today && f->place & IN_WORKSPACE)
        text = arena_concat(c->arena, text, " -w WORKSPACE");
    if (today && f->place & IN_EXPERIMENT)
        text = arena_concat(c->arena, text, " -e EXPERIMENT");
    for (const struct old_option *o = f->options; o && o->names; o++) {
        bool renamed = today && o->today;
        if (!o->need || (renamed && !*o->today))
            continue;
        const char *name =
            renamed ? o->today : arena_strndup(c->arena, o->names, strcspn(o->names, " "));
        text = arena_concat(c->arena, text, " ", name, " ", o->value);
    }
    return text;
}

int az_change_lacks(struct az_change *c, const char *missing, struct err *e)
{
    if (!*missing)
        return 0;
    const char *today = c->form->today && c->form->place & IN_WORKSPACE ? usage(c, true) : NULL;
    return err_set(e, ERR_CONFIG, NULL, "az %s lacks %s; use: %s%s%s", c->form->words, missing + 2,
                   usage(c, false), today ? "; today: " : "", today ? today : "");
}

#define NUMBER_MAX 1000000

int az_change_number(struct az_change *c, const char *names, json_int_t *out, struct err *e)
{
    const char *text = az_line_value(&c->line, names);
    char *end;
    *out = -1;
    if (!text)
        return 0;
    *out = strtoll(text, &end, 10);
    if (*text && !*end && *out >= 0 && *out <= NUMBER_MAX)
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "az %s: '%s' of %s is not valid; it must be a whole number from 0 to %d",
                   c->form->words, text, az_line_find(&c->line, names)->name, NUMBER_MAX);
}
