/* SPDX-License-Identifier: MIT */
#include "api/plane/batch/package_refs.h"

#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "model/batch/parts.h"
#include "scheduler/front/batch/packages.h"

int package_refs_missing(struct storage *st, struct arena *a, int64_t account_id,
                         const json_t *list, const char **application, const char **text,
                         struct err *e)
{
    struct batch_package_use use;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(one, "applicationId"));
        const char *version = json_string_value(json_object_get(one, "version"));
        int rc = batch_package_find(st, a, account_id, name, version, &use, e);
        if (rc < 0)
            return -1;
        if (rc > 0)
            continue;
        *application = arena_strdup(a, name);
        *text = version && *version ? arena_concat(a, name, " ", version)
                                    : arena_concat(a, name, " (its default version)");
        return 1;
    }
    return 0;
}

int batch_check_packages(struct request *r, const json_t *list, struct err *e)
{
    const char *application, *text;
    int rc = package_refs_missing(arm_of(r)->storage, &r->arena, batch_account_of(r)->id, list,
                                  &application, &text, e);
    if (rc <= 0)
        return rc;
    batch_value(r, application, "The specified application package does not exist.");
    return err_set(e, BATCH_INVALID_APPLICATION_PACKAGE_REFERENCES, NULL,
                   "There is no active application package %s.", text);
}

int batch_check_job_packages(struct request *r, const json_t *job, struct err *e)
{
    static const char *const places[] = {
        "jobManagerTask.applicationPackageReferences",
        "poolInfo.autoPoolSpecification.pool.applicationPackageReferences"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (batch_check_packages(r, batch_part(job, places[i]), e) < 0)
            return -1;
    return 0;
}
