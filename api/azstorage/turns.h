/* SPDX-License-Identifier: MIT
 *
 * One change at a time to a file or blob: what looks first and then writes must not be overtaken by
 * another that does so too. Whoever comes first goes first.
 */
#ifndef API_AZSTORAGE_TURNS_H
#define API_AZSTORAGE_TURNS_H

#include <stdint.h>

struct turns;

struct turns *turns_create(void);
/* Nobody may have or want a turn any more. */
void turns_free(struct turns *t);

/* A wish for a turn; its owner keeps it until turn_end(). */
struct turn {
    struct turn *next; /* who waits behind it */
    int64_t share_id;
    const char *path;      /* lent until turn_end() */
    void (*go)(void *ctx); /* called once, perhaps inside turn_want() */
    void *ctx;
};
void turn_want(struct turns *t, struct turn *w);
void turn_end(struct turns *t, struct turn *w);

#endif
