/* SPDX-License-Identifier: MIT
 *
 * Documents of pools: the row that one asks for, and its changes. Both planes of Azure Batch make
 * and change pools by these functions; what they take is canonical (schema_batch_pool).
 */
#ifndef API_PLANE_BATCH_POOL_DOCS_H
#define API_PLANE_BATCH_POOL_DOCS_H

#include "api/http/accept.h"
#include "api/plane/batch/list.h"
#include "scheduler/formula/formula.h"
#include "scheduler/front/batch/batch.h"

/* The row of a new pool, without its account and who makes it. Its texts are the document's or the
 * arena's. */
void pool_from(struct arena *a, const struct accepted *b, int64_t now_us, struct batch_pool *p);
/* Makes the pool. ERR_CONFLICT: there is one of this name. */
int pool_make(struct batch_front *f, struct batch_pool *p, const struct accepted *b,
              struct err *e) MUST_CHECK;

/* What is stored of a pool; the request's, as if it had accepted that. */
int pool_load(struct request *r, const struct batch_front *f, const struct batch_pool *p,
              struct accepted *out, struct err *e) MUST_CHECK;
/* The property `name` of `given`, with its secrets, takes the place of the one in `all`; `value` is
 * its value, or NULL or an empty list, which removes it. */
void pool_replace(struct accepted *all, const struct accepted *given, const char *name,
                  json_t *value);
/* Stores it, and sets p->updated_us. */
int pool_store(const struct batch_front *f, struct arena *a, const struct accepted *b,
               int64_t updated_us, struct batch_pool *p, struct err *e) MUST_CHECK;

/* What a document says: how nodes that leave are treated, and a span of time (0: not given). */
enum dealloc_option pool_body_how(const struct accepted *b, const char *name);
int64_t pool_body_us(const struct accepted *b, const char *name);

/* For lists of pools: batch_rows.fetch. */
int batch_pools_fetch(const struct batch_list *l, const struct batch_slice *of, void **rows,
                      size_t *n, struct err *e) MUST_CHECK;

/* Whether a formula can be parsed. */
int batch_formula_accept(const char *formula, struct err *e) MUST_CHECK;
/* The error of one that cannot. Returns -1. */
int batch_formula_refuse(const struct formula_error *wrong, struct err *e);

#endif
