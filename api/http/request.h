/* SPDX-License-Identifier: MIT
 *
 * An HTTP request, and the functions with which handlers read it and reply.
 *
 * A handler returns a `struct replied *`, which only the reply_*() functions produce, so that
 * forgetting to reply, or replying twice, does not compile. The reply is sent when everything
 * written so far is on disk. A handler that must wait (for the thread pool) returns reply_later()
 * and ends with request_finish().
 */
#ifndef API_HTTP_REQUEST_H
#define API_HTTP_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/http/http.h"
#include "api/http/principal.h"
#include "api/http/service.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/guid.h"
#include "lib/named_value.h"
#include "lib/strbuf.h"
#include "lib/work.h"

struct MHD_Connection;
struct MHD_Response;
struct engine;
struct body_sender;
struct body_sink;
struct connection;
struct delayed;
struct form;
struct injected;
struct inner;
struct owned;
struct xml;
struct xml_reading;
struct cached_route;
struct replied; /* never defined: a token */

#define REQUEST_SEGMENTS_MAX 24
#define REQUEST_HEADERS      24                /* first room for headers of a reply */
#define REQUEST_BODY_MAX     (4 * 1024 * 1024) /* the usual limit of services */

struct request {
    struct api *api;
    const struct api_config *config; /* = api's; borrowed */
    const struct service *service;   /* NULL until matched */
    const struct route *route;       /* NULL until matched */
    /* the service's context; each service has a function that returns it with its type */
    const void *deps;
    const char *method, *target;   /* arena; target: the path as sent, without query */
    const char *path;              /* the target without a leading account; routes match it */
    const char *host;              /* as sent, possibly with a port; "": none */
    const char *label;             /* the account in host or path, in lower case; NULL: none */
    const struct api_listen *door; /* the listening address; borrowed */
    const char *segment[REQUEST_SEGMENTS_MAX]; /* decoded; arena */
    size_t segment_len[REQUEST_SEGMENTS_MAX];
    int n_segments;
    const char *scope;           /* decoded path before the segments (service.provider) or NULL */
    struct cached_route *cached; /* its cached route (route_cache.h); or NULL */
    const char *rest;            /* the decoded part that {name*} in the template matched */
    /* the service's bit of the request's api-version; 0 if the service does not list versions */
    unsigned version;
    const char *version_name; /* api-version as sent */
    json_t *body;             /* parsed JSON body; owned; NULL: empty, or the route takes no JSON */
    void *grant;              /* set by the service's may(), for its handlers; arena */
    const struct form *form;  /* of a ROUTE_FORM; arena */
    const struct xml *xml;    /* of a ROUTE_XML: root element; arena */
    struct xml_reading *xml_reading; /* arena; NULL: not begun */
    struct strbuf raw;               /* the body as sent */
    struct arena arena;
    const struct principal *who; /* the sender; arena; NULL: no token was needed */
    /* the only account for which the request's token is valid (auth.h); NULL: any */
    const char *token_account;
    const struct session *session; /* of the cookie (session.h); arena; NULL: no cookie */
    int64_t login_ends_us;         /* when the token or the session ends */
    int64_t now_us;                /* the time of the request */
    bool seeds; /* a part of a seed (a saved state): some rights are not checked */
    /* Not NULL: the request is a part of a dump (a saved state): a list replies in one turn and
     * shows secrets; an error in reading secrets is stored here. */
    struct err *dumps;
    char request_id[40], correlation_id[40];

