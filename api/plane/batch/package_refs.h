/* SPDX-License-Identifier: MIT
 *
 * References to application packages in what is added or changed: each must be to one that is
 * active.
 */
#ifndef API_PLANE_BATCH_PACKAGE_REFS_H
#define API_PLANE_BATCH_PACKAGE_REFS_H

#include <jansson.h>

#include "lib/arena.h"
#include "lib/err.h"

struct request;
struct storage;

/* `list`: applicationPackageReferences, or NULL. The first that names none: "app01 1.0", and in
 * *application the id alone; both the arena's. A getter: 0: there is none such. */
int package_refs_missing(struct storage *st, struct arena *a, int64_t account_id,
                         const json_t *list, const char **application, const char **text,
                         struct err *e) MUST_CHECK;
/* BATCH_INVALID_APPLICATION_PACKAGE_REFERENCES, with the application's id as a value. */
int batch_check_packages(struct request *r, const json_t *list, struct err *e) MUST_CHECK;
/* Those of a job, or of the jobs of a schedule: of its manager, and of the pool that is made for
 * it. */
int batch_check_job_packages(struct request *r, const json_t *job, struct err *e) MUST_CHECK;

#endif
