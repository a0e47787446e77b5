/* SPDX-License-Identifier: MIT
 *
 * The document of a pool of Azure Batch as plain structs; spec.h describes the rules that are
 * common to these structs.
 */
#ifndef MODEL_BATCH_POOL_SPEC_H
#define MODEL_BATCH_POOL_SPEC_H

#include <jansson.h>

#include "model/batch/rows.h"
#include "model/batch/spec.h"

struct batch_start_task {
    const char *command_line;
    struct batch_container *container;
    struct batch_resource_file *resources;
    struct kv *env;
    size_t n_resources, n_env;
    struct batch_user user;
    int retries; /* -1: for ever */
    bool waits;  /* nodes get tasks only after it has succeeded */
};

struct batch_user_account {
    const char *name, *password; /* the password is secret */
    enum batch_elevation elevation;
    int uid, gid;                /* on Linux; if both are 0, the node chooses them */
    const char *ssh_private_key; /* secret; NULL: none */
};

/* The settings for tasks in containers. */
struct batch_pool_containers {
    const char *const *images; /* images to pull before a node's first task */
    size_t n_images;
    struct batch_container *registries; /* only registry and login are set */
    size_t n_registries;
};

/* A mount. One of `container`, `url`, `nfs` and `cifs` is set, with its members. */
struct batch_mount {
    const char *account, *container, *url;
    const char *nfs, *cifs, *user;
    const char *path, *options;
    const char *key, *sas, *password; /* secret */
};

struct batch_pool_spec {
    int slots;
    int fill;          /* enum batch_fill */
    int job_order;     /* enum batch_job_order; 0: the pool was made by an api-version without this
                          property */
    bool communicates; /* nodes may communicate with each other */
    struct batch_pool_containers *containers; /* NULL: tasks have no containers */
    struct batch_start_task *start_task;      /* NULL: none */
    struct batch_user_account *users;
    struct batch_mount *mounts;
    struct batch_package_ref *packages;
    size_t n_users, n_mounts, n_packages;
};

/* `secrets` is the decrypted JSON text with the document's secrets, or NULL. */
int batch_pool_decode(struct arena *a, const char *doc, const char *secrets,
                      struct batch_pool_spec *out, struct err *e) MUST_CHECK;
/* Like batch_pool_decode(), without secrets, and with the parsed document taken from the cache
 * `k`. */
int batch_pool_decode_kept(struct kept_docs *k, struct arena *a, const char *doc,
                           struct batch_pool_spec *out, struct err *e) MUST_CHECK;
/* Decodes a document that is not stored, without its secrets. */
void batch_pool_asks(struct arena *a, const json_t *doc, struct batch_pool_spec *out);

/* Makes the row of a pool from its document, which has the id. Does not set account, creator,
 * instants and `doc`. Texts are in the arena. */
void batch_pool_of_doc(struct arena *a, const json_t *doc, struct batch_pool *p);

#endif
