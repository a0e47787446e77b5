/* SPDX-License-Identifier: MIT
 *
 * One end of a remote command (wire/remote.h), in a process of the job: its connection to the
 * agent, and the session that continues over it. The connection is made again whenever it breaks. A
 * near end requests the far end (OPEN) until it gets an answer. From then on, an end that has heard
 * nothing for a while sends its position (RESUME), and the other end answers.
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
    REMOTE_NO_ROOM, /* the message is not accepted now; the other end sends it again */
    REMOTE_TAKEN,   /* remote_end_ack() follows when the message is processed */
    REMOTE_DONE
};

struct remote_end {
    /* Set by the caller; texts are borrowed. */
    const char *socket; /* the path of the job's socket */
    const char *session;
    const char *host; /* a near end: the host for the far end; NULL: this is a far end */
    int rank;         /* the rank of the other end; -1: not known yet */
    /* Called with each DATA and EXIT message (once, in order), and with LOST and GONE. */
    enum remote_taken (*hear)(void *ctx, const struct remote_msg *m);
    void *ctx;
    /* The members below are used by remote_end.c only. */
    struct remote_stream stream;
    int64_t processed; /* the first incoming message that was not processed */
    bool met;          /* the other end has answered */
    /* when the other end's last message came (monotonic ms); before, when this end began */
    int64_t met_ms;
    int64_t gone_ms; /* since when the other end is missing (monotonic ms); 0: it is not missing */
    int fd;          /* -1: not connected */
    int64_t dial_ms; /* when to try to connect next */
    /* when the last message came; when this end last sent OPEN or RESUME as a question */
    int64_t heard_ms, asked_ms;
    int64_t missed_ms; /* when this end last reported a missing message */
    struct frame_decoder in;
    struct strbuf out;
    size_t out_sent;
};

/* Initializes `r`; the first remote_end_act() connects. */
void remote_end_begin(struct remote_end *r);
void remote_end_free(struct remote_end *r);

/* Sends `m`, a DATA or EXIT, as the next message. Call only while remote_stream_has_room(). */
void remote_end_put(struct remote_end *r, const struct remote_msg *m);
/* Reports that all taken messages are processed. */
void remote_end_ack(struct remote_end *r);

/* For the poll loop. Call remote_end_act() after every poll(), also if poll() timed out or
 * failed. */
void remote_end_fill(const struct remote_end *r, struct pollfd *p);
int remote_end_timeout(const struct remote_end *r);
void remote_end_act(struct remote_end *r, const struct pollfd *p);
/* True if no output waits for the agent. */
bool remote_end_is_flushed(const struct remote_end *r);

#endif
