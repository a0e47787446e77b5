/* SPDX-License-Identifier: MIT
 *
 * The resources of Azure Batch as typed rows; model/resource.h says how such structs are used.
 */
#ifndef MODEL_BATCH_ROWS_H
#define MODEL_BATCH_ROWS_H

#include "model/resource.h"

/* A Batch account. Its name is lower-case, and unique over all subscriptions and regions, because
 * it is all that some requests name. */
struct batch_account {
    int64_t id, group_id;
    struct scope scope; /* subscription, group, location (the account's own) */
    const char *name;
    const char *tags; /* JSON object text, or NULL */
    const char *doc;  /* {"identity": ..., "properties": {...}} as they were given */
    const char *created_by;
    enum prov_state prov_state; /* succeeded or deleting */
    int64_t created_us, updated_us;
};

#endif
