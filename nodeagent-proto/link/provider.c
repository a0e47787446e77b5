/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/link/provider.h"

#include <stdlib.h>

#include "lib/arena.h"
#include "lib/container.h"

struct provider {
    struct node_provider base; /* first */
    struct loop *loop;
    const struct log *log;
    const char *agent_path, *cmd_path; /* local */
};

static const struct provider *mine(struct node_provider *p)
{
    return CONTAINER_OF(p, struct provider, base);
}

static int open_local(struct node_provider *p, const struct node_target *at,
                      const struct node_callbacks *callbacks, struct node_link **out, struct err *e)
{
    const struct provider *l = mine(p);
    const struct node_local_config c = {.loop = l->loop,
                                        .log = l->log,
                                        .files = at->files,
                                        .agent_path = l->agent_path,
                                        .cmd_path = l->cmd_path,
                                        .root = at->root,
                                        .epoch = at->epoch,
                                        .callbacks = *callbacks};
    return node_open_local(&c, out, e);
}

static int open_ssh(struct node_provider *p, const struct node_target *at,
                    const struct node_callbacks *callbacks, struct node_link **out, struct err *e)
{
    struct node_ssh_config c = *at->ssh;
    c.loop = mine(p)->loop;
    c.log = mine(p)->log;
    c.files = at->files;
    c.root = at->root;
    c.epoch = at->epoch;
    c.callbacks = *callbacks;
    return node_open_ssh(&c, out, e);
}

static const struct node_provider_ops local_ops = {.open = open_local};
static const struct node_provider_ops ssh_ops = {.open = open_ssh};

struct node_provider *node_provider_local(struct loop *loop, const struct log *log,
                                          const char *agent_path, const char *cmd_path)
{
    struct provider *p = xcalloc(1, sizeof *p);
    *p = (struct provider){{&local_ops}, loop, log, agent_path, cmd_path};
    return &p->base;
}

struct node_provider *node_provider_ssh(struct loop *loop, const struct log *log)
{
    struct provider *p = xcalloc(1, sizeof *p);
    *p = (struct provider){{&ssh_ops}, loop, log, NULL, NULL};
    return &p->base;
}

void node_provider_free(struct node_provider *p)
{
    free(p);
}

int node_provider_open(struct node_provider *p, const struct node_target *at,
                       const struct node_callbacks *callbacks, struct node_link **out,
                       struct err *e)
{
    return p->ops->open(p, at, callbacks, out, e);
}

bool node_provider_keeps_roots(const struct node_provider *p)
{
    return p->ops->has_root != NULL;
}

bool node_provider_has_root(struct node_provider *p, const char *root)
{
    return p->ops->has_root(p, root);
}

void node_provider_remove_root(struct node_provider *p, const char *root)
{
    p->ops->remove_root(p, root);
}

void node_provider_each_root(struct node_provider *p, const char *dir,
                             void (*each)(void *ctx, const char *name), void *ctx)
{
    p->ops->each_root(p, dir, each, ctx);
}
