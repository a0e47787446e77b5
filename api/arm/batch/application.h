/* SPDX-License-Identifier: MIT
 *
 * Shared by the handlers of applications and packages.
 */
#ifndef API_ARM_BATCH_APPLICATION_H
#define API_ARM_BATCH_APPLICATION_H

#include "api/arm/batch/account.h"

/* The limits of the real service. */
#define APPLICATIONS_MAX 1000 /* of an account */
#define PACKAGES_MAX     1000 /* of an application */

struct application {
    struct batch_account account;
    struct batch_application row;
};
/* Finds the application in the path. Error: BATCHRM_APPLICATION_NOT_FOUND. */
int find_application(struct request *r, struct application *x, struct err *e) MUST_CHECK;
/* Finds the application and the package in the path. Error: BATCHRM_PACKAGE_NOT_FOUND. */
int find_package(struct request *r, struct application *x, struct batch_package *p,
                 struct err *e) MUST_CHECK;
/* Fails unless `name` is valid: letters, digits, hyphens, underscores, in a version's name also
 * dots. */
int check_application_name(const char *name, bool version, struct err *e) MUST_CHECK;

/* Whether the request's api-version is a "flat" one: applications contain their packages, and there
 * is no "properties". */
bool is_flat(const struct request *r);
/* A JSON object with id, type and ETag of an application, or of its package `version`. */
json_t *application_envelope(struct request *r, const struct application *x, const char *version,
                             int64_t updated_us);
/* The ETag W/"0x..." of a time. In the request's arena. */
const char *weak_etag(struct request *r, int64_t updated_us);
/* {"state", "format", "lastActivationTime"} */
json_t *package_facts(const struct request *r, const struct batch_package *p);

REPLIED package_show(struct request *r, int status, const struct application *x,
                     const struct batch_package *p);
/* Whether the content of a package stays: the package is active, and allowUpdates is false. */
bool package_is_final(const struct application *x, const struct batch_package *p);
/* BATCHRM_NO_UPDATES */
int package_refuse_update(const struct application *x, struct err *e);

/* The place of a package: the Batch account's auto-storage account, a container and a blob. */
struct package_place {
    struct storage_account store;
    const char *container, *blob;
};
int package_place(struct request *r, const struct application *x, const char *version,
                  struct package_place *out, struct err *e) MUST_CHECK;
/* BATCHRM_KEYS_OFF: the storage account does not permit its keys. */
int package_check_keys(const struct package_place *at, struct err *e) MUST_CHECK;
/* Reads the container's row. 1: found; 0: none; -1: err. */
int package_container(struct request *r, const struct package_place *at, struct share *out,
                      struct err *e) MUST_CHECK;

#endif
