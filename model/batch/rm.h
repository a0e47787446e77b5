/* SPDX-License-Identifier: MIT
 *
 * The management plane of Azure Batch (Microsoft.Batch): its api-versions as bits, for the rows of
 * routes and of properties, and the tables of its resources, which the functions of model/schema.h
 * read. No table of another service uses these bits, because bits of different services have equal
 * values.
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

/* Sets of versions for rows: all versions from one on, all up to one (inclusive), and all between
 * two (inclusive). */
#define RM_ALL              ((1U << RM_VERSION_COUNT) - 1)
#define RM_SINCE(bit)       (RM_ALL & ~((unsigned)(bit)-1))
#define RM_UNTIL(bit)       (2 * (unsigned)(bit)-1)
#define RM_WITHIN(from, to) (RM_SINCE(from) & RM_UNTIL(to))

/* Converts "2022-10-01" to RM_2022_10 (0: the version is not served), and back (a static
 * string). */
unsigned rm_version_from_name(const char *name);
const char *rm_version_name(unsigned version);

/* In rm_application.c. The schemas "flat" are for versions up to 2017-09-01, in which all
 * properties stand beside the id, without a member "properties". */
extern const struct schema schema_rm_application, schema_rm_application_flat, schema_rm_package,
    schema_rm_package_flat, schema_rm_activation;
/* In rm_pool.c. For these two schemas, schema_accept() moves secrets out of the document. The
 * document has the property names of the data plane; only its nesting differs. */
extern const struct schema schema_rm_pool, schema_rm_pool_properties;
/* In tables_certificate.c. */
extern const struct schema schema_rm_certificate, schema_rm_certificate_properties;
/* In rm_account.c. schema_batch_account_update is for the body of a PATCH. */
extern const struct schema schema_batch_account, schema_batch_account_update,
    schema_batch_account_name, schema_batch_key_name;

/* Reads the document of a Batch account and returns the name of the storage account that is its
 * auto-storage, in the arena; NULL: none. */
const char *batch_auto_storage(struct arena *a, const char *account_doc);
/* True: the list allowedAuthenticationModes in the account's document contains this mode, or the
 * document has no such list, so that all modes are allowed. */
bool batch_account_allows(const char *account_doc, const char *mode);

#endif
