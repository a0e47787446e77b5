/* SPDX-License-Identifier: MIT
 *
 * A job's processes have the secrets and files of the job's owner, so only the owner may enter the
 * job. A Contributor may end a job of somebody else, but cannot read its memory.
 */
#include "api/admin/terminal_right.h"

#include <strings.h>

#include "api/access/access.h"
#include "storage/storage.h"

#define RUN_JOBS "Microsoft.BatchAI/workspaces/experiments/jobs/write"

static const char *scope_of(struct arena *a, const struct job *j)
{
    const struct scope *s = &j->scope;
    return arena_concat(a, "/subscriptions/", s->subscription, "/resourceGroups/", s->group,
                        "/providers/Microsoft.BatchAI/workspaces/", s->workspace, "/experiments/",
                        s->experiment, "/jobs/", j->name);
}

int terminal_may(const struct admin *d, struct arena *a, const struct principal *who,
                 const struct job *j, const char **action, const char **scope, struct err *e)
{
    struct grants g;
    if (who->first)
        return 1;
    if (access_load(d->access, a, who, &g, e) < 0)
        return -1;
    bool own = j->created_by && strcasecmp(j->created_by, who->object_id) == 0;
    *scope = scope_of(a, j);
    *action = own ? RUN_JOBS : ACTION_ENTER_JOBS;
    if (own && access_verdict(&g, RUN_JOBS, *scope) != ACCESS_NO)
        return 1;
    return access_named(&g, ACTION_ENTER_JOBS, *scope);
}

int terminal_still_may(const struct admin *d, const char *object_id, int64_t job_id, struct err *e)
{
    struct principal who;
    struct job j;
    struct arena a;
    const char *action, *scope;
    arena_init(&a);
    int rc = access_find((void *)(uintptr_t)d->access, object_id, &who, e);
    if (rc > 0)
        rc = st_job_by_id(d->storage, &a, job_id, &j, e);
    if (rc > 0)
        rc = terminal_may(d, &a, &who, &j, &action, &scope, e);
    arena_free(&a);
    return rc;
}