    /* The members below are only for files of this directory. */
    struct work_item work; /* shows that the loop handles this request */
    struct MHD_Connection *conn;
    struct connection *connection; /* NULL: in a test */
    struct inner *inner;           /* arena; NULL: not an inner request (subrequest.h) */
    struct engine *engine;
    struct MHD_Response *response; /* owned until sent */
    int status;
    struct named_value *header; /* arena */
    int n_headers, headers_room;
    struct err early; /* an error in the head or body: the handler is not called */
    bool later, finished, gateway_error;
    bool hang_up;            /* close the connection: further bytes may be no request */
    bool answered, body_end; /* request_finish() was called; the body is complete */
    bool waiting;            /* suspended until request_finish() */
    bool starved;            /* a stream: suspended until body_more() */
    struct request *next_starved;
    void (*step)(struct request *r, void *ctx); /* for request_again(); NULL: none */
    void *step_ctx;
    struct request *next_again;
    struct request *next_spare;      /* next in the list of finished requests */
    const struct injected *injected; /* changes by test hooks, or NULL */
    struct delayed *delayed;         /* test_hooks.c; NULL: not delayed */
    const char *shown;               /* the reply's text, for test hooks; or NULL */
    const struct body_sink *sink;    /* arena; NULL: not a stream */
    void *kept;                      /* set by request_keep() */
    void (*release)(void *kept);     /* NULL: nothing is kept */
    struct owned *owned;             /* set by request_own(); malloc */
    size_t n_owned, owned_room;
    size_t held;                /* bytes of `raw` that are counted in api.held and for the sender */
    struct body_sender *sender; /* body.c; NULL: nothing was counted */
    uint64_t discarded;         /* bytes of the body that were discarded */
};

/* The decoded value of {name} in the route's template. Never NULL for a name in the template. */
const char *request_param(const struct request *r, const char *name);
/* A query parameter (decoded, name compared without case), or NULL. */
const char *request_query(struct request *r, const char *name);
/* Fails if the query is not UTF-8. Called before any parameter is read. */
int request_check_query(struct request *r, struct err *e) MUST_CHECK;
/* The client's address as text, for the log. */
const char *request_peer(struct request *r);
/* A request header, or NULL. */
const char *request_header(const struct request *r, const char *name);
/* Whether the client accepts a body that is compressed with gzip. */
bool request_takes_gzip(const struct request *r);
/* All headers, as sent; all parameters of the query, decoded. In the arena; *n is their number. */
const struct named_value *request_headers(struct request *r, size_t *n);
const struct named_value *request_parameters(struct request *r, size_t *n);
/* Points to a number that a handler may store for the next request with the same method, path and
 * query; 0: none is stored. NULL: this request is not cached. The number may be lost at any time
 * (route_cache.h). */
int64_t *request_note(struct request *r);
/* Whether the head announces a body. */
bool request_has_body(const struct request *r);
/* request_may_log_in(): whether this account may try to log in from the client's address.
 * request_login_failed() records that a try has failed. Failed logins are limited for each pair of
 * account and address. */
bool request_may_log_in(const struct request *r, const char *account);
void request_login_failed(const struct request *r, const char *account);
bool request_is_tls(const struct request *r);
/* "https://HOST:PORT" or "http://HOST:PORT", as the client addressed the daemon. */
const char *request_base(struct request *r);
/* The part of an account's host name after the account, for this client: "core.HOST:PORT" for
 * `below` "core.". HOST is the name with which the client addressed the daemon; for an IP address
 * it is localhost, because names cannot be prefixed to an address. If that name is not one of the
 * daemon's names (such as management.azure.com), the result is the domain in the site's
 * configuration, if there is one. */
const char *request_suffix(struct request *r, const char *below);
/* Only the domain in the site's configuration; NULL: it is not for this client. */
const char *request_own_suffix(struct request *r, const char *below);
/* Reads a query parameter: seconds in [0, max], possibly with a fraction. *ms is in milliseconds,
 * and unchanged if the parameter is absent. */
int request_query_seconds(struct request *r, const char *name, long max, int64_t *ms,
                          struct err *e) MUST_CHECK;
/* An integer query parameter within [min, max], or `fallback` if absent. */
struct query_bounds {
    long min, max, fallback;
};
int request_query_int(struct request *r, const char *name, struct query_bounds b, long *out,
                      struct err *e) MUST_CHECK;
/* Reads a query parameter: a time, a day or a month; a day or a month means its first instant
 * (UTC). If it is absent, *ms is `fallback_ms`. */
int request_query_time(struct request *r, const char *name, int64_t fallback_ms, int64_t *ms,
                       struct err *e) MUST_CHECK;

