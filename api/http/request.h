/* SPDX-License-Identifier: MIT
 *
 * One HTTP request under way as handlers see it, and the functions that answer it.
 *
 * A handler returns a `struct replied *`, which only the reply_*() functions can produce, so that
 * forgetting to answer, or answering twice, does not compile. The reply leaves once everything
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
#define REQUEST_HEADERS      24                /* of a reply, at first */
#define REQUEST_BODY_MAX     (4 * 1024 * 1024) /* the usual limit of services */

struct request {
    struct api *api;
    const struct api_config *config; /* = api's; borrowed */
    const struct service *service;   /* NULL until matched */
    const struct route *route;       /* NULL until matched */
    const void
        *deps; /* of the service; each service has a function that returns it with its type */
    const char *method, *target; /* arena; target: the path as sent, without query */
    const char *path;  /* the part of the target that routes match: without an account in front */
    const char *host;  /* as sent, perhaps with a port; "": none */
    const char *label; /* the account, from host or path, in lower case; NULL: it names none */
    const struct api_listen *door;             /* the address that the request came to; borrowed */
    const char *segment[REQUEST_SEGMENTS_MAX]; /* decoded; arena */
    size_t segment_len[REQUEST_SEGMENTS_MAX];
    int n_segments;
    const char *scope; /* decoded path before the segments (service.provider); else NULL */
    struct cached_route *cached; /* the remembered way to its route (route_cache.h); or NULL */
    const char *rest; /* the part that a {name*} at the end of the template matched, decoded */
    /* the service's bit for its api-version; 0 unless the service lists versions */
    unsigned version;
    const char *version_name; /* api-version as sent */
    json_t *body; /* parsed JSON body; NULL if it is empty or the route takes no JSON; owned */
    void *grant;  /* of the service: the result of its may(); arena */
    const struct form *form;         /* of a ROUTE_FORM; arena */
    const struct xml *xml;           /* of a ROUTE_XML: the root; arena */
    struct xml_reading *xml_reading; /* arena; NULL: it was not begun */
    struct strbuf raw;               /* the body as sent */
    struct arena arena;
    const struct principal *who; /* arena; NULL: nobody was asked for a token */
    /* the only account for which its token is valid (auth.h); NULL: any */
    const char *token_account;
    const struct session *session; /* of its cookie (session.h); arena; NULL: it has a token */
    int64_t login_ends_us;         /* when its token ends, or its cookie */
    int64_t now_us;                /* one instant for the whole request */
    bool seeds; /* it carries out a part of a seed: some checks of rights are left out */
    /* Part of a dump: a list answers at once, and shows secrets; an error in reading these is put
     * here. NULL: it is not. */
    struct err *dumps;
    char request_id[40], correlation_id[40];

    /* Below: for server.c, router.c and reply.c only. */
    struct work_item work; /* the loop's work while it handles this request */
    struct MHD_Connection *conn;
    struct connection *connection; /* NULL: in a test */
    struct inner *inner;           /* arena; NULL: it is inside no other request (subrequest.h) */
    struct engine *engine;
    struct MHD_Response *response; /* owned until sent */
    int status;
    struct named_value *header; /* arena */
    int n_headers, headers_room;
    struct err early; /* found in the head or while reading; the handler is not called */
    bool later, finished, gateway_error;
    bool hang_up; /* the bytes that follow cannot be split into requests: close the connection */
    bool answered, body_end; /* stream: request_finish() was called; the body is complete */
    bool waiting;            /* of a stream: suspended until it is answered */
    bool starved;            /* of a stream: suspended until body_more() */
    struct request *next_starved;
    void (*step)(struct request *r, void *ctx); /* step of request_again(); NULL: none is due */
    void *step_ctx;
    struct request *next_again;
    struct request *next_spare;      /* next in the list of finished requests */
    const struct injected *injected; /* by a watcher; NULL: nothing */
    struct delayed *delayed;         /* NULL: it is not */
    const char *shown;               /* the text of the reply, for a watcher; NULL: none */
    const struct body_sink *sink;    /* arena; NULL: not a stream */
    void *kept;                      /* of request_keep() */
    void (*release)(void *kept);     /* NULL: nothing is kept */
    struct owned *owned;             /* of request_own(); malloc */
    size_t n_owned, owned_room;
    size_t held;                /* bytes counted for raw in api.held and for its sender */
    struct body_sender *sender; /* body.c; NULL: nothing was counted */
    uint64_t discarded;         /* bytes of the body that were thrown away */
};

/* The decoded value of {name} in the route's template. Never NULL for a name in the template. */
const char *request_param(const struct request *r, const char *name);
/* A query parameter (decoded, name compared without case), or NULL. */
const char *request_query(struct request *r, const char *name);
/* Refuses a query that is not UTF-8, before any parameter is read. */
int request_check_query(struct request *r, struct err *e) MUST_CHECK;
/* The client's address as text, for the log. */
const char *request_peer(struct request *r);
/* A request header, or NULL. */
const char *request_header(const struct request *r, const char *name);
/* All headers, as sent; all parameters of the query, decoded. In the arena; *n is how many. */
const struct named_value *request_headers(struct request *r, size_t *n);
const struct named_value *request_parameters(struct request *r, size_t *n);
/* A number that a handler leaves for the next request with equal method, path and query; 0: none
 * yet. NULL: this request is not remembered. The number may be forgotten at any time
 * (route_cache.h). */
