/* SPDX-License-Identifier: MIT
 *
 * A service as a value with everything particular to it, so that the server and the router know no
 * service by name. The router picks a service by host and path, then its row by path, method and
 * api-version, asks who may, reads the body as the row says, and calls the row's handler.
 */
#ifndef API_HTTP_SERVICE_H
#define API_HTTP_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"

struct request;
struct replied;
struct strbuf;

/* What tokens are for: audience.h. */
enum audience {
    AUDIENCE_ARM = 1 << 0, /* the resource manager; our own operations too */
    AUDIENCE_GRAPH = 1 << 1,
    AUDIENCE_STORAGE = 1 << 2, /* the data of storage accounts */
    AUDIENCE_VAULT = 1 << 3,
    AUDIENCE_BATCH = 1 << 4 /* the data plane of Azure Batch */
};

typedef struct replied *(*api_handler)(struct request *r);

enum route_flag {
    ROUTE_OPEN = 1 << 0,        /* open to anybody, even if the service checks tokens */
    ROUTE_ANY_VERSION = 1 << 1, /* accepts any api-version, even if the service lists versions */
    /* The type of the body; without one of these the body is ignored. */
    ROUTE_JSON = 1 << 2,          /* a JSON object: request.body */
    ROUTE_JSON_OPTIONAL = 1 << 3, /* or nothing */
    ROUTE_FORM = 1 << 4,          /* request.form: form.h */
    ROUTE_XML = 1 << 5,           /* request.xml: xml.h */
    ROUTE_STREAM = 1 << 6,        /* piece by piece, of any length: body.h */
    ROUTE_BYTES = 1 << 7,         /* as it is, whole: request.raw, which the handler may take */
    ROUTE_XML_OPTIONAL = 1 << 8,  /* XML or nothing */
    /* Shows only what one may see, so one who may see a part may ask (api/arm/may.h). */
    ROUTE_PARTIAL = 1 << 9
};

/* The flags of a row also contain the limit of its body, if it differs from the service's; less
 * than 1 GiB. */
#define ROUTE_BODY_SHIFT  12
#define ROUTE_BODY_KIB(n) ((unsigned)(n) << ROUTE_BODY_SHIFT)

struct route {
    const char *method;
    const char *path;  /* /subscriptions/{subscription}/...?comp=: see template.h */
    unsigned versions; /* which of the service's versions; 0: any or none */
    unsigned flags;
    api_handler handler;
    const char *operation_id; /* the spec's, or our own name */
    const void *data;         /* the handler's, such as a kind (api/arm/kind.h); or NULL */
};

enum service_versions {
    VERSIONS_LISTED, /* each row says which of the service's versions it serves */
    VERSIONS_ANY,    /* there must be one; any is accepted */
    VERSIONS_NONE    /* ignored */
};

/* A kind of error in the terms of a service. */
struct error_words {
    int status;
    const char *code;
    unsigned adds;
};

/* The headers of an error. */
enum error_adds {
    ADDS_TRY_AGAIN = 1 << 0,     /* Retry-After */
    ADDS_LOG_IN = 1 << 1,        /* WWW-Authenticate: where to get tokens */
    ADDS_GATEWAY_CAUSE = 1 << 2, /* x-ms-failure-cause: gateway; never reached a provider */
    ADDS_SERVICE_CAUSE = 1 << 3  /* x-ms-failure-cause: service */
};

struct service {
    const char *name;
    /* Which paths belong to it, if no host says so: templates as in routes; NULL: all paths that no
     * other service has. The more literal template wins. */
    const char *const *paths;

    /* A provider whose resources may be at any other resource: its paths begin at the last
     * "/providers/NAME", and what stands before is request.scope. NULL: its paths are whole. */
    const char *provider;

    const struct route *routes;
    size_t n_routes;

    enum service_versions versions;
    unsigned (*version_of)(const char *name); /* LISTED: the bit of a version; 0: unknown */
    const char *(*version_name)(unsigned version);

    /* Checks who asks by the request's head, before a byte of the body is read. NULL: anybody may.
     */
    int (*may)(struct request *r, struct err *e);
    unsigned audiences; /* which tokens it takes, if it takes tokens: enum audience */
    /* Adds the WWW-Authenticate of errors with ADDS_LOG_IN; NULL: the resource manager's. */
    void (*challenge)(struct request *r);
    size_t body_max; /* limit for a body that is not streamed; a row may have its own */

    /* Its table of errors (error.h), and how it renders one. NULL: plain HTTP's table, and
     * {"error": {"code", "message"}}. */
    struct error_words (*words)(int kind);
    struct replied *(*error)(struct request *r, struct error_words words, const struct err *e);
    /* The same for a target that is too long, of which there is no request: appends the headers, a
     * line each, and the body. NULL: JSON. */
    void (*too_long)(const char *why, struct strbuf *headers, struct strbuf *body);
    /* Adds the headers of all its answers; NULL: none. own_headers: instead of those that the
     * resource manager's answers have (no-cache, x-ms-request-id, ...). */
    void (*headers)(struct request *r);
    bool own_headers;
    bool unwatched; /* config.watch is not told of its requests */
};

/* A service, the data of its handlers (request.deps), and the hosts that are its own: a
 * NULL-terminated list of names such as "files.example", or "*.files.example" for a service of
 * accounts, whose names stand there (request.label; of several * it is the first). NULL: any host
 * that no other service has. */
struct served {
    const struct service *service;
    const void *deps;
    const char *const *hosts;
};
/* Whether a host, with or without a port, is one of such names; NULL: there are none. */
bool host_is_one_of(const char *const *hosts, const char *host);

#endif
