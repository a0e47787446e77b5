/* SPDX-License-Identifier: MIT
 *
 * A service as a value: everything that is particular to it, so that the server and the router know
 * none by name. The router picks a service by host and path, then its row by path, method and
 * api-version, asks who may, reads the body as the row says, and calls the row's handler.
 */
#ifndef API_HTTP_SERVICE_H
#define API_HTTP_SERVICE_H

#include <stddef.h>

#include "lib/err.h"

struct request;
struct replied;

typedef struct replied *(*api_handler)(struct request *r);

enum route_flag {
    ROUTE_OPEN = 1 << 0,        /* for anybody, also where the service asks who may */
    ROUTE_ANY_VERSION = 1 << 1, /* any api-version will do, also where the service lists them */
    /* What the body is; without one of these it is not looked at. */
    ROUTE_JSON = 1 << 2,          /* a JSON object: request.body */
    ROUTE_JSON_OPTIONAL = 1 << 3, /* or nothing */
    ROUTE_FORM = 1 << 4,          /* request.form: form.h */
    ROUTE_XML = 1 << 5,           /* request.xml: xml.h */
    ROUTE_STREAM = 1 << 6         /* piece by piece, of any length: body.h */
};

/* Beside these in a row's flags: how large its body may be, where that is not as the service has
 * it; less than 1 GiB. */
#define ROUTE_BODY_SHIFT  12
#define ROUTE_BODY_KIB(n) ((unsigned)(n) << ROUTE_BODY_SHIFT)

struct route {
    const char *method;
    const char *path;  /* /subscriptions/{subscription}/...; {rest*} takes all that is left */
    unsigned versions; /* which of the service's; 0 where any or none will do */
    unsigned flags;
    api_handler handler;
    const char *operation_id; /* the spec's, or our own name */
};

enum service_versions {
    VERSIONS_LISTED, /* each row says which of the service's versions it serves */
    VERSIONS_ANY,    /* there must be one, any will do */
    VERSIONS_NONE    /* neither needed nor looked at */
};

/* A kind of error as a service says it. */
struct error_words {
    int status;
    const char *code;
    unsigned adds;
};

/* Headers that come with it. */
enum error_adds {
    ADDS_TRY_AGAIN = 1 << 0,     /* Retry-After */
    ADDS_LOG_IN = 1 << 1,        /* WWW-Authenticate: where tokens are to be had */
    ADDS_GATEWAY_CAUSE = 1 << 2, /* x-ms-failure-cause: gateway; what a provider never sees */
    ADDS_SERVICE_CAUSE = 1 << 3  /* x-ms-failure-cause: service */
};

struct service {
    const char *name;
    /* Which requests are its own. NULL hosts: whatever the client called us; else a list that ends
     * with NULL, of names as in "files.example" or "*.files.example". NULL paths: all that no other
     * service has; else templates as in routes. The more literal template wins. */
    const char *const *hosts, *const *paths;

    const struct route *routes;
    size_t n_routes;

    enum service_versions versions;
    unsigned (*version_of)(const char *name); /* LISTED: its bit; 0: there is none of this name */
    const char *(*version_name)(unsigned version);

    /* Does the request's head say who asks, and may they? NULL: anybody. Asked before a byte of the
     * body is read. */
    int (*may)(struct request *r, struct err *e);
    size_t body_max; /* bytes of a body that is not streamed; a row may say another */

    /* What it calls each kind of error (error.h), and renders one; NULL: as HTTP alone has it, and
     * as {"error": {"code", "message"}}. */
    struct error_words (*words)(int kind);
    struct replied *(*error)(struct request *r, struct error_words words, const struct err *e);
    /* Adds what each answer of it carries, to what all answers do; NULL: nothing. */
    void (*headers)(struct request *r);
};

/* A service and what its handlers work with (request.deps). */
struct served {
    const struct service *service;
    const void *deps;
};

#endif
