/* SPDX-License-Identifier: MIT
 *
 * Recently parsed documents without secrets. Consecutive tasks belong to one job and one pool, so
 * these documents are needed again; a task's own document is needed several times, too. The text
 * alone is the key, so a change of rows needs no invalidation.
 */
#ifndef MODEL_KEPT_DOCS_H
#define MODEL_KEPT_DOCS_H

#include <jansson.h>

#include "lib/err.h"

struct kept_docs;

struct kept_docs *kept_docs_new(void);
void kept_docs_free(struct kept_docs *k); /* may be NULL */
/* Borrowed, until the next call. NULL: err. */
const json_t *kept_docs_open(struct kept_docs *k, const char *doc, struct err *e) MUST_CHECK;

#endif
