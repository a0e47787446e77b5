/* SPDX-License-Identifier: MIT
 *
 * Rows and documents of pools, and their changes. Both planes of Azure Batch create and change
 * pools with these functions, from canonical documents (schema_batch_pool).
 */
#ifndef API_PLANE_BATCH_POOL_DOCS_H
#define API_PLANE_BATCH_POOL_DOCS_H

#include "api/http/accept.h"
#include "api/plane/batch/list.h"
#include "scheduler/formula/formula.h"
#include "scheduler/front/batch/batch.h"

/* Makes the row of a new pool, except its account and creator. Its texts belong to the document or
 * the arena. */
void pool_from(struct arena *a, const struct accepted *b, int64_t now_us, struct batch_pool *p);
/* Creates the pool. ERR_CONFLICT: a pool of this name exists. */
int pool_make(struct batch_front *f, struct batch_pool *p, const struct accepted *b,
              struct err *e) MUST_CHECK;

/* Refuses a document with a network of another subscription than the account's, as the service
 * does. */
int pool_check_subnet(struct arena *a, const struct batch_account *account, const json_t *doc,
                      struct err *e) MUST_CHECK;

/* Loads the stored document of a pool into the request, as if the request's body had been this
 * document. */
int pool_load(struct request *r, const struct batch_front *f, const struct batch_pool *p,
              struct accepted *out, struct err *e) MUST_CHECK;
/* Replaces property `name` of `all`, and its secrets, by the property of `given`. `value`: the new
 * value; NULL or an empty list: removes the property. */
void pool_replace(struct accepted *all, const struct accepted *given, const char *name,
                  json_t *value);
/* Whether `given` would change property `name`, and this is not possible because the pool has
 * nodes. */
bool pool_fixes(const struct batch_pool *p, const struct accepted *all,
                const struct accepted *given, const char *name);
/* Stores the document and the columns that are copies from it, and sets p->updated_us. */
int pool_store(const struct batch_front *f, struct arena *a, const struct accepted *b,
               int64_t updated_us, struct batch_pool *p, struct err *e) MUST_CHECK;

/* Read a deallocation option, and a duration in microseconds (0: not given), from the body. */
enum dealloc_option pool_body_how(const struct accepted *b, const char *name);
int64_t pool_body_us(const struct accepted *b, const char *name);

/* The function batch_rows.fetch of lists of pools. */
int batch_pools_fetch(const struct batch_list *l, const struct batch_slice *of, void **rows,
                      size_t *n, struct err *e) MUST_CHECK;

/* Checks the syntax of a formula. */
int batch_formula_accept(const char *formula, struct err *e) MUST_CHECK;
/* Sets the error for a formula that cannot be parsed. Returns -1. */
int batch_formula_refuse(const struct formula_error *wrong, struct err *e);

#endif
