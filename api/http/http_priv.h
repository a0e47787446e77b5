/* SPDX-License-Identifier: MIT
 *
 * What the files of this room share about the running server.
 */
#ifndef API_HTTP_PRIV_H
#define API_HTTP_PRIV_H

#include "api/http/http.h"
#include "api/http/request.h"
#include "lib/guid.h"

struct MHD_Daemon;
struct connections;
struct token_cache;
struct ways;

struct listener {
    struct api *api;
    struct MHD_Daemon *mhd; /* owned */
    uv_poll_t poll;         /* on the epoll descriptor of mhd */
    uv_timer_t timer;       /* what MHD_get_timeout asks for */
    uv_idle_t idle;         /* when it asks to run again at once */
    bool dirty;             /* a connection was resumed: run before the loop sleeps */
    bool handled;           /* a handler ran since the pump began */
    int port;
    int open_handles;
};

#define API_LISTENERS_MAX 16

struct api {
    struct api_config config;
    struct listener listener[API_LISTENERS_MAX];
    int n_listeners;
    int closing_handles;
    int under_way; /* requests between their first byte and their completion */
    int suspended; /* of these, how many wait for the disk or the pool */
    bool stopping;
    uint64_t stop_by_ms; /* loop time after which slow clients are not waited for */
    char endpoint[300];
    struct api_counters counters;
    struct token_cache *tokens;      /* owned */
    struct ways *ways;               /* owned */
    struct connections *connections; /* owned */
    struct guid_source guids;        /* of the ids that requests get */
    struct request *spare;           /* owned; over, and kept for the next */
    int n_spare;
    size_t held, held_open; /* memory of bodies under way; of those that anybody sends */
    uv_idle_t again;        /* active while `first_again` is there */
    struct request *first_again, **end_again; /* who has more to do, in turn */
    struct request *starved;                  /* whose stream waits for its sink */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* Takes over resp (NULL: out of memory), adds what every reply carries. */
struct replied *reply_response(struct request *r, int status, const char *content_type,
                               struct MHD_Response *resp) MUST_CHECK;
/* Of body.c: looks at what the head says of the body; before the route is known, and after. */
int body_check_head(struct request *r, struct err *e) MUST_CHECK;
void body_begin(struct request *r);
/* The next bytes; *size is what is left of them. -1: the connection is to be cut. */
int body_take(struct request *r, const char *data, size_t *size) MUST_CHECK;
/* Frees what is kept of it, releases its sink. */
void body_release(struct request *r);
/* No client is waited for any more. */
void body_hurry(struct api *api);

/* Of request_life.c. NULL: nothing to destroy. */
struct request *request_create(struct listener *l, struct MHD_Connection *conn, const char *method,
                               const char *url);
void request_destroy(struct request *r);
void requests_free_spare(struct api *api);

/* Queues r->response on the connection. MHD_YES or MHD_NO. */
int request_send(struct request *r);

#endif
