/* SPDX-License-Identifier: MIT
 *
 * Decides which actions roles permit, and which jobs the caller of a list sees: loads the grants of
 * the caller and its groups, and compares actions and scopes. Grants are in the arena of the caller
 * or of the request. Called only on the loop's thread.
 */
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "model/home.h"
#include "storage/storage.h"

bool scope_within(const char *scope, const char *outer)
{
    size_t n = strlen(outer);
    if (strncasecmp(scope, outer, n) == 0 && (scope[n] == '\0' || scope[n] == '/'))
        return true;
    return home_path_within(scope, outer);
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

bool access_named(const struct grants *g, const char *action, const char *scope)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct role *role = role_by_guid(g->rows[i].role);
        if (!role || !scope_within(scope, g->rows[i].scope))
            continue;
        for (const char *const *at = role->actions; *at; at++)
            if (strcasecmp(*at, action) == 0)
                return true;
    }
    return false;
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

#define ASSIGNMENTS_AT_ONCE 100

int access_others_may(const struct access *x, struct arena *a, const char *action,
                      const char *scope, struct err *e)
{
    struct role_assignment_rows rows = {NULL, ASSIGNMENTS_AT_ONCE};
    for (int64_t after = 0; rows.n == ASSIGNMENTS_AT_ONCE;
         after = rows.n > 0 ? rows.items[rows.n - 1].id : after) {
        if (st_role_assignment_list(x->storage, a,
                                    &(struct st_page){.after = after, .limit = ASSIGNMENTS_AT_ONCE},
                                    &rows, e) < 0)
            return -1;
        for (size_t i = 0; i < rows.n; i++) {
            const struct grants one = {&rows.items[i], 1};
            if (strcasecmp(rows.items[i].principal, x->first_id) != 0 &&
                access_verdict(&one, action, scope) == ACCESS_YES)
                return 1;
        }
    }
    return 0;
}

int access_refuse_local(struct request *r, struct err *e)
{
    LOG_INFO(r->config->log, "access.refused", LF_STR("principal", r->who ? r->who->name : "a key"),
             LF_STR("action", "run on local nodes"), LF_STR("req", r->correlation_id));
    return err_set(e, ERR_FORBIDDEN, NULL,
                   "Only the daemon's own service principal may run jobs on local nodes here, "
                   "because such jobs can read the daemon's files: the daemon is not root and the "
                   "kernel has no Landlock, or jobs.uids is 0. The key of a Batch account is "
                   "accepted only if no other user may list the key. To let all users run jobs on "
                   "local nodes, set local.shared_user: true in batchaid's configuration.");
}

int access_refuse(struct request *r, const char *action, const char *scope, struct err *e)
{
    const struct principal *who = r->who;
    LOG_INFO(r->config->log, "access.refused", LF_STR("principal", who->name),
             LF_STR("action", action), LF_STR("scope", scope), LF_STR("req", r->correlation_id));
    return err_set(e, ERR_FORBIDDEN, NULL,
                   "The client '%s' with object id '%s' does not have authorization to perform "
                   "action '%s' over scope '%.200s' or the scope is invalid. If access was "
                   "recently granted, please refresh your credentials.",
                   who->kind == PRINCIPAL_USER ? who->name : who->app_id, who->object_id, action,
                   *scope ? scope : "/");
}

/* --- lists over all resource groups ----------------------------------------------------------- */

#define READ_JOB "Microsoft.BatchAI/workspaces/experiments/jobs/read"

int sees_may(struct request *r, const struct access *x, struct err *e)
{
    r->grant = NULL;
    if (r->who->first)
        return 0;
    struct grants *g = arena_alloc(&r->arena, sizeof *g);
    if (access_load(x, &r->arena, r->who, g, e) < 0)
        return -1;
    r->grant = g;
    if (g->n > 0)
        return 0;
    return access_refuse(r, READ_JOB,
                         arena_concat(&r->arena, "/subscriptions/", x->subscription_id), e);
}

bool sees_job(const struct grants *held, const struct job *j)
{
    struct arena a;
    const struct scope *s = &j->scope;
    if (!held)
        return true;
    arena_init(&a);
    const char *id = arena_concat(&a, "/subscriptions/", s->subscription, "/resourceGroups/",
                                  s->group, "/providers/Microsoft.BatchAI/workspaces/",
                                  s->workspace, "/experiments/", s->experiment, "/jobs/", j->name);
    bool sees = access_verdict(held, READ_JOB, id) == ACCESS_YES;
    arena_free(&a);
    return sees;
}
