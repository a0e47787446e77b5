/* SPDX-License-Identifier: MIT
 *
 * The part of a link that does not depend on how its bytes are transported: requests, replies,
 * events, and the link's end. A transport (link_local.c) embeds struct node_link, sends and
 * receives bytes, and notices the end of its agent. It calls link_*() below from callbacks of the
 * loop, and is called through struct link_transport.
 *
 *   OPENING --hello answered--> READY --link_fail()--> DOWN --node_close()--> CLOSING
 *      \_______________________________________________/  (each state may close)
 *
 * Only callbacks of the loop call the user's callbacks, so that no callback runs inside the call
 * that made the request. Immediate results wait for `kick`, a timer that is due at once.
 */
#ifndef NODEAGENT_PROTO_LINK_LINK_PRIV_H
#define NODEAGENT_PROTO_LINK_LINK_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "nodeagent-proto/link/node.h"
#include "nodeagent-proto/wire/codec.h"
#include "nodeagent-proto/wire/request.h"

struct link_pending;

/* A request that is not answered yet. Owned by the link. */
struct link_pending {
    struct link_pending *next;
    int64_t id;
    const struct request_form *form;
    union {
        node_done_cb done;
        node_task_cb task;
        node_tasks_cb tasks;
        node_health_cb health;
        node_usage_cb usage;
        node_sample_cb sample;
        node_dir_cb dir;
        node_bytes_cb bytes;
        node_texts_cb texts;
    } cb;
    void *ctx;
    json_t *parts;      /* an answer in several messages: the received parts */
    size_t parts_bytes; /* bytes of the messages with these parts */
    bool cut;           /* list_dir: as in struct node_dir */
    int64_t left_out;   /* the same */
    size_t most;        /* read_file: the requested number of bytes */
    struct err refused; /* code is not ERR_NONE: the request could not be sent */
};

struct link_transport {
    /* Sends bytes: copies them, or writes them at once. Reports failures later by link_fail(). */
    void (*write)(struct node_link *link, const char *bytes, size_t n);
    /* Releases everything, then calls link_released() from a loop callback. Called once. */
    void (*close)(struct node_link *link);
    /* Frees the link's memory; every handle is closed. */
    void (*free)(struct node_link *link);
    /* How many bytes wait to be written; NULL: the transport never queues. */
    size_t (*waiting)(const struct node_link *link);
};

/*   OPENING ---hello---> READY
 *      |                   |
 *      +-----> DOWN <------+        any state ---node_close()---> CLOSING ---> (freed)
 */
enum link_state { LINK_OPENING, LINK_READY, LINK_DOWN, LINK_CLOSING };

struct node_link {
    const struct link_transport *transport;
    struct node_callbacks user;
    const struct log *log; /* borrowed */
    const char *name;      /* for the log; borrowed from the transport */
    enum link_state state;
    enum node_step step; /* set by the transport; NODE_STEP_AGENT for a transport with one step */
    bool new_host;
    char own_address[64]; /* set by the transport: node_link_own_address() */
    /* why the link is down, or will be in a moment; code ERR_NONE: it works */
    struct err why;
    struct loop *loop; /* borrowed */
    struct loop_timer *kick;
    struct link_watch *watch; /* NULL: there are no sign-of-life checks */
    int64_t heard_us;         /* monotonic: the last byte; 0: none has come */
    bool silent;              /* the link broke because nothing came for too long */
    int64_t term;             /* the term of this daemon's epoch */
    char *epoch_id;
    struct frame_decoder in;
    struct link_pending *head; /* requests without an answer, oldest first */
    /* where to append the next request; NULL: there was no request yet */
    struct link_pending **tail;
    int64_t last_id;
    int64_t asked_since_us; /* the start of the period in which questions of the agent are counted:
                               see link_serve.c */
    int n_asked, n_remote;  /* requests, and messages of remote commands, since asked_since_us */
    void (*closed)(void *ctx);
    void *closed_ctx;
};

/* ---- link.c: state of the link, and requests over it ----------------------------------------- */

/* Called before the first request. */
void link_begin(struct node_link *link, struct loop *loop);
/* The only function that changes the link's state. */
void link_go(struct node_link *link, enum link_state to);
/* Sends a request; `p` has the callback. */
void link_ask(struct node_link *link, const struct node_request *r, struct link_pending p);
/* Removes the request from the link, then calls its callback, so that the request is answered once,
 * even if the callback uses the link. */
void link_answer(struct node_link *link, struct link_pending *p, const struct err *why,
                 const void *what, size_t n);
/* Answers all pending requests. Requests that their callbacks make are answered in a later turn of
 * the loop. */
void link_answer_all(struct node_link *link, const struct err *why);
/* Sends a reply; takes `msg` over. -1: it does not fit a frame. */
int link_send(struct node_link *link, json_t *msg, struct err *e) MUST_CHECK;
/* Breaks the link; the first reason is kept. May be called from any function. */
void link_fail(struct node_link *link, const struct err *why);
/* True after node_close(): the transport's callbacks must not report anything any more. */
bool link_is_closing(const struct node_link *link);

/* ---- requests.c ---- */

/* Reads a successful reply, and calls link_answer() or waits for more parts. -1: the reply is
 * malformed, and the link breaks. */
int link_hear_answer(struct node_link *link, struct link_pending *p, json_t *msg,
                     struct err *e) MUST_CHECK;

/* ---- link_serve.c ---- */

/* Answers a request of the agent; an unknown request is answered with an error. */
void link_serve(struct node_link *link, json_t *req);

/* Passes a message of a remote command to the link's user. */
void link_remote(struct node_link *link, const json_t *msg);

/* ---- link_watch.c ---- */

/* Asks a silent agent for a sign of life, and breaks the link if no answer comes. */
struct link_watch *link_watch_start(struct node_link *link, int dead_ms);
void link_watch_heard(struct link_watch *w);
void link_watch_close(struct link_watch *w);

/* ---- link_hear.c: beginning, end, and messages of the agent ---------------------------------- */

/* A transport's information about its link; all borrowed for the call except `log` and `name`. */
struct link_start {
    struct loop *loop;
    const struct link_transport *transport;
    const struct node_callbacks *user;
    const struct log *log;
    const char *name;
    const struct node_epoch *epoch;
    int dead_ms; /* see node_local_config */
};

/* Prepares the link and sends hello. */
void link_start(struct node_link *link, const struct link_start *how);
/* Decodes bytes that came from the agent. */
void link_received(struct node_link *link, const char *bytes, size_t n);
/* Called when all handles of the transport are closed: frees the link. */
void link_released(struct node_link *link);

#endif
