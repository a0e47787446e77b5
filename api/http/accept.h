/* SPDX-License-Identifier: MIT
 *
 * The body of a request as the table of its resource accepts it (model/schema.h). What comes of it
 * is the request's: no handler frees it.
 */
#ifndef API_HTTP_ACCEPT_H
#define API_HTTP_ACCEPT_H

#include "api/http/request.h"
#include "model/schema.h"

/* A canonical document and what was moved out of it. All of it lives as long as the request. */
struct accepted {
    json_t *doc;
    json_t *secrets;          /* an object from path to text; NULL: there are none */
    const char *secrets_text; /* the same as text for storage; NULL: there are none */
    const char *doc_text;     /* NULL until a handler writes it */
};

/* Accepts the body; no body counts as an empty object. `how` is of enum schema_how. The version is
 * the request's; a service that lists none takes all (V_ALL). Fails as schema_accept_as() does;
 * *out is empty then. */
int request_accept(struct request *r, const struct schema *s, unsigned how, struct accepted *out,
                   struct err *e) MUST_CHECK;
/* The same of another document than the body, in terms of a version that the caller names. */
int request_accept_json(struct request *r, const struct schema *s, enum api_version v, unsigned how,
                        const json_t *given, struct accepted *out, struct err *e) MUST_CHECK;
/* Reads the body of one of our own operations into a struct, as schema_read() does. Its texts and
 * lists live as long as the request. */
int request_read_body(struct request *r, const struct schema *s, void *into,
                      struct err *e) MUST_CHECK;

#endif
