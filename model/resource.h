/* SPDX-License-Identifier: MIT
 *
 * The resources as typed rows: read and written by storage/, used by scheduler/, rendered by api/.
 * Strings are borrowed from the arena (reads) or the caller (writes).
 *
 * `doc` is the resource's user-given properties as canonical JSON text (model/schema.h): only
 * model/ and the owning service read it. A row never contains `secrets`: st_*_secrets() decrypts
 * them on request. Instants are microseconds since 1970 (lib/timefmt.h), 0 = not yet.
 */
#ifndef MODEL_RESOURCE_H
#define MODEL_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/enums.h"
#include "model/usage.h"

/* The place of a resource, with the names spelled as at its creation. Names of levels below the
 * resource's own level are NULL. */
struct scope {
    const char *subscription, *group, *workspace, *experiment;
    const char *location; /* the location of the workspace, or of the group */
};

struct resource_group {
    int64_t id;
    const char *subscription, *name, *location;
    const char *tags;       /* JSON object text, or NULL */
    const char *created_by; /* who created it (also in the structs below); NULL: it was made by a
                               version that did not record this */
    enum prov_state prov_state;
    int64_t created_us, updated_us;
};

/* Workspaces and experiments. Experiments have no location and no tags (NULL). */
struct workspace {
    int64_t id, group_id;
    struct scope scope; /* subscription, group, location */
    const char *name, *tags, *created_by;
    enum prov_state prov_state;
    int64_t prov_us, created_us, updated_us; /* updated_us: last user write, for ETag */
};

struct experiment {
    int64_t id, workspace_id;
    struct scope scope; /* set from subscription to workspace */
    const char *name, *created_by;
    enum prov_state prov_state;
    int64_t prov_us, created_us, updated_us;
};

struct node_counts { /* computed from the nodes in one query, never stored */
    int preparing, idle, running, leaving, unusable;
};

struct scale {
    enum scale_kind kind;
    int target; /* for manual scaling */
    /* For manual scaling. Automatic scaling always behaves like DEALLOC_WAIT_FOR_COMPLETION. */
    enum dealloc_option dealloc;
    int minimum, maximum, initial; /* for automatic scaling */
    int low; /* the target number of low-priority nodes, in a pool of dedicated nodes */
};

/* The largest allowed amounts, so that sums do not overflow. */
#define CAPACITY_MAX        1000000000
#define CAPACITY_MEMORY_MAX (INT64_C(1) << 50)

/* An amount of resources: the capacity of a node, the need of a run on each node, or the content of
 * an allocation. */
struct capacity {
    int slots, gpus, cores;
    int64_t memory; /* bytes */
};

/* The core's part of a cluster or of a pool of Azure Batch: the target number of nodes, and the
 * state of the pool. */
struct pool {
    int64_t id;
    enum resource_kind kind; /* the kind of the resource that users see: a cluster or a pool */
    const char *vm_size;
    enum vm_priority vm_priority;
    struct scale scale;
    int auto_target;
    enum alloc_state alloc_state;
    int64_t alloc_us;
    bool is_new; /* until its first nodes were requested */
    bool going;  /* true: the pool is being deleted; it first loses its nodes and is then removed */
    int slots;   /* the slots of each of its nodes; 0: as many as the node reports */
    bool spread; /* true: runs get parts of the nodes with the most free slots */
    const char *errors;
};

/* A Batch AI cluster: the user's view of a pool of the core. The cluster and the pool have the same
 * id. */
struct cluster {
    int64_t id, workspace_id;
    struct scope scope;
    const char *name, *guid; /* guid: new per creation, in setupTask's stdOutErrPathSuffix */
    const char *doc, *created_by;
    const char *vm_size; /* upper-case */
    enum vm_priority vm_priority;
    struct scale scale;
    int auto_target; /* the last target of automatic scaling; unused with manual scaling */
    enum prov_state prov_state;
    enum alloc_state alloc_state;
    bool is_new; /* until its first nodes were requested */
    int64_t prov_us, alloc_us, created_us, updated_us;
    const char *errors; /* JSON array text of BatchAIError, or NULL (model/failure.h) */
    struct node_counts counts;
};

