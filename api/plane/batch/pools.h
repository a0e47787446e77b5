/* SPDX-License-Identifier: MIT
 *
 * Pools of the data plane.
 */
#ifndef API_PLANE_BATCH_POOLS_H
#define API_PLANE_BATCH_POOLS_H

#include "api/http/request.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/pool_docs.h"
#include "model/schema.h"

/* The pool that the request's path names. `changes`: the request writes, so a pool that is being
 * deleted is refused. */
int pool_of(struct request *r, bool changes, struct batch_pool *out, struct err *e) MUST_CHECK;
/* "/pools/NAME" and what is behind it; arena. */
const char *pool_path_of(struct request *r, const char *name, const char *behind);
/* The name as it was given when it was made. */
void pool_render(struct request *r, const struct batch_pool *p, schema_set set, struct strbuf *out);

struct replied *pools_add(struct request *r);
struct replied *pools_list(struct request *r);
struct replied *pools_get(struct request *r);
struct replied *pools_exists(struct request *r);
struct replied *pools_delete(struct request *r);
struct replied *pools_patch(struct request *r);
struct replied *pools_update(struct request *r);
struct replied *pools_resize(struct request *r);
struct replied *pools_stop_resize(struct request *r);
struct replied *pools_remove_nodes(struct request *r);
struct replied *pools_upgrade_os(struct request *r);

#define POOL_ROUTE(method, path, flags, handler, operation)                                        \
    {method, "/pools" path, BATCH_ALL, flags, handler, operation},
#define BATCH_POOL_ROUTES                                                                          \
    POOL_ROUTE("POST", "", ROUTE_JSON, pools_add, "Pool_Add")                                      \
    POOL_ROUTE("GET", "", 0, pools_list, "Pool_List")                                              \
    POOL_ROUTE("GET", "/{pool}", 0, pools_get, "Pool_Get")                                         \
    POOL_ROUTE("HEAD", "/{pool}", 0, pools_exists, "Pool_Exists")                                  \
    POOL_ROUTE("DELETE", "/{pool}", 0, pools_delete, "Pool_Delete")                                \
    POOL_ROUTE("PATCH", "/{pool}", ROUTE_JSON, pools_patch, "Pool_Patch")                          \
    POOL_ROUTE("POST", "/{pool}/updateproperties", ROUTE_JSON, pools_update,                       \
               "Pool_UpdateProperties")                                                            \
    POOL_ROUTE("POST", "/{pool}/resize", ROUTE_JSON, pools_resize, "Pool_Resize")                  \
    POOL_ROUTE("POST", "/{pool}/stopresize", 0, pools_stop_resize, "Pool_StopResize")              \
    POOL_ROUTE("POST", "/{pool}/removenodes", ROUTE_JSON, pools_remove_nodes,                      \
               "Pool_RemoveNodes"){"POST",     "/pools/{pool}/upgradeos", BATCH_UNTIL(BATCH_7_0),  \
                                   ROUTE_JSON, pools_upgrade_os,          "Pool_UpgradeOS"},

#endif
