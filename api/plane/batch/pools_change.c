/* SPDX-License-Identifier: MIT
 *
 * Changes of pools: the document as a whole or in parts, the OS version, and sizes. Each handler
 * first checks the conditional headers of the request against the stored pool. Memory is the
 * request's. On the loop's thread.
 */
#include <strings.h>

#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/pool_mounts.h"
#include "api/plane/batch/pools.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/run_as.h"
#include "model/batch/tables_pool.h"
#include "model/batch/versions.h"
#include "scheduler/front/batch/batch.h"

/* --- documents -------------------------------------------------------------------------------- */

static int replace(const struct batch_pool *p, struct accepted *stored,
                   const struct accepted *given, struct err *e)
{
    const char *name;
    json_t *value;
    json_object_foreach(given->doc, name, value) {
        if (pool_fixes(p, stored, given, name))
            return err_set(e, BATCH_OPERATION_INVALID_FOR_CURRENT_STATE, name,
                           "%s of the pool %s can be changed only while the pool has no nodes: "
                           "resize it to 0 first",
                           name, p->name);
        pool_replace(stored, given, name, value);
    }
    return 0;
}

/* Changes the properties that the body gives. `all`: names of properties that are removed if the
 * body lacks them; NULL: none. */
static int change(struct request *r, const struct schema *s, const char *const *all,
                  struct batch_pool *p, struct err *e)
{
    struct accepted given = {0}, stored = {0};
    struct batch_pool now;
    if (pool_of(r, true, p, e) < 0 || batch_conditions(r, p->updated_us, e) < 0 ||
        batch_check_local(r, p->vm_size, e) < 0)
        return -1;
    int rc = request_accept(r, s, SCHEMA_BATCH, &given, e);
    if (rc == 0)
        rc = batch_check_packages(r, json_object_get(given.doc, "applicationPackageReferences"), e);
    if (rc == 0)
        rc = pool_load(r, batch_of(r)->front, p, &stored, e);
    if (rc == 0)
        rc = replace(p, &stored, &given, e);
    for (; rc == 0 && all && *all; all++)
        if (!json_object_get(given.doc, *all))
            pool_replace(&stored, &given, *all, NULL);
    if (rc == 0)
        rc = batch_check_users(stored.doc, "", e);
    if (rc == 0)
        rc = pool_check_subnet(&r->arena, batch_account_of(r), given.doc, e);
    if (rc == 0) {
        pool_from(&r->arena, &stored, p->created_us, &now);
        rc = batch_check_local(r, now.vm_size, e);
    }
    if (rc == 0)
        rc = batch_take_mounts(r, &given, "", now.vm_size, e);
    if (rc == 0)
        rc = pool_store(batch_of(r)->front, &r->arena, &stored, batch_modified(r, p->updated_us), p,
                        e);
    return rc;
}