struct file_server {
    int64_t id, workspace_id;
    struct scope scope;
    const char *name, *guid, *doc, *created_by;
    enum prov_state prov_state;
    int64_t prov_us, created_us, updated_us;
};

/* A unit of work on a pool. */
struct run {
    int64_t id, pool_id;
    enum resource_kind owner_kind; /* the kind of the service's resource that owns the run */
    int64_t owner_id;
    int idx;          /* the run's place among the runs of its owner, from 0 */
    const char *guid; /* the prefix of the ids of its tasks, and of its directories */
    int priority;     /* higher first */
    int nodes;
    bool need_whole; /* the run takes whole nodes; otherwise it takes `need` of each node */
    struct capacity need;
    int64_t max_wall_us;
    enum run_state state;
    enum run_stop stop;
    int attempt; /* 0 before the first allocation; +1 with each allocation */
    int64_t start_us, end_us;
    /* enum failure_code, set when the end of the run is decided; 0: success, or not decided */
    int failure;
    enum run_hold held;
    int retried;      /* how often the run was tried again after a failure */
    int runs;         /* how many runs its owner has */
    int number;       /* the number that the user gave the run: the index of an array */
    int64_t group_id; /* runs of one group (0: none) may exclude the same nodes */
    int64_t near_id;  /* the node that the run prefers; 0: none */
    bool own_class;   /* true: the run gets no low-priority node */
};

/* A resource whose runs may begin only after the end of another resource. */
struct dependency {
    enum resource_kind owner_kind;
    int64_t owner_id;
    enum resource_kind awaited_kind;
    int64_t awaited_id;
    const char *name; /* the name that the owner's user gave */
    enum after wanted;
    enum dependency_state state;
    enum ended_how ended; /* 0: it has not ended */
};

/* The part of a node that a run has. Each rank of a run is on a different node. */
struct allocation {
    int64_t run_id;
    int attempt, rank;
    int64_t node_id; /* 0: the node is gone */
    const char *node_name;
    struct capacity takes;
    const char *devices; /* the numbers of its GPUs on the node: "0,2"; NULL: all */
    enum allocation_state state;
    bool kept;    /* true: the node still has the run's directory */
    int64_t term; /* the term of the epoch that made it; 0: an old version made it */
    const char *task_prefix;
    int64_t created_us, released_us;
    int64_t busy_us, idle_us;   /* the average of its GPUs, measured by samples until recently */
    struct usage_measured used; /* what its processes used; known from the end of its run on */
};

/* A start of the daemon. Later starts have larger terms; the random part distinguishes two starts
 * within one second. */
struct epoch {
    int64_t term;
    const char *random; /* 8 hexadecimal digits */
    const char *text;   /* TERM.RANDOM, as it is part of names; not stored in a column */
};

/* A change of state. States are the numbers of the kind's enum; 0: no previous state. */
struct event {
    int64_t seq, at_us;
    enum resource_kind kind;
    int64_t resource_id;
    int from, to;
    const char *reason; /* NULL: none was given */
};

/* A Batch AI job: a document, and one run or an array of runs. */
struct job {
    int64_t id, experiment_id;
    int64_t cluster_id;      /* 0 after the cluster was deleted: jobs survive their cluster */
    struct scope scope;      /* set from subscription to experiment */
    const char *name, *guid; /* guid: new per creation, in jobOutputDirectoryPathSegment */
    const char *doc, *created_by;
    const char *cluster_ref; /* the resource id of the cluster as replies contain it */
    int priority; /* higher first: normal is 0, low -1000, high 1000 (the versions up to 2018-03 use
                     numbers) */
    int node_count;
    bool part;            /* it takes only a part of each node: */
    struct capacity need; /* see struct run */
    int runs;             /* the number of runs of an array; 0 or 1: not an array */
    const int *numbers;   /* indexes of the array's runs, set only at its creation */
    int at_once;          /* how many runs of it may run at once; 0: all */
    int64_t max_wall_us;
    enum prov_state prov_state;
    enum exec_state exec_state;
    int64_t prov_us, exec_us, created_us, updated_us, start_us, end_us;
    bool has_exit_code;
    int exit_code;
    int attempt; /* 0 before the first allocation; +1 with each allocation; part of task ids */
    const char *errors; /* JSON array text of BatchAIError, or NULL */
};

