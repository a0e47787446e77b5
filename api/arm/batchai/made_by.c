/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <strings.h>

#include "api/arm/batchai/lookup.h"
#include "storage/storage.h"

/* A row that is missing is told to the client by the handler. */
static int none_if_missing(const struct err *e)
{
    switch (e->code) {
    case ERR_GROUP_NOT_FOUND:
    case ERR_RESOURCE_NOT_FOUND:
    case ERR_WORKSPACE_NOT_FOUND:
    case ERR_EXPERIMENT_NOT_FOUND:
    case ERR_JOB_NOT_FOUND:
    case ERR_OWN: /* the subscription */
        return 0;
    default:
        return e->code > ERR_OWN ? 0 : -1;
    }
}

static int maker_of_job(struct request *r, const char **who, struct err *e)
{
    struct job j;
    if (find_job(r, &j, e) < 0)
        return none_if_missing(e);
    *who = j.created_by;
    return 1;
}

static int maker_of_experiment(struct request *r, const char **who, struct err *e)
{
    struct experiment x;
    bool others = false;
    if (find_experiment(r, &x, e) < 0)
        return none_if_missing(e);
    if (strcmp(r->method, "DELETE") == 0 &&
        st_job_others(arm_of(r)->storage, x.id, r->who->object_id, &others, e) < 0)
        return -1;
    *who = others ? NULL : x.created_by;
    return 1;
}

int made_by(struct request *r, const char **who, struct err *e)
{
    if (!(r->route->versions & r->version))
        return 0; /* no such api-version: refused next */
    if (strstr(r->route->path, "{job}"))
        return maker_of_job(r, who, e);
    if (strstr(r->route->path, "{experiment}"))
        return maker_of_experiment(r, who, e);
    return 1;
}
