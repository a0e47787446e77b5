/* SPDX-License-Identifier: MIT
 *
 * Stored documents without secrets that were opened lately. Tasks that run one after the other are
 * of one job and one pool, and each task's own document is asked for some times on its way. The
 * text alone says what a document is, so nothing has to be forgotten when rows change.
 */
#ifndef MODEL_KEPT_DOCS_H
#define MODEL_KEPT_DOCS_H

#include <jansson.h>

#include "lib/err.h"

struct kept_docs;

struct kept_docs *kept_docs_new(void);
void kept_docs_free(struct kept_docs *k); /* may be NULL */
/* Borrowed, until the next is opened. NULL: err. */
const json_t *kept_docs_open(struct kept_docs *k, const char *doc, struct err *e) MUST_CHECK;

#endif
