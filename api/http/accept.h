/* SPDX-License-Identifier: MIT
 *
 * Accepts the body of a request by the table of its resource (model/schema.h). The results live as
 * long as the request; handlers free nothing.
 */
#ifndef API_HTTP_ACCEPT_H
#define API_HTTP_ACCEPT_H

#include "api/http/request.h"
#include "model/schema.h"

/* A canonical document, with its secrets apart. Lives as long as the request. */
struct accepted {
    json_t *doc;
    json_t *secrets;          /* an object from path to text; NULL: no secrets */
    const char *secrets_text; /* `secrets` as text for storage; NULL: no secrets */
    const char *doc_text;     /* NULL until a handler writes it */
};

/* Accepts the body; a missing body is accepted as an empty object. `how` is of enum schema_how. The
 * version is the request's; a service without a list of versions takes all (V_ALL). Fails like
 * schema_accept_as(); *out is empty then. */
int request_accept(struct request *r, const struct schema *s, unsigned how, struct accepted *out,
                   struct err *e) MUST_CHECK;
/* Accepts another document than the body; the caller names the version. */
int request_accept_json(struct request *r, const struct schema *s, enum api_version v, unsigned how,
                        const json_t *given, struct accepted *out, struct err *e) MUST_CHECK;
/* Reads the body of one of our own operations into a struct, as schema_read() does. Its texts and
 * lists live as long as the request. */
int request_read_body(struct request *r, const struct schema *s, void *into,
                      struct err *e) MUST_CHECK;

#endif
