/* SPDX-License-Identifier: MIT
 *
 * The management plane of Azure Batch (Microsoft.Batch): its api-versions as bits for rows of
 * routes and of properties, and the tables of its resources, for the engine of model/schema.h. No
 * table of another service has these bits.
 */
#ifndef MODEL_BATCH_RM_H
#define MODEL_BATCH_RM_H

#include "model/schema.h"

#define RM_VERSIONS(X)                                                                             \
    X(RM_2017_05, "2017-05-01")                                                                    \
    X(RM_2017_09, "2017-09-01")                                                                    \
    X(RM_2018_12, "2018-12-01")                                                                    \
    X(RM_2019_04, "2019-04-01")                                                                    \
    X(RM_2019_08, "2019-08-01")                                                                    \
    X(RM_2020_03, "2020-03-01")                                                                    \
    X(RM_2020_05, "2020-05-01")                                                                    \
    X(RM_2020_09, "2020-09-01")                                                                    \
    X(RM_2021_01, "2021-01-01")                                                                    \
    X(RM_2021_06, "2021-06-01")                                                                    \
    X(RM_2022_01, "2022-01-01")                                                                    \
    X(RM_2022_06, "2022-06-01")                                                                    \
    X(RM_2022_10, "2022-10-01")                                                                    \
    X(RM_2023_05, "2023-05-01")                                                                    \
    X(RM_2023_11, "2023-11-01")                                                                    \
    X(RM_2024_02, "2024-02-01")                                                                    \
    X(RM_2024_07, "2024-07-01")                                                                    \
    X(RM_2025_06, "2025-06-01")

#define RM_VERSION_INDEX(bit, name) bit##_INDEX,
#define RM_VERSION_BIT(bit, name)   bit = 1 << bit##_INDEX,
enum { RM_VERSIONS(RM_VERSION_INDEX) RM_VERSION_COUNT };
enum rm_version { RM_VERSIONS(RM_VERSION_BIT) };
#undef RM_VERSION_INDEX
#undef RM_VERSION_BIT

/* Sets of versions for rows: since a version, until a version, and both. */
#define RM_ALL              ((1U << RM_VERSION_COUNT) - 1)
#define RM_SINCE(bit)       (RM_ALL & ~((unsigned)(bit)-1))
#define RM_UNTIL(bit)       (2 * (unsigned)(bit)-1)
#define RM_WITHIN(from, to) (RM_SINCE(from) & RM_UNTIL(to))

/* "2022-10-01" -> RM_2022_10; 0: not served. And back (static string). */
unsigned rm_version_from_name(const char *name);
const char *rm_version_name(unsigned version);

/* rm_application.c. Versions up to 2017-09-01 have all properties of an application beside its
 * id. */
extern const struct schema schema_rm_application, schema_rm_application_flat, schema_rm_package,
    schema_rm_package_flat, schema_rm_activation;
/* rm_pool.c. For these two schemas, schema_accept() moves secrets out of the document. The document
 * has the property names of the data plane; only its nesting differs. */
extern const struct schema schema_rm_pool, schema_rm_pool_properties;
/* tables_certificate.c */
extern const struct schema schema_rm_certificate, schema_rm_certificate_properties;
/* rm_account.c. The second is for the body of a PATCH. */
extern const struct schema schema_batch_account, schema_batch_account_update,
    schema_batch_account_name, schema_batch_key_name;

/* The name of the storage account that is a Batch account's auto-storage, from its document; NULL:
 * none. In the arena. */
const char *batch_auto_storage(struct arena *a, const char *account_doc);
/* Whether an account's allowedAuthenticationModes contain this mode, from its document; without the
 * list all modes are allowed. */
bool batch_account_allows(const char *account_doc, const char *mode);

#endif
