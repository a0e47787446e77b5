/* SPDX-License-Identifier: MIT
 *
 * The work in progress, as a diagnosis when the loop stands still or the process crashes: the
 * present piece of work of the loop's thread, and those that continue between its turns. Entering
 * work costs some stores, so every request can do it.
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
    struct work_item *next, **at; /* links of open items; `at` NULL: not open */
};

#define WORK_TEXT_SIZE 320

/* From here on the loop is in `w` (borrowed; NULL: unnamed work), until work_leave() with the
 * result of this call. */
const struct work_item *work_enter(const struct work_item *w);
void work_leave(const struct work_item *before);
/* NULL: unnamed work. */
const struct work_item *work_now(void);

/* `w` (borrowed) is in progress until work_close(), whatever the loop does meanwhile. */
void work_open(struct work_item *w);
/* Closes `w`; it may be closed already. */
void work_close(struct work_item *w);
const struct work_item *work_first_open(void);

/* "request PUT /x by NAME", cut to the size. Safe in a signal handler, like the next function. */
void work_text(const struct work_item *w, char out[WORK_TEXT_SIZE]);
/* A number for the work. Every process computes it alike. */
uint64_t work_key(const struct work_item *w);

/* Ends the process, because the machine lacks a resource: memory, a thread, a working disk. No work
 * is to blame. */
_Noreturn void work_give_up(void);
bool work_gave_up(void); /* also in a signal handler */

/* Asked before a piece of work begins; the loop has entered the work already. */
struct work_judge {
    /* -1: the work must not begin. */
    int (*judge)(void *ctx, const struct work_item *w, struct err *e);
    /* Called for each piece of work that begins; NULL: not needed. */
    void (*begins)(void *ctx, const struct work_item *w);
    void *ctx;
};
/* Copied; NULL: all work may begin. */
void work_set_judge(const struct work_judge *judge);
int work_may_begin(const struct work_item *w, struct err *e) MUST_CHECK;

#endif
