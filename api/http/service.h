/* SPDX-License-Identifier: MIT
 *
 * A service as a value, so that the server and the router know no service by name. The router
 * selects a service by host and path, then its route by path, method and api-version, checks
 * access, reads the body by the route's flags, and calls the route's handler.
 */
#ifndef API_HTTP_SERVICE_H
#define API_HTTP_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/err.h"

struct request;
struct replied;
struct strbuf;

/* The audiences of tokens: audience.h. */
enum audience {
    AUDIENCE_ARM = 1 << 0, /* the resource manager; our own operations too */
    AUDIENCE_GRAPH = 1 << 1,
    AUDIENCE_STORAGE = 1 << 2, /* the data of storage accounts */
    AUDIENCE_VAULT = 1 << 3,
    AUDIENCE_BATCH = 1 << 4 /* the data plane of Azure Batch */
};

typedef struct replied *(*api_handler)(struct request *r);

enum route_flag {
    ROUTE_OPEN = 1 << 0,        /* needs no token, even if the service checks tokens */
    ROUTE_ANY_VERSION = 1 << 1, /* accepts any api-version, even if the service lists versions */
    /* The type of the body; without one of these flags the body is ignored. */
    ROUTE_JSON = 1 << 2,          /* a JSON object: request.body */
    ROUTE_JSON_OPTIONAL = 1 << 3, /* or nothing */
    ROUTE_FORM = 1 << 4,          /* request.form: form.h */
    ROUTE_XML = 1 << 5,           /* request.xml: xml.h */
    ROUTE_STREAM = 1 << 6,        /* piece by piece, of any length: body.h */
    ROUTE_BYTES = 1 << 7, /* unchanged and whole: request.raw; the handler may take it over */
    ROUTE_XML_OPTIONAL = 1 << 8, /* XML or nothing */
    /* The list shows only what the principal may see, so a principal who may see a part may request
     * it (api/arm/may.h). */
    ROUTE_PARTIAL = 1 << 9,
    /* The reply has bytes of users, or their text: a browser must not take it for a page of this
     * host. Each reply gets the headers of reply_users_bytes() (request.h). */
    ROUTE_USERS_BYTES = 1 << 10
};

/* The flags also contain the limit of the route's body in bytes, if it differs from the service's;
 * less than 1 GiB. */
#define ROUTE_BODY_SHIFT  12
#define ROUTE_BODY_KIB(n) ((unsigned)(n) << ROUTE_BODY_SHIFT)

struct route {
    const char *method;
    const char *path;  /* /subscriptions/{subscription}/...?comp=: see template.h */
    unsigned versions; /* the service's versions that have the route; 0: any or none */
    unsigned flags;
    api_handler handler;
    const char *operation_id; /* the spec's, or our own name */
    const void *data;         /* for the handler, such as a kind (api/arm/kind.h); or NULL */
};

enum service_versions {
    VERSIONS_LISTED, /* each route lists its versions of the service */
    VERSIONS_ANY,    /* an api-version is required, but any is accepted */
    VERSIONS_NONE    /* ignored */
};

/* A kind of error in the words of a service. */
struct error_words {
    int status;
    const char *code;
    unsigned adds;
};

/* The headers of an error. */
enum error_adds {
    ADDS_TRY_AGAIN = 1 << 0, /* Retry-After */
    ADDS_LOG_IN = 1 << 1,    /* WWW-Authenticate: where to get tokens */
    /* x-ms-failure-cause: gateway; the request never reached a provider */
    ADDS_GATEWAY_CAUSE = 1 << 2,
    ADDS_SERVICE_CAUSE = 1 << 3 /* x-ms-failure-cause: service */
};

struct service {
    const char *name;
    /* The name of the struct that request.deps points to, and whether it begins with a struct arm.
     * The function of that struct (admin_of()) asserts it. NULL: the handlers use no such data. */
    const char *deps;
    bool deps_begin_with_arm;
    /* The paths of the service, if no host selects it: templates, as in routes. NULL: all paths
     * that no other service has. The more literal template wins. */
    const char *const *paths;

    /* A provider whose resources may be below any other resource: its paths begin at the last
     * "/providers/NAME", and request.scope is the part before. NULL: its paths are whole. */
    const char *provider;

    const struct route *routes;
    size_t n_routes;

    enum service_versions versions;
    unsigned (*version_of)(const char *name); /* LISTED: the bit of a version; 0: unknown */
    const char *(*version_name)(unsigned version);
    unsigned seeded; /* LISTED: the bit of rows for seeds and dumps, beside a version; 0: none */

    /* Checks access by the request's head, before any byte of the body is read. NULL: anybody
     * may. */
    int (*may)(struct request *r, struct err *e);
    unsigned audiences; /* the audiences whose tokens it takes, if it takes tokens: enum audience */
    bool sessions; /* it takes cookies of sessions too, as pages of the daemon send (session.h) */
    /* Adds the WWW-Authenticate header of errors with ADDS_LOG_IN; NULL: ARM's header. */
    void (*challenge)(struct request *r);
    size_t body_max; /* limit in bytes for a body that is not streamed; a route may have another */

    /* The service's table of errors (error.h), and how it renders an error. NULL: plain HTTP's
     * table, and {"error": {"code", "message"}}. */
    struct error_words (*words)(int kind);
    struct replied *(*error)(struct request *r, struct error_words words, const struct err *e);
    /* Renders the error of a target that is too long, for which there is no request: appends the
     * headers, one per line, and the body. NULL: JSON. */
    void (*too_long)(const char *why, struct strbuf *headers, struct strbuf *body);
    /* Adds the headers of all its replies; NULL: none. own_headers: instead of the headers of ARM's
     * replies (no-cache, x-ms-request-id, ...). */
    void (*headers)(struct request *r);
    bool own_headers;
    bool unwatched; /* config.watch does not see its requests */
};

/* Whether request.deps of `s` is a struct `name`; "arm": or begins with it. */
static inline bool service_deps_are(const struct service *s, const char *name)
{
    return s->deps &&
           (strcmp(s->deps, name) == 0 || (s->deps_begin_with_arm && strcmp(name, "arm") == 0));
}

/* A service, the data of its handlers (request.deps), and a NULL-terminated list of its hosts, such
 * as "files.example". In "*.files.example" the * is the name of an account (request.label; with
 * several *, the first). NULL: every host that no other service has. */
struct served {
    const struct service *service;
    const void *deps;
    const char *const *hosts;
};
/* Whether `host`, with or without a port, is one of `hosts`; NULL: no hosts. */
bool host_is_one_of(const char *const *hosts, const char *host);

#endif
