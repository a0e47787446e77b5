/* SPDX-License-Identifier: MIT
 *
 * Checks the body of a request by the table of its resource (model/schema.h) and converts it. The
 * results are valid as long as the request; handlers free nothing.
 */
#ifndef API_HTTP_ACCEPT_H
#define API_HTTP_ACCEPT_H

#include "api/http/request.h"
#include "model/schema.h"

/* A checked document in canonical form, and its secrets, which are not in the document. Valid as
 * long as the request. */
struct accepted {
    json_t *doc;
    json_t *secrets;          /* object: path -> text; NULL: no secrets */
    const char *secrets_text; /* `secrets` as text for storage; NULL: no secrets */
    const char *doc_text;     /* NULL until a handler writes it */
};

/* Accepts the body; a missing body is accepted as an empty object. `how`: bits of enum schema_how.
 * Uses the request's api-version, or V_ALL in a service without a list of versions. Fails like
 * schema_accept_as(); *out is then empty. */
int request_accept(struct request *r, const struct schema *s, unsigned how, struct accepted *out,
                   struct err *e) MUST_CHECK;
/* Like request_accept(), for the document `given` and the version `v`. */
int request_accept_json(struct request *r, const struct schema *s, enum api_version v, unsigned how,
                        const json_t *given, struct accepted *out, struct err *e) MUST_CHECK;
/* Reads the body of one of batchaid's own operations into a struct, as schema_read() does. The
 * texts and lists in it are valid as long as the request. */
int request_read_body(struct request *r, const struct schema *s, void *into,
                      struct err *e) MUST_CHECK;

#endif
