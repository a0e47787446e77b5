/* SPDX-License-Identifier: MIT
 *
 * One HTTP request under way, as handlers see it, and the ways to answer it.
 *
 * A handler returns a `struct replied *`, which only the reply_*() functions can produce, so that
 * forgetting to answer, or answering twice, does not compile. The reply leaves once everything
 * written so far is on disk. A handler that must wait (for the thread pool) returns reply_later()
 * and ends with request_finish().
 */
#ifndef API_REQUEST_H
#define API_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/api.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/strbuf.h"
#include "model/schema.h"

struct MHD_Connection;
struct MHD_Response;
struct listener;
struct route;
struct replied; /* never defined: a token */

#define REQUEST_SEGMENTS_MAX 24
#define REQUEST_HEADERS_MAX  12
#define REQUEST_BODY_MAX     (4 * 1024 * 1024)

struct request_header {
    const char *name, *value; /* arena */
};

struct request {
    struct api *api;
    const struct api_config *config;           /* = api's; borrowed */
    const struct route *route;                 /* NULL until matched */
    const char *method, *path;                 /* arena; path as sent, without query */
    const char *segment[REQUEST_SEGMENTS_MAX]; /* decoded; arena */
    size_t segment_len[REQUEST_SEGMENTS_MAX];
    int n_segments;
    const char *rest; /* what a {name*} at the template's end matched, decoded */
    enum api_version version;
    const char *version_name; /* api-version as sent */
    json_t *body;             /* parsed JSON body; NULL if empty or not JSON's turn; owned */
    struct strbuf raw;        /* the body as sent */
    struct arena arena;
    int64_t now_us; /* one instant for the whole request */
    char request_id[40], correlation_id[40];

    /* Below: for server.c, router.c and reply.c only. */
    struct MHD_Connection *conn;
    struct listener *listener;
    struct MHD_Response *response; /* owned until sent */
    int status;
    struct request_header header[REQUEST_HEADERS_MAX];
    int n_headers;
    struct err early; /* found while reading: too large, ... */
    bool later, finished, gateway_error;
};

typedef struct replied *(*api_handler)(struct request *r);

/* The decoded value of {name} in the route's template. Never NULL for a name in the template. */
const char *request_param(const struct request *r, const char *name);
/* A query parameter (decoded, name compared without case), or NULL. */
const char *request_query(struct request *r, const char *name);
/* A request header, or NULL. */
const char *request_header(const struct request *r, const char *name);
/* "https://HOST:PORT" as the client reached us. */
const char *request_base(struct request *r);
/* An integer query parameter within [min, max], or `fallback` if absent. */
int request_query_int(struct request *r, const char *name, long min, long max, long fallback,
                      long *out, struct err *e) MUST_CHECK;

/* Adds a header to the coming reply. */
void reply_header(struct request *r, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* What cannot be had now may be in a moment: for a 503. */
void reply_try_again(struct request *r);

#define JSON_CONTENT_TYPE "application/json; charset=utf-8"

#define REPLIED struct replied *MUST_CHECK
REPLIED reply_json(struct request *r, int status, json_t *body); /* steals body */
REPLIED reply_empty(struct request *r, int status);
REPLIED reply_err(struct request *r, const struct err *e);
/* Steals text (malloc). */
REPLIED reply_text(struct request *r, int status, const char *content_type, char *text);
/* Bytes [offset, offset+len) of fd, which is closed when sent. */
REPLIED reply_fd(struct request *r, int status, const char *content_type, int fd, uint64_t offset,
                 uint64_t len);
/* The answer comes by request_finish(), from the loop thread. */
REPLIED reply_later(struct request *r);
void request_finish(struct request *r, struct replied *token);

#endif