struct node {
    int64_t id, pool_id;
    enum resource_kind pool_kind; /* copied from its pool when the row is read, like pool_slots */
    int pool_slots;
    enum vm_priority vm_priority; /* whether it is a dedicated or a low-priority node of the pool */
    const char *name;             /* tvm-171000001_1-20180606t212057z[-p] */
    int ordinal;                  /* 1.. within the pool; remote login port is 49999 + ordinal */
    enum node_state state;
    int live;  /* the number of its allocations; if > 0, an idle node is shown as running */
    int aside; /* the number of its allocations that take no slot; storage counts them */
    int64_t state_us, created_us;
    int64_t idle_us; /* since when it is idle without an allocation; 0: it is not idle */
    struct capacity has;
    const char *devices;     /* its GPUs as JSON text; NULL: not known */
    int failure;             /* enum failure_code of an unusable node; otherwise 0 */
    const char *incarnation; /* the id of the node's root, as the agent reported it; NULL before its
                                hello */
    int64_t booted_us;       /* 0 before the agent's hello */
    int64_t emptied;    /* how often it lost the files of its runs, by a wipe or with its root */
    const char *errors; /* JSON array text of BatchAIError while unusable, otherwise NULL */
    const char *why;    /* the message of the last error */
    int64_t machine_id; /* its machine in the inventory; 0: a local node */
    bool reclaimed;     /* true: its machine was taken back for another pool, so the node leaves */
    /* 0: it may get runs. Otherwise it gets no further run, and this is what happens to its present
     * runs. */
    enum dealloc_option off;
    enum node_wish wish;
    enum dealloc_option how; /* with a wish: what happens to its runs */
    const char *epoch; /* the epoch that decided its state; "": a version without epochs did */
};

/* The container of a run. Both members are NULL if the run has no container or it was not started
 * yet. */
struct container_seen {
    const char *id;    /* the container runtime's id; NULL before the container's start */
    const char *error; /* the container runtime's message if the container did not start */
};

/* The set-up task of a node's last preparation, if its front reads it. */
struct node_setup {
    int64_t node_id;
    bool runs;
    int64_t start_us, end_us; /* of the last try */
    bool has_exit_code;
    int exit_code;
    int failure; /* enum failure_code; 0: success, or running */
    int retries; /* so far */
    int64_t retry_us;
    const char *why;    /* the message of the failure; NULL: it has not failed */
    const char *beside; /* the id of its first try, while it runs at the same time as runs;
                           otherwise NULL */
    struct container_seen container; /* of the last try */
};

/* A machine of the inventory. The inventory itself is configuration; this row stores the state that
 * must survive a restart of the daemon. A machine is claimed while the row of a node refers to
 * it. */
struct machine_row {
    int64_t id;
    const char *name; /* the name in struct site_machine */
    bool drained;     /* true: the machine gets no further node and no further job */
    const char *reason;
    const char *facts;  /* node_facts_text() of the last contact, or NULL */
    int64_t contact_us; /* 0: there was no contact */
};

/* A storage account. Its name is unique over all subscriptions, and lower-case. */
struct storage_account {
    int64_t id, group_id;
    struct scope scope; /* subscription, group, and the account's location */
    const char *name, *sku, *kind, *tags;
    const char *doc; /* its properties as given, as canonical JSON */
    /* The properties of these two services of the account, as canonical JSON; NULL: none were
     * set. */
    const char *blob_service, *file_service;
    const char *created_by;
    enum prov_state prov_state;
    int64_t created_us, updated_us;
    int64_t key1_us, key2_us; /* when its keys were made */
    bool implicit;            /* a mount made it; no user has created it yet */
};

