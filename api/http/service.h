/* SPDX-License-Identifier: MIT
 *
 * struct service describes a service, so that the server and the router contain no code for single
 * services. The router selects a service by host and path, then its route by path, method and
 * api-version, checks access, reads the body by the route's flags, and calls the route's handler.
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
    AUDIENCE_ARM = 1 << 0, /* resource manager, batchaid's own operations */
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
    ROUTE_JSON_OPTIONAL = 1 << 3, /* a JSON object or nothing */
    ROUTE_FORM = 1 << 4,          /* request.form: form.h */
    ROUTE_XML = 1 << 5,           /* request.xml: xml.h */
    ROUTE_STREAM = 1 << 6,        /* in pieces, of any length: body.h */
    ROUTE_BYTES = 1 << 7, /* the whole body as sent: request.raw; the handler may take it over */
    ROUTE_XML_OPTIONAL = 1 << 8, /* XML or nothing */
    /* The list shows only items that the principal may see, so a principal who may see only some
     * items may request it, too (api/arm/may.h). */
    ROUTE_PARTIAL = 1 << 9,
    /* The reply contains bytes or text of users, which a browser must not run as a page of this
     * host: each reply gets the headers of reply_users_bytes() (request.h). */
    ROUTE_USERS_BYTES = 1 << 10
};

/* The flags also contain the route's limit for the body (less than 1 GiB), if it differs from the
 * service's limit. */
#define ROUTE_BODY_SHIFT  12
#define ROUTE_BODY_KIB(n) ((unsigned)(n) << ROUTE_BODY_SHIFT)

struct route {
    const char *method;
    const char *path;  /* /subscriptions/{subscription}/...?comp=: see template.h */
    unsigned versions; /* bits of the versions that have the route; 0: all */
    unsigned flags;
    api_handler handler;
    const char *operation_id; /* of Azure's specification, or batchaid's own */
    const void *data;         /* for the handler: e.g. a kind (api/arm/kind.h) */
};

enum service_versions {
    VERSIONS_LISTED, /* each route lists its versions of the service */
    VERSIONS_ANY,    /* an api-version is required, but any is accepted */
    VERSIONS_NONE    /* api-version is ignored */
};

/* The HTTP form of a kind of error in one service. */
struct error_words {
    int status;
    const char *code;
    unsigned adds;
};

/* Headers and causes that an error adds to its reply. */
enum error_adds {
    ADDS_TRY_AGAIN = 1 << 0, /* Retry-After */
    ADDS_LOG_IN = 1 << 1,    /* WWW-Authenticate: where to get tokens */
    /* x-ms-failure-cause: gateway; the request never reached a provider */
    ADDS_GATEWAY_CAUSE = 1 << 2,
    ADDS_SERVICE_CAUSE = 1 << 3 /* x-ms-failure-cause: service */
};

struct service {
    const char *name;
    /* The name of the struct that request.deps points to, and whether that struct begins with a
     * struct arm. The function that returns the struct (such as admin_of()) asserts the name. NULL:
     * the handlers use no such data. */
    const char *deps;
    bool deps_begin_with_arm;
    /* The paths of the service, if no host selects a service: templates, as in routes; the most
     * literal template wins. NULL: all paths that no other service has. */
    const char *const *paths;

    /* Name of a provider whose resources may be below any other resource: its routes match the path
     * from the last "/providers/NAME" on, and request.scope is the part before. NULL: its routes
     * match the whole path. */
    const char *provider;

    const struct route *routes;
    size_t n_routes;

    enum service_versions versions;
    unsigned (*version_of)(const char *name); /* VERSIONS_LISTED: a version's bit; 0: unknown */
    const char *(*version_name)(unsigned version);
    unsigned seeded; /* VERSIONS_LISTED: extra bit of routes for seeds and dumps; or 0 */

    /* Checks access by the request's head, before any byte of the body is read. NULL: everybody may
     * send all requests. */
    int (*may)(struct request *r, struct err *e);
    unsigned audiences; /* bits of enum audience: tokens for these are accepted */
    bool sessions; /* also accepts cookies of sessions, for the daemon's web page (session.h) */
    /* Adds the WWW-Authenticate header of errors with ADDS_LOG_IN; NULL: ARM's header. */
    void (*challenge)(struct request *r);
    size_t body_max; /* limit in bytes of a body that is not streamed; routes may differ */

    /* The service's table of errors (error.h), and the function that replies with an error. NULL:
     * the table http_words, and {"error": {"code", "message"}}. */
    struct error_words (*words)(int kind);
    struct replied *(*error)(struct request *r, struct error_words words, const struct err *e);
    /* Writes the error for a target (path and query) that is too long, for which there is no struct
     * request: appends the headers, one per line, and the body. NULL: JSON. */
    void (*too_long)(const char *why, struct strbuf *headers, struct strbuf *body);
    /* Adds headers to all replies of the service; NULL: none. own_headers: the headers of ARM's
     * replies (no-cache, x-ms-request-id, ...) are not added. */
    void (*headers)(struct request *r);
    bool own_headers;
    bool unwatched; /* test hooks (config.watch) do not apply */
};

/* Whether request.deps of `s` is a struct `name`; for "arm": whether it is or begins with one. */
static inline bool service_deps_are(const struct service *s, const char *name)
{
    return s->deps &&
           (strcmp(s->deps, name) == 0 || (s->deps_begin_with_arm && strcmp(name, "arm") == 0));
}

/* A service, the context of its handlers (request.deps), and a NULL-terminated list of its hosts,
 * such as "files.example". In "*.files.example" the * stands for the name of an account
 * (request.label; with several *, the first). hosts NULL: every host that no other service has. */
struct served {
    const struct service *service;
    const void *deps;
    const char *const *hosts;
};
/* Whether `host`, with or without a port, is one of `hosts`; NULL: no hosts. */
bool host_is_one_of(const char *const *hosts, const char *host);

#endif
