/* SPDX-License-Identifier: MIT
 *
 * Providers open links to nodes: local nodes (agents on this machine, one directory each), machines
 * reached by SSH, or fake nodes in memory (fake.h). Callers need not know the kind, because there
 * is one vtable.
 */
#ifndef NODEAGENT_PROTO_LINK_PROVIDER_H
#define NODEAGENT_PROTO_LINK_PROVIDER_H

#include "lib/loop.h"
#include "nodeagent-proto/link/node.h"

/* Identifies the node. Texts are borrowed for the call. */
struct node_target {
    int64_t id; /* the caller's id of the node */
    const char *name;
    const char *root;        /* node root directory, made if missing */
    struct node_epoch epoch; /* the daemon's epoch */
    struct files *files;     /* borrowed: its workers are used while the link is opened */
    /* for a machine; the provider fills in `loop`, `log`, `files`, `root`, `epoch` and `callbacks`.
     * NULL: a local node */
    const struct node_ssh_config *ssh;
};

struct node_provider;

struct node_provider_ops {
    /* Starts to open a link; `ready` or `down` follows. */
    int (*open)(struct node_provider *p, const struct node_target *at,
                const struct node_callbacks *callbacks, struct node_link **out, struct err *e);
    /* The members below are NULL if node roots are ordinary directories of this machine.
     * remove_root removes the whole tree. */
    bool (*has_root)(struct node_provider *p, const char *root);
    void (*remove_root)(struct node_provider *p, const char *root);
    /* Calls `each` with the name of every node root below `dir`. */
    void (*each_root)(struct node_provider *p, const char *dir,
                      void (*each)(void *ctx, const char *name), void *ctx);
};

/* First member of the struct of each implementation. */
struct node_provider {
    const struct node_provider_ops *ops;
};

/* Runs agents as children of this process, from the program `agent_path`; they run command lines of
 * Windows by `cmd_path` (NULL: not supported). All is borrowed. The caller frees with
 * node_provider_free() after the last link was closed. */
struct node_provider *node_provider_local(struct loop *loop, const struct log *log,
                                          const char *agent_path, const char *cmd_path);
struct node_provider *node_provider_ssh(struct loop *loop, const struct log *log);
/* Frees a provider of node_provider_local() or node_provider_ssh(). NULL is accepted. */
void node_provider_free(struct node_provider *p);

int node_provider_open(struct node_provider *p, const struct node_target *at,
                       const struct node_callbacks *callbacks, struct node_link **out,
                       struct err *e) MUST_CHECK;
bool node_provider_keeps_roots(const struct node_provider *p);
bool node_provider_has_root(struct node_provider *p, const char *root);
void node_provider_remove_root(struct node_provider *p, const char *root);
void node_provider_each_root(struct node_provider *p, const char *dir,
                             void (*each)(void *ctx, const char *name), void *ctx);

#endif