#define ACCOUNT_KEY_BYTES 64
/* True: the account disables a way of access. The ways are "allowSharedKeyAccess" (by its keys and
 * by signatures made with them) and "allowBlobPublicAccess". */
bool account_forbids(const struct storage_account *account, const char *way);

/* Both keys of an account. Not a row: st_account_keys() decrypts them on request. */
struct account_keys {
    unsigned char key[2][ACCOUNT_KEY_BYTES];
};

#define SHARE_QUOTA_MAX 102400 /* GiB; the limit of the real service */
#define LEASE_INFINITE  (-1)

/* A share (of files) or a container (of blobs). Its content is in its folder. */
struct share {
    int64_t id;
    int64_t account_id;  /* 0: the share is deleted, and perhaps its account, too */
    const char *account; /* the account's name */
    const char *name;
    enum share_kind kind;
    enum share_state state;
    int quota;                        /* GiB; 0: none is set */
    const char *metadata;             /* JSON object text, names spelled as sent; or NULL */
    const char *acl;                  /* JSON array text of signed identifiers, or NULL */
    enum public_access public_access; /* of a container */
    const char *access_tier;          /* NULL: the service's default */
    enum lease_state lease_state; /* LEASE_EXPIRED is not stored: it follows from lease_until_us */
    const char *lease_id;         /* NULL: there is none */
    int lease_duration_s;         /* 0: there is no lease; or LEASE_INFINITE */
    int64_t lease_until_us; /* leased: end of the lease; breaking: when it is broken; 0: never */
    int64_t etag;           /* grows with each change */
    int64_t created_us, updated_us;
    int64_t deleted_us;       /* 0: it is not deleted */
    const char *subscription; /* the subscription of a deleted share; NULL: not known */
};

enum blob_type { BLOB_NONE, BLOB_BLOCK, BLOB_APPEND };

/* The properties of a file, directory or blob in addition to its bytes. */
struct share_item {
    int64_t id, share_id;
    const char *path;  /* the path relative to the share's folder */
    const char *aside; /* the daemon's own file, if no file can have the name; or NULL */
    enum blob_type type;
    int64_t inode, size, mtime_ns; /* the file that md5 and blocks describe; 0: none */
    int64_t revision;              /* grows with each change of this row; part of the item's ETag */
    const char *properties; /* JSON object text, keys are headers: {"Content-Type": ...}; or NULL */
    const char *metadata;   /* JSON object text, names spelled as sent; or NULL */
    const char *tags, *copy;      /* JSON object text, or NULL */
    const char *blocks;           /* JSON array text, [["ID", size], ...]; or NULL */
    const char *md5;              /* base64; NULL: not known */
    enum lease_state lease_state; /* these four members are like those of struct share */
    const char *lease_id;
    int lease_duration_s;
    int64_t lease_until_us;
    int64_t created_us;
};

enum item_change_kind {
    CHANGE_REPLACES = 1, /* another file takes the place */
    CHANGE_REMOVES,
    CHANGE_GROWS /* bytes are added at the file's end */
};

/* An unfinished change of a file or blob, with the former file. */
struct item_change {
    int64_t id;
    enum item_change_kind kind;
    const char *place; /* where the file is, like share_item.aside; NULL: at its path */
    int64_t now_inode, now_mtime_ns;           /* the new file; 0: the file is removed */
    bool was_there;                            /* there was a former file */
    int64_t was_inode, was_size, was_mtime_ns; /* the facts of the former file */
    bool was_noted;                            /* there was a former row of the item */
    struct share_item was;                     /* the former item; share and path are always set */
};

/* A copy of a small blob, or of a few bytes added to a file's end, because the file's own bytes may
 * not be on disk yet. */