/* A new GUID; that of request_guid_at() begins with the time of the request (lib/guid.h). Not for
 * secrets. */
void request_guid(struct request *r, char out[GUID_SIZE]);
void request_guid_at(struct request *r, char out[GUID_SIZE]);

/* Adds a header to the reply of this request. */
void reply_header(struct request *r, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Like reply_header(), with a text that is valid as long as the request. */
void reply_header_text(struct request *r, const char *name, const char *value);
/* Like reply_header_text(), but replaces an earlier header of this name. */
void reply_header_instead(struct request *r, const char *name, const char *value);
/* Adds headers that isolate bytes of users from the daemon's page in a browser: scripts in the
 * bytes do not run, and the browser does not guess another type than the Content-Type. The server
 * calls it for each reply of a route with ROUTE_USERS_BYTES. */
void reply_users_bytes(struct request *r);
/* The value of a header that was added; NULL: none. */
const char *reply_header_value(const struct request *r, const char *name);

#define JSON_CONTENT_TYPE "application/json; charset=utf-8"

#define REPLIED struct replied *MUST_CHECK
/* The counters of the server that received this request. */
struct api_counters request_counters(const struct request *r);
/* The replies of each service since the start; *n: how many services. */
const struct api_replies *request_replies(const struct request *r, size_t *n);

REPLIED reply_json(struct request *r, int status, json_t *body);             /* takes over body */
REPLIED reply_json_text(struct request *r, int status, struct strbuf *body); /* takes its text */
/* Replies with a copy of the JSON text. */
REPLIED reply_json_copy(struct request *r, int status, const char *text, size_t len);
REPLIED reply_empty(struct request *r, int status);
/* Replies to HEAD with the length that the body of a GET's reply would have. */
REPLIED reply_length(struct request *r, const char *content_type, uint64_t len);
REPLIED reply_err(struct request *r, const struct err *e);
/* Takes over text (malloc). */
REPLIED reply_text(struct request *r, int status, const char *content_type, char *text);
/* reply_bytes() takes over bytes (malloc); reply_static() borrows bytes that are valid as long as
 * the program. */
REPLIED reply_bytes(struct request *r, int status, const char *content_type, unsigned char *bytes,
                    size_t n);
REPLIED reply_static(struct request *r, int status, const char *content_type,
                     const unsigned char *bytes, size_t n);
/* Keeps an object that the handler needs after it has returned. `release` is called once, at the
 * end of the request: the reply was sent, or the client has disconnected. At most one object for
 * each request; memory in the request's arena need not be kept. */
void request_keep(struct request *r, void *kept, void (*release)(void *kept));
/* Releases the kept object early, because the reply does not need it. */
void request_release(struct request *r);
/* Returns the kept object to the caller without releasing it. */
void *request_take_back(struct request *r);

/* Passes a value to the request, which frees it at its end. Returns the value; it may be NULL. For
 * values that a handler needs until it has replied. Do not use it for a value of one row of a list,
 * which would stay in memory until the end of the list: use json_auto_t there. */
json_t *request_own(struct request *r, json_t *value);
/* Like request_own(), for a text of malloc(). request_own_secret() also wipes it. */
char *request_own_text(struct request *r, char *text);
char *request_own_secret(struct request *r, char *text);
/* Like request_own(), for any object, with the function that frees it. */
void request_own_thing(struct request *r, void *thing, void (*free_it)(void *thing));

/* Whether the daemon is stopping and waits for its requests: a handler that would take long must
 * give up. */
bool request_is_hurried(const struct request *r);

/* Returned by a handler that has not replied yet: later request_finish() must be called, on the
 * loop's thread. */
REPLIED reply_later(struct request *r);
void request_finish(struct request *r, struct replied *token);
/* For a request with reply_later(): calls `step` in a later turn of the loop, after the steps of
 * other waiting requests. For work that takes longer than a few milliseconds. */
void request_again(struct request *r, void (*step)(struct request *r, void *ctx), void *ctx);

#endif
