/* SPDX-License-Identifier: MIT
 *
 * One end of a remote command (wire/remote.h), in a process of the job: its connection to the
 * agent, made again whenever it breaks, and the session that goes on over it.
 *
 * A near end asks for the far end (OPEN) until it hears from it; from then on whoever has heard
 * nothing for a while says where it is (RESUME), and the other answers.
 */
#ifndef NODEAGENT_PROTO_AGENT_REMOTE_END_H
#define NODEAGENT_PROTO_AGENT_REMOTE_END_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/strbuf.h"
#include "nodeagent-proto/wire/codec.h"
#include "nodeagent-proto/wire/stream.h"

enum remote_taken {
    REMOTE_NO_ROOM, /* not now: it comes again */
    REMOTE_TAKEN,   /* remote_end_ack() follows when it is done with */
    REMOTE_DONE
};

struct remote_end {
    /* Given: borrowed texts. */
    const char *socket; /* its path */
    const char *session;
    const char *host; /* a near end: where the far end is to be; NULL: this is a far end */
    int rank;         /* the other's; -1: not known yet */
    /* A DATA, EXIT (each once, in order), LOST or GONE. */
    enum remote_taken (*hear)(void *ctx, const struct remote_msg *m);
    void *ctx;
    /* Kept by remote_end.c. */
    struct remote_stream stream;
    bool met;                   /* the other end was heard */
    int64_t gone_ms;            /* since when the other end is not there; 0: it is */
    int fd;                     /* -1: not connected */
    int64_t dial_ms;            /* when to try next */
    int64_t heard_ms, asked_ms; /* when something last came; when we last asked for it */
    int64_t missed_ms;          /* when we last said that something did not come */
    struct frame_decoder in;
    struct strbuf out;
    size_t out_sent;
};

/* Sets up what is kept; connects in the first remote_end_act(). */
void remote_end_begin(struct remote_end *r);
void remote_end_free(struct remote_end *r);

/* Sends `m`, a DATA or EXIT, as the next message. Only while remote_stream_has_room(). */
void remote_end_put(struct remote_end *r, const struct remote_msg *m);
/* Tells that what was heard is done with. */
void remote_end_ack(struct remote_end *r);

/* For the poll loop; call remote_end_act() after every poll(), whatever it returned. */
void remote_end_fill(const struct remote_end *r, struct pollfd *p);
int remote_end_timeout(const struct remote_end *r);
void remote_end_act(struct remote_end *r, const struct pollfd *p);
/* Everything is on its way to the agent. */
bool remote_end_is_flushed(const struct remote_end *r);

#endif
