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

/* Nobody waits for older events. */
#define FEED_NOT_BACK INT64_MAX

/* The state of event_feed.c. */
struct event_feed {
    const struct log *log;
    struct storage *st;
    const struct fleet *fl;
    struct event_ring ring;
    int64_t read; /* the number of the last event that was read */
    int64_t goal; /* so far it is read in this round, but at most: */
    int left;     /* events */
    bool failed;  /* the events cannot be read; the next event tries again */
    int64_t back; /* so far older events are read; FEED_NOT_BACK */
    char id[EVENT_ID_SIZE];
    bool is_on;                      /* somebody has a stream */
    struct removal *removals, *last; /* on disk, behind events that were not read yet; in order */
    struct loop *loop;               /* its wall clock is shown */
    void (*grown)(void *ctx);        /* the ring, between rounds */
    void *ctx;
};

/* Watches removals from now on. The removals of earlier runs of the daemon are lost. */
void event_feed_watch(struct event_feed *f);

/* The id of an event, for clients: its number, and a mark. The mark distinguishes it from another
 * event that has its number after the database was restored. */
void event_id(const struct event *ev, char out[EVENT_ID_SIZE]);

/* Begins at the last event on disk. */
int event_feed_begin(struct event_feed *f, struct err *e) MUST_CHECK;
void event_feed_end(struct event_feed *f);
/* Before a round. */
void event_feed_round(struct event_feed *f);
/* Reads some events. False: all events are read, or enough for this round. */
bool event_feed_more(struct event_feed *f);

/* Where a client wants to go on. */
struct event_from {
    bool is_given;
    int64_t seq;
    bool has_tag, has_roles;
    unsigned tag, roles; /* roles: event_viewer_mark() */
};
int event_from_read(struct request *r, struct event_from *out, struct err *e) MUST_CHECK;
/* *why: why it cannot go on from there, in the request's arena; NULL: it can. */
int event_from_judge(const struct event_feed *f, struct request *r, const struct event_from *from,
                     const char **why, struct err *e) MUST_CHECK;

#endif
