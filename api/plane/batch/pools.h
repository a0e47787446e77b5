/* SPDX-License-Identifier: MIT
 *
 * Pools of the data plane.
 */
#ifndef API_PLANE_BATCH_POOLS_H
#define API_PLANE_BATCH_POOLS_H

#include "api/http/request.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/pool_docs.h"
#include "api/plane/batch/routes.h"
#include "model/schema.h"

/* Finds the pool that the request's path names. `changes`: the request changes the pool, so a pool
 * that is being deleted is refused. */
int pool_of(struct request *r, bool changes, struct batch_pool *out, struct err *e) MUST_CHECK;
/* The path "/pools/NAME" followed by `behind`, in the arena. */
const char *pool_path_of(struct request *r, const char *name, const char *behind);
/* Appends the JSON of a pool. Its name has the upper and lower case of the pool's creation. */
void pool_render(struct request *r, const struct batch_pool *p, schema_set set, struct strbuf *out);

#endif
