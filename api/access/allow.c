/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "storage/storage.h"

bool scope_within(const char *scope, const char *outer)
{
    size_t n = strlen(outer);
    return strncasecmp(scope, outer, n) == 0 && (scope[n] == '\0' || scope[n] == '/');
}

int access_load(const struct access *x, struct arena *a, const struct principal *who,
                struct grants *out, struct err *e)
{
    struct role_assignment *rows = NULL;
    size_t n = 0;
    int rc = st_role_assignment_of(x->storage, a, who->object_id, &rows, &n, e);
    *out = (struct grants){rows, rc < 0 ? 0 : n};
    return rc;
}

static enum verdict role_verdict(const struct role *role, const char *action)
{
    if (role_patterns_fit(role->actions, action) && !role_patterns_fit(role->not_actions, action))
        return ACCESS_YES;
    return role_patterns_fit(role->own_actions, action) ? ACCESS_OWN : ACCESS_NO;
}

enum verdict access_verdict(const struct grants *g, const char *action, const char *scope)
{
    enum verdict best = ACCESS_NO;
    for (size_t i = 0; i < g->n && best != ACCESS_YES; i++) {
        const struct role *role = role_by_guid(g->rows[i].role);
        if (!role || !scope_within(scope, g->rows[i].scope))
            continue;
        enum verdict one = role_verdict(role, action);
        best = one > best ? one : best;
    }
    return best;
}

bool access_to_data(const struct grants *g, const char *action, const char *scope)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct role *role = role_by_guid(g->rows[i].role);
        if (role && scope_within(scope, g->rows[i].scope) &&
            role_patterns_fit(role->data_actions, action) &&
            !role_patterns_fit(role->not_data_actions, action))
            return true;
    }
    return false;
}

bool access_any_below(const struct grants *g, const char *scope)
{
    for (size_t i = 0; i < g->n; i++)
        if (scope_within(g->rows[i].scope, scope) || scope_within(scope, g->rows[i].scope))
            return true;
    return false;
}

int access_refuse(struct request *r, const char *action, const char *scope, struct err *e)
{
    const struct principal *who = r->who;
    LOG_INFO(r->config->log, "access.refused", LF_STR("by", who->name), LF_STR("action", action),
             LF_STR("scope", scope), LF_STR("req", r->correlation_id));
    return err_set(e, ERR_FORBIDDEN, NULL,
                   "The client '%s' with object id '%s' does not have authorization to perform "
                   "action '%s' over scope '%.200s' or the scope is invalid. If access was "
                   "recently granted, please refresh your credentials.",
                   who->kind == PRINCIPAL_USER ? who->name : who->app_id, who->object_id, action,
                   *scope ? scope : "/");
}
