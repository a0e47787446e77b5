/* SPDX-License-Identifier: MIT
 *
 * Shared by event_feed.c (puts events into the ring), event_stream.c (streams and their rounds) and
 * event_resume.c (where a stream begins).
 */
#ifndef API_ADMIN_EVENT_STREAM_PRIV_H
#define API_ADMIN_EVENT_STREAM_PRIV_H

#include "api/admin/event_ring.h"
#include "api/admin/event_stream.h"
#include "api/admin/event_viewers.h"
#include "model/resource.h"

/* event_feed.back: no client waits for older events. */
#define FEED_NOT_BACK INT64_MAX

/* The state of event_feed.c. */
struct event_feed {
    const struct log *log;
    struct storage *st;
    const struct fleet *fl;
    struct event_ring ring;
    int64_t read; /* the number of the last event that was read */
    int64_t goal; /* the number up to which this round reads */
    int left;     /* how many more events this round reads */
    bool failed;  /* reading failed; the next round tries again */
    int64_t back; /* older events are read back to this number, or FEED_NOT_BACK */
    char id[EVENT_ID_SIZE];
    bool is_on;                      /* there is a stream */
    struct removal *removals, *last; /* on disk; wait for events to be read */
    struct loop *loop;               /* for the time of removals */
    void (*grown)(void *ctx);        /* a removal was added between rounds */
    void *ctx;
};

/* Watches removals from now on. The ring lacks the removals of earlier runs of the daemon. */
void event_feed_watch(struct event_feed *f);

/* The id of an event, for clients: its number, and a mark. The mark distinguishes the event from
 * another event with the same number after the database was restored. */
void event_id(const struct event *ev, char out[EVENT_ID_SIZE]);

/* Empties the ring and begins to read after the last event on disk. */
int event_feed_begin(struct event_feed *f, struct err *e) MUST_CHECK;
void event_feed_end(struct event_feed *f);
/* Call before each round. */
void event_feed_round(struct event_feed *f);
/* Reads some events. False: all events are read, or enough for this round. */
bool event_feed_more(struct event_feed *f);

/* The event after which a client wants to continue. */
struct event_from {
    bool is_given;
    int64_t seq;
    bool has_tag, has_roles;
    unsigned tag, roles; /* roles: event_viewer_mark() */
};
int event_from_read(struct request *r, struct event_from *out, struct err *e) MUST_CHECK;
/* *why: the reason why the client cannot continue there, in the request's arena; NULL: it can. */
int event_from_judge(const struct event_feed *f, struct request *r, const struct event_from *from,
                     const char **why, struct err *e) MUST_CHECK;

#endif
