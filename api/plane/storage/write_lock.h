/* SPDX-License-Identifier: MIT
 *
 * One change at a time for each file or blob: a request that looks first and writes later must not
 * overlap with another such request. First come, first served.
 */
#ifndef API_PLANE_STORAGE_WRITE_LOCK_H
#define API_PLANE_STORAGE_WRITE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "api/http/request.h"

struct write_turns;

struct write_turns *turns_create(void);
/* Call when nobody has a turn or waits for one. */
void turns_free(struct write_turns *t);

/* A request for a turn; its owner keeps it until turn_end(). Zero before turn_want(). */
struct turn {
    struct turn *next; /* the next request that waits */
    int64_t share_id;
    const char *path;      /* lent until turn_end() */
    void (*go)(void *ctx); /* called once, perhaps inside turn_want() */
    void *ctx;
    bool is_held; /* from `go` to turn_end() */
};
void turn_want(struct write_turns *t, struct turn *w);
/* Does nothing if the turn is not held. */
void turn_end(struct write_turns *t, struct turn *w);
/* request_finish(), then turn_end(), so that the next request sees the state that this reply
 * shows. */
void turn_finish(struct request *r, struct replied *done, struct turn *w);

/* For readers in several steps: whether data read since `since` (turns_now() before the first step)
 * may be of two versions. May also be true without a change. If true, read once more, in a turn. */
uint64_t turns_now(const struct write_turns *t);
bool turn_was_had(struct write_turns *t, int64_t share_id, const char *path, uint64_t since);

#endif
