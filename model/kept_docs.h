/* SPDX-License-Identifier: MIT
 *
 * A cache of parsed documents without secrets. The documents of a pool and a job are needed again
 * for each of the job's tasks, and the document of a task several times. The key is the document's
 * text alone, so entries stay valid when rows change.
 */
#ifndef MODEL_KEPT_DOCS_H
#define MODEL_KEPT_DOCS_H

#include <jansson.h>

#include "lib/err.h"

struct kept_docs;

struct kept_docs *kept_docs_new(void);
void kept_docs_free(struct kept_docs *k); /* k may be NULL */
/* Returns the parsed document, borrowed until the next call. NULL: an error, in *e. */
const json_t *kept_docs_open(struct kept_docs *k, const char *doc, struct err *e) MUST_CHECK;

#endif
