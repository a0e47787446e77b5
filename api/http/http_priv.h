/* SPDX-License-Identifier: MIT
 *
 * The running server, shared by the files of this room.
 */
#ifndef API_HTTP_PRIV_H
#define API_HTTP_PRIV_H

#include "api/http/engine.h"
#include "api/http/http.h"
#include "api/http/request.h"
#include "api/http/test_hooks.h"
#include "lib/guid.h"

struct connections;
struct doors;
struct cache;

#define API_SOCKETS_MAX 16
#define ENDPOINT_SIZE   300

struct api {
    struct api_config config;
    struct doors *doors; /* owned */
    struct engine engine[API_ENGINES];
    int open_engines;
    int under_way; /* requests between their first byte and their completion */
    int suspended; /* of these, how many wait for the disk or the pool */
    bool stopping;
    uint64_t stop_by_ms; /* loop time after which slow clients are not waited for */
    char endpoint[ENDPOINT_SIZE], local_endpoint[ENDPOINT_SIZE];
    struct api_counters counters;
    struct cache *tokens;            /* owned; of auth.c */
    struct cache *routes;            /* owned; of route_cache.c */
    struct connections *connections; /* owned */
    struct guid_source guids;        /* of requests, and of what they make */
    struct request *spare;           /* owned; finished requests, kept for later ones */
    int n_spare;
    size_t held, held_open; /* memory of bodies under way; of those that anybody sends */
    uv_idle_t again;        /* active while `first_again` is there */
    struct request *first_again, **end_again; /* requests with more to do, in order */
    struct delayed *delayed;                  /* requests that a watcher delays */
    struct request *starved;                  /* requests whose stream waits for its sink */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* Takes over resp (NULL: out of memory), adds what every reply carries. */
struct replied *reply_response(struct request *r, int status, const char *content_type,
                               struct MHD_Response *resp) MUST_CHECK;
/* request_head.c: fills in host and path. -1: the request is answered with that, and its connection
 * closed.
 */
int head_check(struct request *r, struct err *e) MUST_CHECK;

/* All calls come from the loop. libmicrohttpd 1.0 must be told so, or it keeps what it is given by
 * MHD_add_connection() for its next run, and on_connection() comes too late. */
#if MHD_VERSION >= 0x00097707
#define SINGLE_THREADED MHD_USE_NO_THREAD_SAFETY
#else
#define SINGLE_THREADED 0
#endif

/* target.c, for MHD_OPTION_URI_LOG_CALLBACK; ctx: the engine. Answers targets that are too long. */
void *target_check(void *ctx, const char *uri, struct MHD_Connection *conn);
/* service_of_request.c: fills in service, deps and label; service NULL: none is asked for. */
void find_service(struct request *r);
/* What the door or the host (with or without a port) alone says; NULL: it depends on the path. */
const struct served *served_at(const struct api_config *c, const struct api_listen *door,
                               const char *host);
/* The service that has this host, or the suffix of whose hosts it is; NULL: none's own. *account:
 * how many of its characters name an account there. */
const struct served *served_named(const struct api_config *c, const char *host, size_t *account);
/* For an error in a request whose path cannot be read: its service, if it does not depend on that.
 */
void find_service_of_host(struct request *r);
/* body.c: checks what the head says about the body, once the route is known. */
void body_begin(struct request *r);
/* Takes the next bytes; *size becomes the number of bytes left. -1: the connection must be cut. */
int body_take(struct request *r, const char *data, size_t *size) MUST_CHECK;
/* Frees the kept bytes and releases the sink. */
void body_release(struct request *r);
/* No client is waited for any more. */
void body_hurry(struct api *api);

/* request_life.c. NULL: nothing to destroy. */
struct request *request_create(struct engine *l, struct MHD_Connection *conn, const char *method,
                               const char *url);
void request_destroy(struct request *r);
void requests_free_spare(struct api *api);
/* What request_own() and its like keep with it; part of request_destroy(). */
void request_free_owned(struct request *r);
/* It is over. */
void request_log(const struct request *r);
/* The loop is with this request (lib/work.h) until work_leave() with what this returns. */
const struct work_item *request_enter(struct request *r);
/* Sets r->early if the daemon has ended before with this request under way. */
void request_judge(struct request *r);
/* One inside another's has its answer. */
void request_inner_finished(struct request *r);

/* subrequest.c: what such a request has instead of a connection of its own. */
struct inner {
    const struct named_value *header, *query; /* query: as sent; value NULL: none */
    size_t n_headers, n_query;
    const char *body; /* of its reply; arena */
    void (*done)(void *ctx, struct request *r);
    void *ctx;
};
/* test_hooks.c: of the watcher, if there is one. Asks it what becomes of the request, which may be
 * an answer that refuses it. */
void watch_begin(struct request *r);
void watch_end(const struct request *r);
/* Whether the watcher answers it, and how. */
bool watch_answers(const struct request *r);
struct replied *watch_answer(struct request *r) MUST_CHECK;
/* True: `then` is called later. The request is to be suspended. */
bool watch_delays(struct request *r, void (*then)(struct request *r));
/* Makes the prepared reply one that breaks off, if that is wanted. */
void watch_cut(struct request *r);
void watch_hurry(struct api *api);

/* Queues r->response on the connection. MHD_YES or MHD_NO. */
int request_send(struct request *r);

#endif
