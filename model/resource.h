/* SPDX-License-Identifier: MIT
 *
 * The resources as typed rows: what storage/ reads and writes, what scheduler/ reasons about, what
 * api/ renders. Strings are borrowed from the arena (reads) or the caller (writes).
 *
 * `doc` is the resource's user-given properties as canonical JSON text (model/schema.h): only
 * model/ and the service that it belongs to read it; storage and the scheduler do not. `secrets`
 * never appears in a row: st_*_secrets() unseals it on request. Instants are microseconds since
 * 1970 (lib/timefmt.h), 0 = not yet.
 */
#ifndef MODEL_RESOURCE_H
#define MODEL_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/enums.h"

/* Where a resource lives, with the names spelled as at its creation. Levels below the resource's
 * own are NULL. */
struct scope {
    const char *subscription, *group, *workspace, *experiment;
    const char *location; /* the workspace's (or group's) */
};

struct resource_group {
    int64_t id;
    const char *subscription, *name, *location;
    const char *tags;       /* JSON object text, or NULL */
    const char *created_by; /* who made it (likewise in the structs below); NULL: made before this
                               was recorded */
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
    struct scope scope; /* ..., workspace */
    const char *name, *created_by;
    enum prov_state prov_state;
    int64_t prov_us, created_us, updated_us;
};

struct node_counts { /* computed from the nodes in one query, never stored */
    int preparing, idle, running, leaving, unusable;
};

struct scale {
    enum scale_kind kind;
    int target;                    /* manual */
    enum dealloc_option dealloc;   /* manual; automatic scaling behaves as WAIT_FOR_COMPLETION */
    int minimum, maximum, initial; /* auto */
    int low; /* low-priority nodes that are wanted besides, in a pool of dedicated ones */
};

/* More of anything is no amount: sums of such numbers are numbers too. */
#define CAPACITY_MAX        1000000000
#define CAPACITY_MEMORY_MAX (INT64_C(1) << 50)

/* An amount of resources: what a node has, what a run takes of each node, or what an allocation
 * holds. */
struct capacity {
    int slots, gpus, cores;
    int64_t memory; /* bytes */
};

/* The core's part of a cluster: which nodes are wanted, and the state that they are in. */
struct pool {
    int64_t id;
    enum resource_kind kind; /* of the service's resource whose part it is */
    const char *vm_size;
    enum vm_priority vm_priority;
    struct scale scale;
    int auto_target;
    enum alloc_state alloc_state;
    int64_t alloc_us;
    bool is_new; /* until its first nodes were asked for */
    bool going;  /* being deleted: it is to lose its nodes, and then be removed */
    int slots;   /* of each of its nodes; 0: as the node says */
    bool spread; /* a run that wants parts of nodes gets them of those with the most slots left */
    const char *errors;
};