struct kept_put {
    int64_t id, share_id;
    const char *path, *aside; /* as in struct share_item */
    int64_t inode, mtime_ns;  /* of the file, to recognize the file that was put */
    const char *boot;         /* the boot id of the kernel at the write */
    const char *bytes;        /* n bytes, without a NUL */
    size_t n;
    int64_t was_inode, was_mtime_ns; /* the file that it replaced; 0: none */
    bool grows;                      /* true: the bytes were added to a file */
    int64_t grows_from;              /* the size of that file before */
};

/* The state of a blob at an instant. */
struct blob_snapshot {
    int64_t taken_us;
    /* item.aside is never NULL. The other members describe the blob's file at that time, without a
     * lease. */
    struct share_item item;
};

#define VAULT_POLICIES_MAX 1024 /* access policies; the limit of the real service */

/* A Key Vault. */
struct vault {
    int64_t id;
    int64_t group_id; /* 0: it is soft-deleted */
    const char *subscription, *group, *name, *location;
    const char *tags; /* JSON object text, or NULL */
    const char *doc;  /* {"properties": {...}} */
    const char *created_by;
    int64_t retention_us; /* how long the vault can be recovered after its deletion */
    int64_t created_us, updated_us;
    int64_t deleted_us, purge_us; /* 0 unless it is soft-deleted */
};

/* A secret of a vault. While it is soft-deleted, no other secret can get its name. */
struct secret {
    int64_t id, vault_id;
    const char *name;
    int64_t deleted_us, purge_us; /* 0 unless it is soft-deleted */
};

/* A secret to which a run refers by its URL. The row contains the value that was read;
 * st_run_secret_get() decrypts it. */
struct run_secret {
    int64_t run_id;
    int attempt;
    const char *url;
};

/* A version of a secret. st_secret_value() decrypts its value. */
struct secret_version {
    int64_t id, secret_id;
    const char *version; /* 32 hexadecimal digits */
    bool enabled;
    int64_t not_before_s, expires_s; /* seconds since 1970; 0: not given */
    const char *content_type, *tags; /* or NULL; tags as JSON object text */
    int64_t created_us, updated_us;
    const char *name; /* the name of the secret; the next two members are the secret's, too */
    int64_t deleted_us, purge_us;
};

/* The object id and application id of the service Azure Batch AI itself, in every directory. It
 * never logs in. */
#define BATCHAI_PRINCIPAL "9fcb3732-5f52-4135-8c08-9d4bbaf203ea"

/* A principal in the directory: a user, a service principal, or the application of a service
 * principal, which has the secrets. */
struct identity {
    int64_t id;
    const char *object_id;
    const char *app_id; /* the login name of a service principal; NULL: a user */
    enum identity_kind kind;
    const char *name;    /* of a user: user@domain */
    const char *display; /* the name that people see */
    int64_t created_us;
    const char *created_by;
};

/* A credential of a principal. */
struct credential {
    int64_t id, identity_id;
    const char *key_id; /* a GUID */
    const char *hint;   /* the first characters of a client secret; NULL: a user's password */
    const char *hash;
    const char *display;        /* or NULL */
    int64_t starts_us, ends_us; /* ends_us 0: never */
};

struct role_assignment {
    int64_t id;
    const char *guid;
    const char *scope;     /* a path, without a slash at its end; "": everything */
    const char *role;      /* the GUID of its definition */
    const char *principal; /* an object id */
    int64_t created_us;
    const char *created_by;
    const char *description; /* or NULL */
};

/* A subscription in addition to the configured one. */
struct subscription {
    int64_t id;
    const char *guid; /* in lower case */
    const char *name;
    int64_t created_us;
    const char *created_by;
};

struct operation {
    const char *guid, *subscription, *location;
    const char *resource_key; /* S$rg$ws$cluster */
    const char *api_version;
    enum resource_kind kind;
    int64_t resource_id;
    bool is_delete;
    enum op_status status;
    int64_t start_us, end_us;
    const char *error_code, *error_message; /* when OP_FAILED */
};

#endif
