/* SPDX-License-Identifier: MIT
 *
 * The running server, shared by the files of this directory.
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
    int suspended; /* requests under way that wait for the disk or the thread pool */
    bool stopping;
    uint64_t stop_by_ms; /* loop time in ms; then slow clients are closed */
    char endpoint[ENDPOINT_SIZE], local_endpoint[ENDPOINT_SIZE];
    struct api_counters counters;
    struct api_replies *replies;     /* owned; by config.services; the last: no service */
    struct cache *tokens;            /* owned; of auth.c */
    struct cache *routes;            /* owned; see route_cache.c */
    struct connections *connections; /* owned */
    struct guid_source guids;        /* ids of requests and of the resources that they create */
    struct request *spare;           /* owned; finished requests, kept for reuse */
    int n_spare;
    /* bytes of request bodies in memory: of all requests; of requests without a token */
    size_t held, held_open;
    struct body_sender *senders;              /* the senders whose request bodies are in memory */
    uv_idle_t again;                          /* active while `first_again` is there */
    struct request *first_again, **end_again; /* requests with more to do, in order */
    struct delayed *delayed;                  /* requests that a test hook delays */
    struct http_relay *relays;                /* TLS connections that a relay decrypts */
    int relays_closing;                       /* number of relays that are being closed */
    struct upgraded *upgraded;                /* connections that have left HTTP */
    struct live *lives;                       /* replies without an end (live.c) */
    struct request *starved;                  /* requests whose sink takes no more now */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* Takes over resp (NULL: out of memory) and adds the headers that all replies have. */
struct replied *reply_response(struct request *r, int status, const char *content_type,
                               struct MHD_Response *resp) MUST_CHECK;
/* counts.c: counts_begin() before the first request; counts_reply() for each reply. */
void counts_begin(struct api *api);
void counts_reply(const struct request *r);
/* request_head.c: fills in host and path. -1: replies with the error and closes the connection. */
int head_check(struct request *r, struct err *e) MUST_CHECK;

/* All calls are on the loop's thread. libmicrohttpd 1.0 needs this flag; otherwise
 * MHD_add_connection() waits for the next run, and on_connection() is called too late. */
#if MHD_VERSION >= 0x00097707
#define SINGLE_THREADED MHD_USE_NO_THREAD_SAFETY
#else
#define SINGLE_THREADED 0
#endif

/* target.c: for MHD_OPTION_URI_LOG_CALLBACK; ctx: the engine. Replies with an error to a request
 * target (URI) that is too long. */
void *target_check(void *ctx, const char *uri, struct MHD_Connection *conn);
/* service_of_request.c: fills in service, deps and label; service NULL: no service matches. */
void find_service(struct request *r);
/* The service that the listening port or the host (with or without a port) alone selects; NULL: the
 * path selects it. */
const struct served *served_at(const struct api_config *c, const struct api_listen *door,
                               const char *host);
/* The service with this host, or whose accounts' hosts end with this host; NULL: none. *account:
 * how many characters at the start of `host` are an account's name. */
const struct served *served_named(const struct api_config *c, const char *host, size_t *account);
/* For a request whose path cannot be read: sets the service if the host alone selects it. */
void find_service_of_host(struct request *r);
/* body.c: checks the headers of the body, after the route was found. */
void body_begin(struct request *r);
/* Call it when a reply is prepared before the body. True: the reply is to be sent now and the
 * connection closed, because the client waits with its body (Expect), or the body is longer than
 * BODY_DISCARD_MAX. False: the reply is sent after the body. */
bool body_hang_up(struct request *r);
/* Takes the next bytes of a body; sets *size to the number of bytes not taken. -1: the connection
 * must be closed. */
int body_take(struct request *r, const char *data, size_t *size) MUST_CHECK;
/* Frees the kept bytes and releases the sink. */
void body_release(struct request *r);
/* Ends all bodies that wait for their sinks, and closes their connections. */
void body_hurry(struct api *api);

/* request_life.c. NULL: nothing to destroy. */
struct request *request_create(struct engine *l, struct MHD_Connection *conn, const char *method,
                               const char *url);
void request_destroy(struct request *r);
void requests_free_spare(struct api *api);
/* Frees the objects of request_own() and similar functions; part of request_destroy(). */
void request_free_owned(struct request *r);
/* Writes a finished request to the log. */
void request_log(const struct request *r);
/* Records that the loop works on this request (lib/work.h), until work_leave() is called with the
 * returned value. */
const struct work_item *request_enter(struct request *r);
/* Sets the error r->early if the daemon has crashed earlier while it worked on an equal request. */
void request_judge(struct request *r);
/* Call it when an inner request has its reply. */
void request_inner_finished(struct request *r);

/* subrequest.c: what an inner request has instead of a connection of its own. */
struct inner {
    const struct named_value *header, *query; /* query: as sent; value NULL: no value */
    size_t n_headers, n_query;
    const char *body; /* the reply's body; arena */
    void (*done)(void *ctx, struct request *r);
    void *ctx;
};
/* test_hooks.c: gets from the watcher, if there is one, the changes to the request's reply. */
void watch_begin(struct request *r);
void watch_end(const struct request *r);
/* Whether the watcher replies instead of the handler; watch_answer() makes that reply. */
bool watch_answers(const struct request *r);
struct replied *watch_answer(struct request *r) MUST_CHECK;
/* True: the caller must suspend the request, and `then` is called later; false: no delay. */
bool watch_delays(struct request *r, void (*then)(struct request *r));
/* If the watcher (a test) wants it, cuts the prepared reply in the middle of its body. */
void watch_cut(struct request *r);
void watch_hurry(struct api *api);

/* upgrade.c: closes all connections that have left HTTP. */
void upgrade_hurry(struct api *api);

/* live.c: ends all replies that would otherwise never end. */
void live_hurry(struct api *api);

/* engine.c: gets the certificate for the server name that a client requests. */
struct gnutls_session_int;
void server_pick_certificate(const struct api *api, struct gnutls_session_int *tls,
                             struct gnutls_pcert_st **chain, unsigned *n,
                             struct gnutls_privkey_st **key);
#define TLS_PRIORITIES "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"

/* Queues r->response on the connection. MHD_YES or MHD_NO. */
int request_send(struct request *r);

#endif