/* A document and its pool. Both have the same id. */
struct cluster {
    int64_t id, workspace_id;
    struct scope scope;
    const char *name, *guid; /* guid: fresh per incarnation, in setupTask's stdOutErrPathSuffix */
    const char *doc, *created_by;
    const char *vm_size; /* upper-case */
    enum vm_priority vm_priority;
    struct scale scale;
    int auto_target; /* what automatic scaling last decided; manual: unused */
    enum prov_state prov_state;
    enum alloc_state alloc_state;
    bool is_new; /* until its first nodes were asked for */
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

/* One unit of work on a pool. */
struct run {
    int64_t id, pool_id;
    enum resource_kind owner_kind; /* the kind of the service's resource that the run belongs to */
    int64_t owner_id;
    int idx;          /* number among its owner's runs, from 0 */
    const char *guid; /* begins the ids of its tasks, and its directories */
    int priority;     /* higher first */
    int nodes;
    bool need_whole; /* it takes whole nodes; otherwise `need` of each */
    struct capacity need;
    int64_t max_wall_us;
    enum run_state state;
    enum run_stop stop;
    int attempt; /* 0 before the first allocation; +1 with each */
    int64_t start_us, end_us;
    int failure; /* enum failure_code of how it ended; 0: well, or not yet */
    enum run_hold held;
    int retried;      /* how often it was tried again after a failure */
    int runs;         /* how many its owner has */
    int number;       /* what its owner's user calls it: the index of an array */
    int64_t group_id; /* runs that belong together: a node may be barred to them; 0: none */
    int64_t near_id;  /* the node that it would rather have; 0: none */
    bool own_class;   /* it gets no node of low priority */
};

/* A resource waits for the end of another before its runs may begin. */
struct dependency {
    enum resource_kind owner_kind;
    int64_t owner_id;
    enum resource_kind awaited_kind;
    int64_t awaited_id;
    const char *name; /* what the owner's user called it */
    enum after wanted;
    enum dependency_state state;
    enum ended_how ended; /* 0: it has not */
};

/* A run's part of a node. Its ranks are on distinct nodes. */
struct allocation {
    int64_t run_id;
    int attempt, rank;
    int64_t node_id; /* 0: the node is gone */
    const char *node_name;
    struct capacity takes;
    const char *devices; /* which of the node's GPUs, by their numbers: "0,2"; NULL: all */
    enum allocation_state state;
    bool kept;    /* the node keeps the run's directory */
    int64_t term; /* of the epoch in which it was made; 0: made before epochs existed */
    const char *task_prefix;
    int64_t created_us, released_us;
};

/* One start of the daemon. Terms grow; the random part tells starts of the same second apart. */
struct epoch {
    int64_t term;
    const char *random; /* 8 hexadecimal digits */
    const char *text;   /* TERM.RANDOM, as it stands in names; not a column */
};

/* A change of state. States are the numbers of the kind's enum; 0: there was none before. */
struct event {
    int64_t seq, at_us;
    enum resource_kind kind;
    int64_t resource_id;
    int from, to;
    const char *reason; /* NULL: none was given */
};

/* A document and its one run. */
struct job {
    int64_t id, experiment_id;
    int64_t cluster_id;      /* 0 once the cluster is gone: jobs survive their cluster */
    struct scope scope;      /* ..., experiment */
    const char *name, *guid; /* guid: fresh per incarnation, in jobOutputDirectoryPathSegment */
    const char *doc, *created_by;
    const char *cluster_ref; /* resource id of the cluster as rendered */
    int priority; /* higher first: 0 is normal, low -1000, high 1000 (2017/2018-03 give a number) */
    int node_count;
    bool part;            /* it takes a part of each node: */
    struct capacity need; /* see struct run */
    int runs;             /* 0 or 1: it is no array */
    const int *numbers;   /* of an array, when it is made: its indexes, and */
    int at_once;          /* how many of them may run at once; 0: all */
    int64_t max_wall_us;
    enum prov_state prov_state;
    enum exec_state exec_state;
    int64_t prov_us, exec_us, created_us, updated_us, start_us, end_us;
    bool has_exit_code;
    int exit_code;
    int attempt;        /* 0 before the first allocation; +1 with each; part of task ids */
    const char *errors; /* JSON array text of BatchAIError, or NULL */
};

struct node {
    int64_t id, pool_id;
    enum resource_kind pool_kind; /* struct pool's; only read, as is: */
    int pool_slots;
    enum vm_priority vm_priority; /* which class of its pool's nodes it is one of */
    const char *name;             /* tvm-171000001_1-20180606t212057z[-p] */
    int ordinal;                  /* 1.. within the pool; remote login port is 49999 + ordinal */
    enum node_state state;
    int live;  /* allocations that it holds: an idle one that has any is shown as running */
    int aside; /* those of them that take no slot: only read */
    int64_t state_us, created_us;
    int64_t idle_us; /* the instant since which it is idle and holds nothing; 0: it is not idle */
    struct capacity has;
    const char *devices;     /* as JSON text; NULL: not known */
    int failure;             /* enum failure_code of why it is unusable; 0: it is usable */
    const char *incarnation; /* of the node root, as the agent reported it; NULL before hello */
    int64_t booted_us;       /* 0 before hello */
    const char *errors;      /* JSON array text of BatchAIError while unusable, else NULL */
    const char *why;         /* the message of the last of them */
    int64_t machine_id;      /* its machine in the inventory; 0: a local node */
    bool reclaimed;          /* its machine was taken back for another pool: it leaves */
    enum dealloc_option
        off; /* it gets no further run, and what becomes of those there; 0: it may */
    enum node_wish wish;
    enum dealloc_option how; /* with a wish: what becomes of the runs there */
    const char
        *epoch; /* the epoch in which its state was decided on; "": decided before epochs existed */
};

/* The container of what runs in one; both NULL: it has none, or none yet. */
struct container_seen {
    const char *id;    /* once it has started; the runtime's */
    const char *error; /* what the runtime said when it did not start */
};

/* The set-up task of a node's last preparation, if its front wants to know of it. */
struct node_setup {
    int64_t node_id;
    bool runs;
    int64_t start_us, end_us; /* of the last try */
    bool has_exit_code;
    int exit_code;
    int failure; /* enum failure_code; 0: it succeeded, or runs */
    int retries; /* so far */
    int64_t retry_us;
    const char *why;    /* message of the failure; NULL: none */
    const char *beside; /* the id of its first try, while it runs beside runs; NULL: it does not */
    struct container_seen container; /* of the last try */
};

/* A machine of the inventory. The inventory itself is configuration; this row keeps what must
 * outlive the daemon. A machine is claimed while a node row names it. */
struct machine_row {
    int64_t id;
    const char *name; /* struct site_machine's */
    bool drained;     /* gets no further node and no further job */
    const char *reason;
    const char *facts;  /* node_facts_text() of the last contact, or NULL */
    int64_t contact_us; /* 0: never */
};

/* A storage account. Its name is unique over all subscriptions, and lower-case. */
struct storage_account {
    int64_t id, group_id;
    struct scope scope; /* subscription, group, location (the account's own) */
    const char *name, *sku, *kind, *tags;
    const char *doc; /* its properties as they were given, as canonical JSON */
    const char *blob_service, *file_service; /* likewise, of these services; NULL: none are set */
    const char *created_by;
    enum prov_state prov_state;
    int64_t created_us, updated_us;
    int64_t key1_us, key2_us; /* when its keys were made */
    bool implicit;            /* made by being named in a mount; nobody has created it yet */
};

#define ACCOUNT_KEY_BYTES 64
/* Whether an account says of one of the ways to use it that it is off: "allowSharedKeyAccess", its
 * keys and what they signed; "allowBlobPublicAccess". */
bool account_forbids(const struct storage_account *account, const char *way);

/* Both keys of an account. Not a row: st_account_keys() unseals them on request. */
struct account_keys {
    unsigned char key[2][ACCOUNT_KEY_BYTES];
};

#define SHARE_QUOTA_MAX 102400 /* GiB; what the service allows */
#define LEASE_INFINITE  (-1)

/* A share (of files) or a container (of blobs). What is in it is in its folder. */
struct share {
    int64_t id;
    int64_t account_id;  /* 0: it is deleted, and its account may be gone */
    const char *account; /* the account's name */
    const char *name;
    enum share_kind kind;
    enum share_state state;
    int quota;            /* GiB; 0: none is set */
    const char *metadata; /* JSON object text, names spelled as they were sent; or NULL */
    const char *acl;      /* JSON array text of signed identifiers, or NULL */
    enum public_access public_access; /* of a container */
    const char *access_tier;          /* NULL: the service's default */
    enum lease_state lease_state;     /* LEASE_EXPIRED is not stored: lease_until_us says it */
    const char *lease_id;             /* NULL: there is none */
    int lease_duration_s;             /* 0: there is no lease; LEASE_INFINITE */
    int64_t lease_until_us;           /* leased: it ends; breaking: it is broken; 0: never */
    int64_t etag;                     /* grows with each change */
    int64_t created_us, updated_us;
    int64_t deleted_us; /* 0: it is not deleted */
};

enum blob_type { BLOB_NONE, BLOB_BLOCK, BLOB_APPEND };

/* What a file, directory or blob has beside its bytes. */
struct share_item {
    int64_t id, share_id;
    const char *path;  /* below the share's folder */
    const char *aside; /* the file of ours that holds it, as no file can have its name; or NULL */
    enum blob_type type;
    int64_t inode, size, mtime_ns; /* the file as md5 and blocks were noted; else 0 */
    int64_t revision;              /* grows with each change here; part of its ETag */
    const char *properties;        /* JSON object text by headers: {"Content-Type": ...}; or NULL */
    const char *metadata;          /* JSON object text, names spelled as they were sent; or NULL */
    const char *tags, *copy;       /* JSON object text, or NULL */
    const char *blocks;            /* JSON array text, [["ID", size], ...]; or NULL */
    const char *md5;               /* base64; NULL: not known */
    enum lease_state lease_state;  /* these four as a share's */
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

/* A change of a file or blob that is under way, with what is there before. */
struct item_change {
    int64_t id;
    enum item_change_kind kind;
    const char *place;               /* where the file is, as share_item.aside; NULL: at its path */
    int64_t now_inode, now_mtime_ns; /* the file that it becomes; 0: it goes */
    bool was_there;                  /* a file, */
    int64_t was_inode, was_size, was_mtime_ns; /* which was this one */
    bool was_noted;                            /* a row, */
    struct share_item was;                     /* which was this one; share and path in any case */
};

/* A small blob whose file may not be on disk yet, or a few bytes at the end of one. */
struct kept_put {
    int64_t id, share_id;
    const char *path, *aside; /* as of a struct share_item */
    int64_t inode, mtime_ns;  /* the file's, as long as it is the one that was put */
    const char *boot;         /* the kernel's run in which it was written */
    const char *bytes;        /* not terminated */
    size_t n;
    int64_t was_inode, was_mtime_ns; /* the file that was there before; 0: none was */
    bool grows;                      /* they are added to the file, */
    int64_t grows_from;              /* which ends here before */
};

/* What a blob was at an instant. */
struct blob_snapshot {
    int64_t taken_us;
    struct share_item item; /* aside: never NULL; the file's facts are of the blob's own file as it
                               was; it has no lease */
};

/* A Key Vault. */
struct vault {
    int64_t id;
    int64_t group_id; /* 0: it is soft-deleted */
    const char *subscription, *group, *name, *location;
    const char *tags; /* JSON object text, or NULL */
    const char *doc;  /* {"properties": {...}} */
    const char *created_by;
    int64_t retention_us; /* for how long it can be recovered once it is deleted */
    int64_t created_us, updated_us;
    int64_t deleted_us, purge_us; /* 0 unless it is soft-deleted */
};

/* A secret of a vault. Its name is taken while it is soft-deleted. */
struct secret {
    int64_t id, vault_id;
    const char *name;
    int64_t deleted_us, purge_us; /* 0 unless it is soft-deleted */
};

/* A secret that a run refers to, by its URL, and has got; st_run_secret_get() unseals it. */
struct run_secret {
    int64_t run_id;
    int attempt;
    const char *url;
};

/* One value of a secret, which st_secret_value() unseals. */
struct secret_version {
    int64_t id, secret_id;
    const char *version; /* 32 hexadecimal digits */
    bool enabled;
    int64_t not_before_s, expires_s; /* seconds since 1970; 0: not given */
    const char *content_type, *tags; /* or NULL; tags as JSON object text */
    int64_t created_us, updated_us;
    const char *name; /* the secret's; likewise: */
    int64_t deleted_us, purge_us;
};

/* Somebody in the directory: a user, a service principal, or the application that a service
 * principal belongs to and that has its secrets. */
struct identity {
    int64_t id;
    const char *object_id;
    const char *app_id; /* what a service principal logs in with; NULL: a user */
    enum identity_kind kind;
    const char *name;    /* a user's is user@domain */
    const char *display; /* for people */
    int64_t created_us;
    const char *created_by;
};

/* What somebody logs in with. */
struct credential {
    int64_t id, identity_id;
    const char *key_id; /* a GUID */
    const char *hint;   /* the first characters of a secret; NULL: it is a password */
    const char *hash;
    const char *display;        /* or NULL */
    int64_t starts_us, ends_us; /* ends_us 0: never */
};

struct role_assignment {
    int64_t id;
    const char *guid;
    const char *scope;     /* a path, without a slash at its end; "": all */
    const char *role;      /* the GUID of its definition */
    const char *principal; /* an object id */
    int64_t created_us;
    const char *created_by;
};

/* One besides that of the configuration. */
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
