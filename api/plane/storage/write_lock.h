/* SPDX-License-Identifier: MIT
 *
 * One change at a time to a file or blob: what looks first and then writes must not be overtaken by
 * another that does so too. Whoever comes first goes first.
 */
#ifndef API_PLANE_STORAGE_WRITE_LOCK_H
#define API_PLANE_STORAGE_WRITE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct write_turns;

struct write_turns *turns_create(void);
/* Nobody may have or want a turn any more. */
void turns_free(struct write_turns *t);

/* A wish for a turn; its owner keeps it until turn_end(). */
struct turn {
    struct turn *next; /* who waits behind it */
    int64_t share_id;
    const char *path;      /* lent until turn_end() */
    void (*go)(void *ctx); /* called once, perhaps inside turn_want() */
    void *ctx;
};
void turn_want(struct write_turns *t, struct turn *w);
void turn_end(struct write_turns *t, struct turn *w);

/* For who only reads, in steps: what was read since `since` (turns_now() before the first step) may
 * be of two versions. It is true also of some that were not changed. Then it is read once more, in
 * a turn. */
uint64_t turns_now(const struct write_turns *t);
bool turn_was_had(struct write_turns *t, int64_t share_id, const char *path, uint64_t since);

#endif
