/* SPDX-License-Identifier: MIT
 *
 * One HTTP request under way, as handlers see it, and the ways to answer it.
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
#include "api/http/service.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/strbuf.h"

struct MHD_Connection;
struct MHD_Response;
struct listener;
struct body_sink;
struct connection;
struct form;
struct xml;
struct xml_reading;
struct way;
struct replied; /* never defined: a token */

#define REQUEST_SEGMENTS_MAX 24
#define REQUEST_HEADERS_MAX  24
#define REQUEST_BODY_MAX     (4 * 1024 * 1024) /* what services usually take */

struct request_header {
    const char *name, *value; /* arena */
};

struct request {
    struct api *api;
    const struct api_config *config;           /* = api's; borrowed */
    const struct service *service;             /* NULL until matched */
    const struct route *route;                 /* NULL until matched */
    const void *deps;                          /* the service's; each has a function for its type */
    const char *method, *path;                 /* arena; path as sent, without query */
    const char *segment[REQUEST_SEGMENTS_MAX]; /* decoded; arena */
    size_t segment_len[REQUEST_SEGMENTS_MAX];
    int n_segments;
    struct way *way;          /* by which it was found before, or will be found again; or NULL */
    const char *rest;         /* what a {name*} at the template's end matched, decoded */
    unsigned version;         /* the service's bit of it; 0 unless its versions are listed */
    const char *version_name; /* api-version as sent */
    json_t *body;             /* parsed JSON body; NULL if empty or not JSON's turn; owned */
    const struct form *form;  /* of a ROUTE_FORM; arena */
    const struct xml *xml;    /* of a ROUTE_XML: the root; arena */
    struct xml_reading *xml_reading; /* arena; NULL: it was not begun */
    struct strbuf raw;               /* the body as sent */
    struct arena arena;
    int64_t now_us; /* one instant for the whole request */
    char request_id[40], correlation_id[40];

    /* Below: for server.c, router.c and reply.c only. */
    struct MHD_Connection *conn;
    struct connection *connection; /* NULL: a test's, which has none */
    struct listener *listener;
    struct MHD_Response *response; /* owned until sent */
    int status;
    struct request_header header[REQUEST_HEADERS_MAX];
    int n_headers;
    struct err early; /* found in the head or while reading; the handler is not called */
    bool later, finished, gateway_error;
    bool hang_up;            /* what follows on the connection cannot be told apart: close it */
    bool answered, body_end; /* of a stream: request_finish() was called; the body is complete */
    bool waiting;            /* of a stream: suspended until it is answered */
    bool starved;            /* of a stream: suspended until body_more() */
    struct request *next_starved;
    void (*step)(struct request *r, void *ctx); /* of request_again(); NULL: none is to come */
    void *step_ctx;
    struct request *next_again;
    struct request *next_spare;   /* once it is over */
    const struct body_sink *sink; /* arena; NULL: not a stream */
    void *kept;                   /* of request_keep() */
    void (*release)(void *kept);  /* NULL: nothing is kept */
    size_t held;                  /* bytes of memory that raw is charged with */
    uint64_t discarded;           /* bytes of the body that were thrown away */
};

/* The decoded value of {name} in the route's template. Never NULL for a name in the template. */
const char *request_param(const struct request *r, const char *name);
/* A query parameter (decoded, name compared without case), or NULL. */
const char *request_query(struct request *r, const char *name);
/* Refuses a query that is not UTF-8, before anything of it is read. */
int request_check_query(struct request *r, struct err *e) MUST_CHECK;
/* The client's address as text, for the log. */
const char *request_peer(struct request *r);
/* A request header, or NULL. */
const char *request_header(const struct request *r, const char *name);
/* A number that a handler leaves for the next request of the same words (method, path and query);
 * 0: none yet. NULL: these words are not kept. It may be forgotten at any time (ways.h). */
int64_t *request_note(struct request *r);
/* Does the head say that a body comes? */
bool request_has_body(const struct request *r);
/* Logins that fail are few for each address: may this one try, and it has failed. */
bool request_may_log_in(const struct request *r);
void request_login_failed(const struct request *r);
/* "https://HOST:PORT" as the client reached us. */
const char *request_base(struct request *r);
/* An integer query parameter within [min, max], or `fallback` if absent. */
int request_query_int(struct request *r, const char *name, long min, long max, long fallback,
                      long *out, struct err *e) MUST_CHECK;

/* Adds a header to the coming reply. */
void reply_header(struct request *r, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define JSON_CONTENT_TYPE "application/json; charset=utf-8"

#define REPLIED struct replied *MUST_CHECK
/* What the server that this request came to has counted. */
struct api_counters request_counters(const struct request *r);

REPLIED reply_json(struct request *r, int status, json_t *body);             /* steals body */
REPLIED reply_json_text(struct request *r, int status, struct strbuf *body); /* takes its text */
/* A copy of the text. */
REPLIED reply_json_copy(struct request *r, int status, const char *text, size_t len);
REPLIED reply_empty(struct request *r, int status);
REPLIED reply_err(struct request *r, const struct err *e);
/* Steals text (malloc). */
REPLIED reply_text(struct request *r, int status, const char *content_type, char *text);
/* What a handler goes on with after it has returned: `release` is called once, when the request is
 * over: its reply is gone, or its client. One for each request; what is in the request's arena
 * alone need not be kept. */
void request_keep(struct request *r, void *kept, void (*release)(void *kept));
/* Now already, as no reply needs it. */
void request_release(struct request *r);
/* It is the caller's again. */
void *request_take_back(struct request *r);

/* The answer comes by request_finish(), from the loop thread. */
REPLIED reply_later(struct request *r);
void request_finish(struct request *r, struct replied *token);
/* Of a request that is answered later: calls `step` in the next turn of the loop, after others had
 * theirs. For work that takes longer than a few milliseconds. */
void request_again(struct request *r, void (*step)(struct request *r, void *ctx), void *ctx);

#endif
