/* SPDX-License-Identifier: MIT
 *
 * The principals who have streams of events, and their rights. The rights are read again every few
 * seconds.
 */
#ifndef API_ADMIN_EVENT_VIEWERS_H
#define API_ADMIN_EVENT_VIEWERS_H

#include "api/access/access.h"
#include "api/admin/event_ring.h"

struct live_text;

/* The latest text that was made, kept for other streams at the same position. Viewers with equal
 * roles share it. */
struct event_texts {
    size_t viewers;
    int64_t from, end, to;
    uint64_t machines, to_machines;
    struct live_text *text; /* NULL: the viewers may see none of these events */
    bool is_made;
};

struct event_viewer {
    struct event_viewer *next;
    size_t streams;
    char object_id[PRINCIPAL_ID_SIZE], name[PRINCIPAL_NAME_SIZE];
    struct arena arena; /* of the grants */
    struct grants grants;
    bool first, sees_machines;
    const char *gone; /* why its streams must end; NULL: they need not */
    unsigned version; /* counts changes of its roles */
    uint64_t asked_ms, roles;

    struct event_texts *texts;
};

struct event_viewers {
    const struct access *access; /* borrowed */
    struct event_viewer *list;
};

/* Finds or makes the viewer of a principal and counts one more stream. -1: the principal's rights
 * cannot be read. */
int event_viewer_enter(struct event_viewers *all, const struct principal *who, uint64_t now_ms,
                       struct event_viewer **out, struct err *e) MUST_CHECK;
void event_viewer_leave(struct event_viewers *all, struct event_viewer *v);
size_t event_viewer_streams(const struct event_viewers *all, const char *object_id);
/* Reads again the rights of viewers whose rights were last read some time ago. */
void event_viewers_ask(struct event_viewers *all, uint64_t now_ms);
/* Drops the latest texts of all viewers. */
void event_viewers_forget(struct event_viewers *all);
/* A hash of the viewer's roles; equal roles have the same hash after a restart of the daemon. */
unsigned event_viewer_mark(const struct event_viewer *v);
bool event_viewer_sees(const struct event_viewer *v, const struct ring_event *ev);

#endif
