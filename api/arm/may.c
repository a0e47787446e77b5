/* SPDX-License-Identifier: MIT
 *
 * Decides by the principal's roles (api/access/) whether it may send the request. For a principal
 * who may see only a part of a list, keeps the roles in request.grant. Called only on the loop's
 * thread.
 */
#include "api/arm/may.h"

#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/arm/errors.h"
#include "api/arm/operation.h"
#include "api/http/auth.h"
#include "scheduler/scheduler.h"

/* request.grant points to this struct if the principal may see only a part of the list; NULL: it
 * may see the whole list. */
struct sight {
    struct grants grants;
    const char *action;
};

/* 1: the principal has created the resource of the request, or the request creates it; 0: somebody
 * else has; -1: err. */
static int is_own(struct request *r, arm_made_by made_by, struct err *e)
{
    const char *who = NULL;
    int rc = made_by ? made_by(r, &who, e) : 1;
    if (rc <= 0)
        return rc < 0 ? -1 : 1;
    return who && strcasecmp(who, r->who->object_id) == 0;
}

/* A deletion ends the roles at the deleted place, so without a role a principal may still ask for
 * the end of its own deletion. */
static int allow_own_delete(struct request *r, const struct access_target *t, struct err *e)
{
    int own = operation_is_own_delete(r, e);
    return own < 0 ? -1 : own ? 0 : access_refuse(r, t->action, t->scope, e);
}

static int allow(struct request *r, arm_made_by made_by, struct err *e)
{
    struct access_target t;
    struct sight sight;
    access_target(r, &t);
    if (!t.action)
        return 0;
    if (access_load(arm_of(r)->access, &r->arena, r->who, &sight.grants, e) < 0)
        return -1;
    enum verdict v = access_verdict(&sight.grants, t.action, t.scope);
    int own = v == ACCESS_OWN ? is_own(r, made_by, e) : 0;
    if (own < 0)
        return -1;
    if (v == ACCESS_YES || own > 0)
        return 0;
    if (!(r->route->flags & ROUTE_PARTIAL) || !access_any_below(&sight.grants, t.scope))
        return allow_own_delete(r, &t, e);
    sight.action = t.action;
    r->grant = memcpy(arena_alloc(&r->arena, sizeof sight), &sight, sizeof sight);
    return 0;
}

int arm_may_own(struct request *r, arm_made_by made_by, struct err *e)
{
    if (auth_check(r, e) < 0)
        return -1;
    return r->who->first ? 0 : allow(r, made_by, e);
}

int arm_may(struct request *r, struct err *e)
{
    return arm_may_own(r, NULL, e);
}

int arm_may_also(struct request *r, const char *action, const char *scope, struct err *e)
{
    struct grants g;
    if (r->who->first)
        return 1;
    if (access_load(arm_of(r)->access, &r->arena, r->who, &g, e) < 0)
        return -1;
    return access_verdict(&g, action, scope) == ACCESS_YES;
}

/* Calls `refuse` if the principal does not have the right `action` at the scope. */
static int check(struct request *r, const char *action, const char *scope,
                 int (*refuse)(struct request *, const char *, const char *, struct err *),
                 struct err *e)
{
    int may = arm_may_also(r, action, scope, e);
    return may < 0 ? -1 : may ? 0 : refuse(r, action, scope, e);
}

int arm_check(struct request *r, const char *action, const char *scope, struct err *e)
{
    return check(r, action, scope, access_refuse, e);
}

static int refuse_linked(struct request *r, const char *action, const char *scope, struct err *e)
{
    const struct principal *who = r->who;
    struct access_target t;
    access_target(r, &t);
    LOG_INFO(r->config->log, "access.refused", LF_STR("principal", who->name),
             LF_STR("action", action), LF_STR("scope", scope), LF_STR("req", r->correlation_id));
    return err_set(e, ARM_LINKED_FORBIDDEN, NULL,
                   "The client '%s' with object id '%s' has permission to perform action '%s' on "
                   "scope '%.200s'; however, it does not have permission to perform action '%s' on "
                   "the linked scope(s) '%.300s' or the linked scope(s) are invalid.",
                   who->kind == PRINCIPAL_USER ? who->name : who->app_id, who->object_id,
                   t.action ? t.action : "", t.scope ? t.scope : "", action, scope);
}

int arm_check_linked(struct request *r, const char *action, const char *scope, struct err *e)
{
    return check(r, action, scope, refuse_linked, e);
}

int arm_check_local(struct request *r, const char *vm_size, enum vm_priority priority,
                    struct err *e)
{
    if (r->who->first || sched_is_for_all(arm_of(r)->sched, vm_size, priority))
        return 0;
    return access_refuse_local(r, e);
}

bool arm_sees(const struct request *r, const char *id)
{
    const struct sight *s = r->grant;
    return !s || arm_sees_by(r, s->action, id);
}

bool arm_sees_by(const struct request *r, const char *action, const char *id)
{
    const struct sight *s = r->grant;
    return !s || access_verdict(&s->grants, action, id) == ACCESS_YES;
}

int arm_has_role(struct request *r, struct err *e)
{
    struct grants g;
    if (r->who->first)
        return 1;
    return access_load(arm_of(r)->access, &r->arena, r->who, &g, e) < 0 ? -1 : g.n > 0;
}
