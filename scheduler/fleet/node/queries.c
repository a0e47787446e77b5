/* SPDX-License-Identifier: MIT
 *
 * Reads the name, size, link and state of a node in memory, for code outside of this directory,
 * which does not see struct node_rt. Only node_set_text() changes anything. On the loop's thread.
 */
#include "nodeagent-proto/wire/facts.h"
#include "scheduler/fleet/container/container.h"
#include "scheduler/fleet/node/node_priv.h"

#include <stdlib.h>

struct node_rt *node_rt_find(const struct fleet *fl, int64_t id)
{
    return id_map_find(&fl->nodes, id);
}

int64_t node_rt_id(const struct node_rt *rt)
{
    return rt->id;
}

const char *node_rt_name(const struct node_rt *rt)
{
    return rt->name;
}

const char *node_rt_root(const struct node_rt *rt)
{
    return rt->root;
}

bool node_rt_is_local(const struct node_rt *rt)
{
    return !rt->machine;
}

int node_rt_gpus(const struct node_rt *rt)
{
    return rt->seen.has.gpus;
}

int node_rt_cores(const struct node_rt *rt)
{
    return rt->seen.has.cores;
}

bool node_rt_gpus_are_amd(const struct node_rt *rt)
{
    return node_gpus_are_amd(rt->seen.devices);
}

const char *node_rt_gpu_devices(const struct node_rt *rt, struct arena *a, const char *numbers)
{
    return node_gpu_devices(a, rt->seen.devices, numbers);
}

bool node_rt_is_root(const struct node_rt *rt)
{
    return rt && rt->seen.is_root;
}

const char *node_rt_container_runtime(const struct node_rt *rt)
{
    return container_runtime(rt->fleet->cfg.site, rt->seen.runtimes, rt->seen.is_root);
}

const char *node_rt_hostname(const struct node_rt *rt)
{
    return rt->seen.hostname;
}

const char *node_rt_machine(const struct node_rt *rt)
{
    return rt && rt->machine ? rt->machine->name : NULL;
}

const char *node_rt_why_down(const struct node_rt *rt)
{
    return rt->contact.why_down;
}

struct node_link *node_rt_link(const struct node_rt *rt)
{
    return rt->contact.state == CONNECTION_READY ? rt->contact.link : NULL;
}

bool node_rt_usable(const struct node_rt *rt)
{
    return rt->contact.state == CONNECTION_READY && rt->contact.greeted;
}

/* How long a task may live after SIGKILL, in s. Its supervisor gives up after 10 s. */
#define KILL_TIMEOUT_S 60

bool node_kill_is_overdue(const struct node_rt *rt, const char *task, int64_t *since_us,
                          int64_t *until_us, struct arena *a, struct failure *why)
{
    const struct fleet *fl = rt->fleet;
    int limit_s = fl->cfg.kill_timeout_s > 0 ? fl->cfg.kill_timeout_s : KILL_TIMEOUT_S;
    int64_t now = wakes_mono(fl->wakes);
    if (*since_us == 0)
        *since_us = now;
    *until_us = *since_us + limit_s * 1000000LL;
    if (now < *until_us)
        return false;
    *why = (struct failure){
        .code = FAIL_TASK_NOT_KILLED,
        .message = arena_printf(
            a, "Task %s has not ended %d s after SIGKILL: it hangs in the kernel", task, limit_s),
        .step = "kill stray tasks",
        .remedy = front_text(words_of_node(rt), a, NODE_HANGS_REMEDY),
        .exit_code = -1};
    return true;
}

int node_load_pool(const struct node_rt *rt, struct arena *a, struct node_setup_spec *out,
                   struct err *e)
{
    const struct front *f = rt->front;
    const struct front_read how = {.st = rt->fleet->st, .a = a, .secrets = true};
    int rc = f->ops->load_pool(f, &how, rt->pool_id, out, e);
    if (rc == 0)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "the node's %s is gone", f->words->pool);
    if (rc < 0)
        return -1;
    return FRONT_ASK(f, load_users, &how, rt->id, wakes_wall(rt->fleet->wakes), out, e);
}

const char *node_task_prefix(const struct node_rt *rt, struct arena *a, const char *epoch,
                             const char *what)
{
    return arena_printf(a, "%s-%s-%s-", rt->name, epoch ? epoch : st_epoch(rt->fleet->st)->text,
                        what);
}

void node_set_text(char **field, const char *text)
{
    free(*field);
    *field = text ? xstrdup(text) : NULL;
}
