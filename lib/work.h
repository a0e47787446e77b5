/* SPDX-License-Identifier: MIT
 *
 * Records the work in progress, for the diagnosis when the loop stands still or the process
 * crashes: the present piece of work of the loop's thread, and the pieces that continue between
 * turns of the loop. Entering work costs only a few stores, so every request can do it.
 *
 * Only the loop's thread writes. Signal handlers on that thread may read at any moment; other
 * threads only while that thread stands still.
 */
#ifndef LIB_WORK_H
#define LIB_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

struct work_item {
    const char *kind; /* "request", "run"; static */
    const char *who;  /* the user; NULL: none */
    const char *verb; /* the method, or the part of the work; NULL: none */
    const char *what; /* the path, or a name that a restart does not change; NULL: none */
    int64_t id;       /* id of its row, if it has no name; 0: none */
    uint64_t body;    /* a hash of the body (text_hash); 0: none */
    struct work_item *next, **at; /* links in the list of open items; `at` NULL: not in it */
};

#define WORK_TEXT_SIZE 320

/* Makes `w` the present work of the loop (borrowed; NULL: unnamed work), until the caller passes
 * the result of this call to work_leave(). */
const struct work_item *work_enter(const struct work_item *w);
void work_leave(const struct work_item *before);
/* The present work of the loop; NULL: unnamed work. */
const struct work_item *work_now(void);

/* Marks `w` (borrowed) as in progress until work_close(), whatever other work the loop does
 * meanwhile. */
void work_open(struct work_item *w);
/* Closes `w`; it may be closed already. */
void work_close(struct work_item *w);
const struct work_item *work_first_open(void);

/* "request PUT /x by NAME", cut to the size. Safe in a signal handler, like the next function. */
void work_text(const struct work_item *w, char out[WORK_TEXT_SIZE]);
/* A number that identifies the work. Every process computes the same number for the same work. */
uint64_t work_key(const struct work_item *w);

/* Ends the process, because the machine lacks a resource: memory, a thread, or a working disk. The
 * end is not blamed on the present work. */
_Noreturn void work_give_up(void);
bool work_gave_up(void); /* may be called in a signal handler */

/* Decides whether a piece of work may begin; the loop has entered the work already. */
struct work_judge {
    /* -1: the work must not begin. */
    int (*judge)(void *ctx, const struct work_item *w, struct err *e);
    /* Called for each piece of work that begins; NULL: not needed. */
    void (*begins)(void *ctx, const struct work_item *w);
    void *ctx;
};
/* `judge` is copied; NULL: all work may begin. */
void work_set_judge(const struct work_judge *judge);
int work_may_begin(const struct work_item *w, struct err *e) MUST_CHECK;

#endif
