/* SPDX-License-Identifier: MIT
 *
 * Applications of Azure Batch and their packages; a part of storage/storage.h, which says how all
 * of these functions behave.
 */
#ifndef STORAGE_BATCH_PACKAGES_H
#define STORAGE_BATCH_PACKAGES_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/rows.h"

struct storage;

/* ERR_CONFLICT if the account has one of this name. They go with their account. */
int st_batch_application_insert(struct storage *, const struct batch_application *x, int64_t *id,
                                struct err *);
int st_batch_application_get(struct storage *, struct arena *, int64_t account_id, const char *name,
                             struct batch_application *out, struct err *);
int st_batch_application_list(struct storage *, struct arena *, int64_t account_id, int64_t after,
                              int limit, struct batch_application **rows, size_t *n, struct err *);
/* Those that have an active package, in the order of their names, behind the name `after`. */
int st_batch_application_list_usable(struct storage *, struct arena *, int64_t account_id,
                                     const char *after, int limit, struct batch_application **rows,
                                     size_t *n, struct err *);
/* Display name, default version, whether it may be updated, and when it was. */
int st_batch_application_update(struct storage *, const struct batch_application *x, struct err *);
/* With its packages. */
int st_batch_application_remove(struct storage *, int64_t id, struct err *);

/* ERR_CONFLICT if the application has one of this name. */
int st_batch_package_insert(struct storage *, const struct batch_package *x, int64_t *id,
                            struct err *);
int st_batch_package_get(struct storage *, struct arena *, int64_t application_id, const char *name,
                         struct batch_package *out, struct err *);
int st_batch_package_list(struct storage *, struct arena *, int64_t application_id, int64_t after,
                          int limit, struct batch_package **rows, size_t *n, struct err *);
/* Format, hash, size and both instants. */
int st_batch_package_update(struct storage *, const struct batch_package *x, struct err *);
int st_batch_package_remove(struct storage *, int64_t id, struct err *);
/* How many packages, of whatever account, have an archive with this hash. */
int st_batch_package_of_hash(struct storage *, const char *hash, int64_t *n, struct err *);

#endif
