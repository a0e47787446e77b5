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

/* What a pool's own state is; and what becomes of its size. */
enum batch_pool_state { BATCH_POOL_ACTIVE = 1, BATCH_POOL_DELETING = 2 };
enum batch_allocation {
    BATCH_ALLOCATION_STEADY = 1,
    BATCH_ALLOCATION_RESIZING = 2,
    BATCH_ALLOCATION_STOPPING = 3
};

/* How large a pool is to be, as was asked for. What the core tries to have (struct pool) is less
 * once a resize has been stopped or its time is up. */
struct batch_size {
    int dedicated, low;
    int64_t timeout_us;
    enum batch_allocation state;
    int64_t state_us, began_us; /* began_us: of the last resize */
    const char *errors;         /* JSON array text of ResizeError of the last resize, or NULL */
};

/* When and how a formula decides on the size. */
struct batch_auto_scale {
    bool enabled;
    const char *formula; /* or NULL */
    int64_t interval_us, evaluated_us;
    const char *run; /* JSON text of the last AutoScaleRun, or NULL */
};

/* A pool: the document of a pool of the core. Both have the same id. */
struct batch_pool {
    int64_t id, account_id;
    const char *account; /* its name */
    const char *name;
    const char *doc; /* as it was given; what changes by itself is in columns */
    const char *created_by;
    enum batch_pool_state state;
    int64_t state_us, created_us;
    int64_t updated_us; /* the last user write, for the ETag */
    struct batch_size size;
    struct batch_auto_scale scaling;
    const char *vm_size;         /* upper-case */
    enum dealloc_option dealloc; /* of the last resize */
    int slots;                   /* tasks that a node may run at once */
    bool spread;                 /* nodes are filled evenly; else one after the other */
    int has_dedicated, has_low;  /* nodes */
};

/* An application of a Batch account: a name for packages. */
struct batch_application {
    int64_t id, account_id;
    const char *name;
    const char *display_name, *default_version; /* or NULL */
    bool allow_updates;                         /* a package may be uploaded again */
    const char *tags;                           /* JSON text, or NULL */
    int64_t created_us, updated_us;
};

/* A version of an application: an archive. */
struct batch_package {
    int64_t id, application_id;
    const char *application, *name; /* name: the version */
    const char *format;             /* NULL: it is not active; likewise: */
    const char *hash;               /* of the archive: SHA-256, in hexadecimal digits */
    int64_t size;                   /* its bytes */
    const char *tags;               /* JSON text, or NULL */
    int64_t activated_us, created_us, updated_us;
};

/* Somebody who may log in on a node. The password is sealed apart. */
struct batch_node_user {
    int64_t id, node_id;
    const char *name;
    bool is_admin;
    int64_t expiry_us;
    const char *ssh_key; /* one line, or NULL */
};

#endif