int64_t *request_note(struct request *r);
/* Whether the head announces a body. */
bool request_has_body(const struct request *r);
/* request_may_log_in(): whether this account may try to log in from this address.
 * request_login_failed(): a try has failed. Failed logins are limited for each account and
 * address. */
bool request_may_log_in(const struct request *r, const char *account);
void request_login_failed(const struct request *r, const char *account);
bool request_is_tls(const struct request *r);
/* "https://HOST:PORT", or http, as the client reached us. */
const char *request_base(struct request *r);
/* The part of a service's hosts behind the account's name, for this client: "core.HOST:PORT" for
 * `below` "core.". If the client came to an address, HOST is localhost, because there are no names
 * below an address. If the client's name is not the daemon's, such as management.azure.com, it gets
 * the suffix of the site's configuration, if there is one. */
const char *request_suffix(struct request *r, const char *below);
/* Only the suffix of the site's configuration; NULL: this client does not get it. */
const char *request_own_suffix(struct request *r, const char *below);
/* Seconds within [0, max], perhaps with a fraction, as milliseconds; *ms stays if absent. */
int request_query_seconds(struct request *r, const char *name, long max, int64_t *ms,
                          struct err *e) MUST_CHECK;
/* An integer query parameter within [min, max], or `fallback` if absent. */
struct query_bounds {
    long min, max, fallback;
};
int request_query_int(struct request *r, const char *name, struct query_bounds b, long *out,
                      struct err *e) MUST_CHECK;
/* A time, a day, or a month, which is its first instant (UTC); `fallback_ms` if absent. */
int request_query_time(struct request *r, const char *name, int64_t fallback_ms, int64_t *ms,
                       struct err *e) MUST_CHECK;

/* A new GUID; the second begins with the time of the request (lib/guid.h). Not for secrets. */
void request_guid(struct request *r, char out[GUID_SIZE]);
void request_guid_at(struct request *r, char out[GUID_SIZE]);

/* Adds a header to the coming reply. */
void reply_header(struct request *r, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Like reply_header(), with a text that lives as long as the request. */
void reply_header_text(struct request *r, const char *name, const char *value);
/* Like reply_header_text(), but replaces an earlier header of this name. */
void reply_header_instead(struct request *r, const char *name, const char *value);
/* Adds the headers by which a browser keeps bytes of users apart from the daemon's page: scripts in
 * them do not run and reach nothing, and a browser takes them only for what their Content-Type
 * says. The server calls it for each reply of a route with ROUTE_USERS_BYTES. */
void reply_users_bytes(struct request *r);
/* The value of a header that was added; NULL: none. */
const char *reply_header_value(const struct request *r, const char *name);

#define JSON_CONTENT_TYPE "application/json; charset=utf-8"

#define REPLIED struct replied *MUST_CHECK
/* The counters of the server that received this request. */
struct api_counters request_counters(const struct request *r);
/* The replies of each service since the start; *n: how many services. */
const struct api_replies *request_replies(const struct request *r, size_t *n);

REPLIED reply_json(struct request *r, int status, json_t *body);             /* steals body */
REPLIED reply_json_text(struct request *r, int status, struct strbuf *body); /* takes its text */
/* A copy of the text. */
REPLIED reply_json_copy(struct request *r, int status, const char *text, size_t len);
REPLIED reply_empty(struct request *r, int status);
/* To HEAD: says how long the body of the reply to GET would be. */
REPLIED reply_length(struct request *r, const char *content_type, uint64_t len);
REPLIED reply_err(struct request *r, const struct err *e);
/* Steals text (malloc). */
REPLIED reply_text(struct request *r, int status, const char *content_type, char *text);
/* Steals bytes (malloc). The second one borrows them: they live as long as the program. */
REPLIED reply_bytes(struct request *r, int status, const char *content_type, unsigned char *bytes,
                    size_t n);
REPLIED reply_static(struct request *r, int status, const char *content_type,
                     const unsigned char *bytes, size_t n);
/* Keeps what a handler needs after it has returned. `release` is called once, at the end of the
 * request: the reply was sent, or the client is gone. At most one for each request; memory in the
 * request's arena need not be kept. */
void request_keep(struct request *r, void *kept, void (*release)(void *kept));
/* Releases it early, because the reply does not need it. */
void request_release(struct request *r);
/* Gives it back to the caller without releasing it. */
void *request_take_back(struct request *r);

/* Gives a value to the request, which frees it at its end. Returns the value; NULL stays NULL. For
 * values that a handler needs until it has answered. A value for one row of a list would stay as
 * long as the whole list, so it is a json_auto_t instead. */
json_t *request_own(struct request *r, json_t *value);
/* Like request_own(), for a text of malloc(). request_own_secret() also wipes it. */
char *request_own_text(struct request *r, char *text);
char *request_own_secret(struct request *r, char *text);
/* Like request_own(), for anything, with the function that frees it. */
void request_own_thing(struct request *r, void *thing, void (*free_it)(void *thing));

/* The daemon stops, and waits for this request: a handler that would take long gives up. */
bool request_is_hurried(const struct request *r);

/* request_finish() will answer, on the loop's thread. */
REPLIED reply_later(struct request *r);
void request_finish(struct request *r, struct replied *token);
/* For a request that is answered later: calls `step` in the next turn of the loop, after other
 * requests had their turn. For work that takes longer than a few milliseconds. */
void request_again(struct request *r, void (*step)(struct request *r, void *ctx), void *ctx);

#endif
