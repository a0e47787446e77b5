/* SPDX-License-Identifier: MIT
 *
 * Turns: a turn is the lock of one file or blob, so that a request that first reads and later
 * writes does not overlap with another such request. Requests get the turn in the order in which
 * they ask.
 */
#ifndef API_PLANE_STORAGE_WRITE_LOCK_H
#define API_PLANE_STORAGE_WRITE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "api/http/request.h"

struct write_turns;

struct write_turns *turns_create(void);
/* Call when no request holds a turn or waits for one. */
void turns_free(struct write_turns *t);

/* A request for the turn of a path; it must exist until turn_end(). All zero before turn_want(). */
struct turn {
    struct turn *next; /* the next request that waits */
    int64_t share_id;
    const char *path;      /* borrowed until turn_end() */
    void (*go)(void *ctx); /* called once, perhaps inside turn_want() or turn_end() */
    void *ctx;
    bool is_held; /* from `go` to turn_end() */
};
void turn_want(struct write_turns *t, struct turn *w);
/* Does nothing if the turn is not held. */
void turn_end(struct write_turns *t, struct turn *w);
/* Calls request_finish(), then turn_end(), so that the next request sees the state that this reply
 * shows. */
void turn_finish(struct request *r, struct replied *done, struct turn *w);

/* For requests that read in several steps without the turn: whether the data read since `since`
 * (turns_now() before the first step) may be of two versions. It can be true without a change. If
 * it is true, the request must hold the turn and read again. */
uint64_t turns_now(const struct write_turns *t);
bool turn_was_had(struct write_turns *t, int64_t share_id, const char *path, uint64_t since);

#endif
