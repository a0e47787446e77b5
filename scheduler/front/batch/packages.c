/* SPDX-License-Identifier: MIT */
#include "scheduler/front/batch/packages.h"

#include <ctype.h>
#include <string.h>

#include "scheduler/front/batch/tasks.h"
#include "storage/storage.h"

#define VARIABLE "AZ_BATCH_APP_PACKAGE_"
#define HASH_PART                                                                                  \
    16 /* characters of a hash that are enough to tell archives of a version apart                 \
        */

int batch_package_find(struct storage *st, struct arena *a, int64_t account_id,
                       const char *application, const char *version, struct batch_package_use *out,
                       struct err *e)
{
    struct batch_application x;
    int rc = st_batch_application_get(st, a, account_id, application, &x, e);
    if (rc <= 0)
        return rc;
    *out = (struct batch_package_use){.by_default = !version || !*version};
    if (out->by_default)
        version = x.default_version;
    if (!version)
        return 0;
    rc = st_batch_package_get(st, a, x.id, version, &out->package, e);
    return rc > 0 && !out->package.hash ? 0 : rc;
}

const char *batch_package_variable(struct arena *a, const struct batch_package_use *use,
                                   bool windows)
{
    const struct batch_package *p = &use->package;
    char *name = use->by_default
                     ? arena_concat(a, VARIABLE, p->application)
                     : arena_concat(a, VARIABLE, p->application, windows ? "#" : "_", p->name);
    for (char *c = name; *c; c++)
        if (windows)
            *c = (char)toupper((unsigned char)*c);
        else if (strchr(".-#", *c))
            *c = '_';
    return name;
}

const char *batch_package_directory(struct arena *a, const struct batch_package_use *use)
{
    const struct batch_package *p = &use->package;
    return arena_concat(a, BATCH_ROOT, "/applications/", p->application, "_", p->name, "_",
                        arena_strndup(a, p->hash, HASH_PART));
}

const char *batch_pool_package_directory(struct arena *a, const struct batch_package_use *use)
{
    const struct batch_package *p = &use->package;
    return use->by_default
               ? arena_concat(a, BATCH_ROOT, "/applications/pool/default/", p->application)
               : arena_concat(a, BATCH_ROOT, "/applications/pool/", p->application, "/", p->name);
}
