/* SPDX-License-Identifier: MIT */
#ifndef API_GRAPH_HANDLERS_H
#define API_GRAPH_HANDLERS_H

#include "api/access/access.h"
#include "api/graph/graph.h"
#include "api/graph/routes.h"
#include "api/http/error.h"

#define GRAPH_OWN(X)                                                                               \
    X(GRAPH_NOT_FOUND, 404, "Request_ResourceNotFound", 0)                                         \
    X(GRAPH_BAD_REQUEST, 400, "Request_BadRequest", 0)                                             \
    X(GRAPH_BAD_FILTER, 400, "Request_UnsupportedQuery", 0)                                        \
    X(GRAPH_EXISTS, 409, "Request_MultipleObjectsWithSameKeyValue", 0)                             \
    X(GRAPH_DENIED, 403, "Authorization_RequestDenied", 0)
enum { ERROR_OWN_KINDS(GRAPH_KINDS, GRAPH_OWN) };

/* Reads the object with this id and kind (0: any kind). Error: GRAPH_NOT_FOUND. */
int graph_find(struct request *r, const char *id, int kind, struct identity *out,
               struct err *e) MUST_CHECK;
/* The object as JSON; NULL: err. */
json_t *graph_render(struct request *r, const struct identity *i, struct err *e);
REPLIED graph_show(struct request *r, int status, const struct identity *i);

#endif
