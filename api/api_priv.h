/* SPDX-License-Identifier: MIT
 *
 * What the files of api/ itself share about the running server.
 */
#ifndef API_API_PRIV_H
#define API_API_PRIV_H

#include "api/api.h"
#include "api/request.h"

struct MHD_Daemon;
struct token_cache;

struct listener {
    struct api *api;
    struct MHD_Daemon *mhd; /* owned */
    uv_poll_t poll;         /* on the epoll descriptor of mhd */
    uv_timer_t timer;       /* what MHD_get_timeout asks for */
    uv_idle_t idle;         /* when it asks to run again at once */
    bool dirty;             /* a connection was resumed: run before the loop sleeps */
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
    struct token_cache *tokens; /* owned */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* Takes over resp (NULL: out of memory), adds what every reply carries. */
struct replied *reply_response(struct request *r, int status, const char *content_type,
                               struct MHD_Response *resp) MUST_CHECK;
/* Queues r->response on the connection. MHD_YES or MHD_NO. */
int request_send(struct request *r);

#endif
