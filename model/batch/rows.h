/* SPDX-License-Identifier: MIT
 *
 * The resources of Azure Batch as typed rows; model/resource.h has the rules for such structs.
 */
#ifndef MODEL_BATCH_ROWS_H
#define MODEL_BATCH_ROWS_H

#include "model/resource.h"

/* A Batch account. Its name is lower-case, and unique over all subscriptions and regions, because
 * some requests contain only the name. */
struct batch_account {
    int64_t id, group_id;
    struct scope scope; /* subscription, group, and the account's location */
    const char *name;
    const char *tags; /* JSON object text, or NULL */
    const char *doc;  /* {"identity": ..., "properties": {...}} as given */
    const char *created_by;
    enum prov_state prov_state; /* succeeded or deleting */
    int64_t created_us, updated_us;
};

/* The state of a pool, and of its resize. */
enum batch_pool_state { BATCH_POOL_ACTIVE = 1, BATCH_POOL_DELETING = 2 };
enum batch_allocation {
    BATCH_ALLOCATION_STEADY = 1,
    BATCH_ALLOCATION_RESIZING = 2,
    BATCH_ALLOCATION_STOPPING = 3
};

extern const struct enum_name batch_pool_state_names[], batch_allocation_names[];

/* The requested size of a pool. The core's target (struct pool) is smaller after a stopped or
 * timed-out resize. */
struct batch_size {
    int dedicated, low;
    int64_t timeout_us;
    enum batch_allocation state;
    int64_t state_us, began_us; /* began_us: of the last resize */
    const char *errors;         /* JSON array text of the last resize's ResizeErrors, or NULL */
};

/* Automatic scaling: the formula that computes the pool's size, and when it is evaluated. */
struct batch_auto_scale {
    bool enabled;
    const char *formula; /* or NULL */
    int64_t interval_us, evaluated_us;
    const char *run; /* JSON text of the last AutoScaleRun, or NULL */
};

/* The part of a pool that only Azure Batch has. `id` is also the id of the pool in the core (struct
 * pool). */
struct batch_pool {
    int64_t id, account_id;
    const char *account; /* the name of the account */
    const char *name;
    const char *doc; /* as the user sent it; members that the daemon changes are in columns */
    const char *created_by;
    enum batch_pool_state state;
    int64_t state_us, created_us;
    int64_t updated_us; /* when a user last changed the pool, for the ETag */
    struct batch_size size;
    struct batch_auto_scale scaling;
    const char *vm_size;         /* upper-case */
    enum dealloc_option dealloc; /* of the last resize */
    int slots;                   /* the most tasks at once on a node */
    bool spread; /* tasks are spread over the nodes; false: one node is filled first */
    int has_dedicated, has_low; /* the present numbers of nodes */
};
/* Whether the pool has or awaits a dedicated node. A pool that has and awaits no node counts as
 * such a pool. */
static inline bool batch_pool_is_dedicated(const struct batch_pool *p)
{
    return p->size.dedicated > 0 || p->has_dedicated > 0 || (p->size.low == 0 && p->has_low == 0);
}

/* An application of a Batch account: a name under which packages are stored. */
struct batch_application {
    int64_t id, account_id;
    const char *name;
    const char *display_name, *default_version; /* or NULL */
    bool allow_updates;                         /* a new upload may replace a package */
    const char *tags;                           /* JSON text, or NULL */
    int64_t created_us, updated_us;
};

/* A version of an application: an archive. */
struct batch_package {
    int64_t id, application_id;
    const char *application, *name; /* name: the version */
    const char *format;             /* `format` and `hash` are NULL until the package is active */
    const char *hash;               /* SHA-256 of the archive, in hexadecimal digits */
    int64_t size;                   /* its bytes */
    const char *tags;               /* JSON text, or NULL */
    int64_t activated_us, created_us, updated_us;
};

/* A user who may log in on a node. The password is sealed separately. */
struct batch_node_user {
    int64_t id, node_id;
    const char *name;
    bool is_admin;
    int64_t expiry_us;
    const char *ssh_key; /* one line, or NULL */
    int pending;         /* number of changes that the node may not have yet; 0: it has them all */
};

/* A former user of a node: the node may still have the account. */
struct batch_user_gone {
    int64_t id, node_id;
    const char *name;
};

#endif