struct replied *pools_patch(struct request *r)
{
    struct batch_pool p;
    struct err e;
    if (change(r, &schema_batch_pool_patch, NULL, &p, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 200, pool_path_of(r, p.name, ""), p.updated_us);
}

struct replied *pools_update(struct request *r)
{
    /* Bodies of the newest api-version have no certificates, so they do not change those of the
     * pool. */
    static const char *const all[] = {"certificateReferences", "startTask",
                                      "applicationPackageReferences", "metadata", NULL};
    struct batch_pool p;
    struct err e;
    const char *const *names = r->version < BATCH_2025_06 ? all : all + 1;
    if (change(r, &schema_batch_pool_properties, names, &p, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 204, pool_path_of(r, p.name, "/updateproperties"), p.updated_us);
}

/* Changes only the name of the OS version: names of OS versions, like those of images, have no
 * effect here. */
static int upgrade(struct request *r, struct batch_pool *p, const struct accepted *given,
                   struct err *e)
{
    struct accepted stored;
    const json_t *version = json_object_get(given->doc, "targetOSVersion");
    if (pool_load(r, batch_of(r)->front, p, &stored, e) < 0)
        return -1;
    json_t *cloud = json_object_get(stored.doc, "cloudServiceConfiguration");
    int rc = 0;
    if (!cloud)
        rc = err_set(e, BATCH_OPERATION_NOT_VALID_ON_POOL, NULL,
                     "the pool %s has no cloudServiceConfiguration", p->name);
    else if (json_equal(json_object_get(cloud, "osVersion"), version))
        rc = err_set(e, BATCH_POOL_VERSION_EQUALS_UPGRADE_VERSION, "targetOSVersion",
                     "the pool %s has this targetOSVersion already", p->name);
    else
        json_object_set(cloud, "osVersion", (json_t *)(uintptr_t)version);
    if (rc == 0)
        rc = pool_store(batch_of(r)->front, &r->arena, &stored, batch_modified(r, p->updated_us), p,
                        e);
    return rc;
}

struct replied *pools_upgrade_os(struct request *r)
{
    struct batch_pool p;
    struct accepted b;
    struct err e;
    if (pool_of(r, true, &p, &e) < 0 || batch_conditions(r, p.updated_us, &e) < 0 ||
        request_accept(r, &schema_batch_upgrade_os, SCHEMA_BATCH, &b, &e) < 0)
        return reply_err(r, &e);
    int rc = upgrade(r, &p, &b, &e);
    if (rc < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 202, pool_path_of(r, p.name, "/upgradeos"), p.updated_us);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static int steady_pool(struct request *r, struct batch_pool *p, struct err *e)
{
    if (pool_of(r, true, p, e) < 0 || batch_conditions(r, p->updated_us, e) < 0)
        return -1;
    if (!batch_pool_is_steady(p))
        return err_set(e, BATCH_POOL_BEING_RESIZED, NULL, "the pool %s is being resized", p->name);
    return 0;
}

static int refuse_scaled(const struct batch_pool *p, struct err *e)
{
    if (!p->scaling.enabled)
        return 0;
    return err_set(e, BATCH_OPERATION_INVALID_FOR_CURRENT_STATE, NULL,
                   "a formula decides on the size of the pool %s: disable automatic scaling first",
                   p->name);
}

static int target_of(const struct accepted *b, const char *name, int now)
{
    const json_t *given = json_object_get(b->doc, name);
    return given ? (int)json_integer_value(given) : now;
}

struct replied *pools_resize(struct request *r)
{
    struct batch_pool p;
    struct accepted b = {0};
    struct err e;
    if (steady_pool(r, &p, &e) < 0 || refuse_scaled(&p, &e) < 0 ||
        request_accept(r, &schema_batch_pool_resize, SCHEMA_BATCH, &b, &e) < 0)
        return reply_err(r, &e);
    const struct batch_targets t = {.dedicated =
                                        target_of(&b, "targetDedicatedNodes", p.size.dedicated),
                                    .low = target_of(&b, "targetLowPriorityNodes", p.size.low),
                                    .timeout_us = pool_body_us(&b, "resizeTimeout"),
                                    .how = pool_body_how(&b, "nodeDeallocationOption")};
    int64_t updated = batch_modified(r, p.updated_us);
    if (batch_pool_resize(batch_of(r)->front, &p, &t, updated, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "pool.resize_requested", LF_STR("pool", p.name),
             LF_INT("dedicated", t.dedicated), LF_INT("low_priority", t.low));
    return batch_reply_written(r, 202, pool_path_of(r, p.name, "/resize"), updated);
}

struct replied *pools_stop_resize(struct request *r)
{
    struct batch_pool p;
    struct err e;
    if (pool_of(r, true, &p, &e) < 0 || batch_conditions(r, p.updated_us, &e) < 0)
        return reply_err(r, &e);
    if (batch_pool_is_steady(&p)) {
        err_set(&e, BATCH_OPERATION_INVALID_FOR_CURRENT_STATE, NULL,
                "the pool %s is not being resized", p.name);
        return reply_err(r, &e);
    }
    if (p.size.state == BATCH_ALLOCATION_RESIZING &&
        batch_pool_stop_resize(batch_of(r)->front, &p, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 202, pool_path_of(r, p.name, "/stopresize"), p.updated_us);
}

/* Finds the nodes that the list names; in the arena. */
static int find_nodes(struct request *r, const struct batch_pool *p, const json_t *list,
                      const struct node ***out, size_t *n, struct err *e)
{
    struct node *nodes;
    size_t have, i;
    const json_t *name;
    if (st_node_list(arm_of(r)->storage, &r->arena, p->id, &nodes, &have, e) < 0)
        return -1;
    *out = arena_alloc(&r->arena, (json_array_size(list) + 1) * sizeof **out);
    *n = 0;
    json_array_foreach(list, i, name) {
        const struct node *found = NULL;
        for (size_t k = 0; k < have && !found; k++)
            found = strcasecmp(nodes[k].name, json_string_value(name)) == 0 ? &nodes[k] : NULL;
        if (!found)
            return err_set(e, BATCH_NODE_NOT_FOUND, NULL, "the pool %s has no node %.100s", p->name,
                           json_string_value(name));
        bool twice = false;
        for (size_t k = 0; k < *n; k++)
            twice = twice || (*out)[k] == found;
        if (!twice)
            (*out)[(*n)++] = found;
    }
    return 0;
}

struct replied *pools_remove_nodes(struct request *r)
{
    struct batch_pool p;
    struct accepted b = {0};
    struct err e;
    const struct node **nodes;
    size_t n;
    if (steady_pool(r, &p, &e) < 0 || refuse_scaled(&p, &e) < 0 ||
        request_accept(r, &schema_batch_remove_nodes, SCHEMA_BATCH, &b, &e) < 0)
        return reply_err(r, &e);
    const struct batch_targets t = {.timeout_us = pool_body_us(&b, "resizeTimeout"),
                                    .how = pool_body_how(&b, "nodeDeallocationOption")};
    int64_t updated = batch_modified(r, p.updated_us);
    int rc = find_nodes(r, &p, json_object_get(b.doc, "nodeList"), &nodes, &n, &e);
    if (rc == 0)
        rc = batch_pool_remove_nodes(batch_of(r)->front, &p, nodes, n, &t, updated, &e);
    if (rc < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 202, pool_path_of(r, p.name, "/removenodes"), updated);
}
