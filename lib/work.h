/* SPDX-License-Identifier: MIT
 *
 * What is under way, for whoever wants to know why the loop stands still or the process ended: the
 * one piece of work that the loop's thread is in, and those that go on between its turns. It is
 * said where work begins and costs some stores, so that it may be said of every request.
 *
 * The loop's thread says it all. Signal handlers on that thread may read it at any moment; other
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
    const char *who;  /* whose it is; NULL: nobody's */
    const char *verb; /* the method, or which part of it; NULL: none */
    const char *what; /* the path, or a name that is the same after a restart; NULL: none */
    int64_t id;       /* of its row, where it has no name; 0: none */
    uint64_t body;    /* a number of the body (text_hash); 0: none */
    struct work_item *next, **at; /* of those that are open; at NULL: it is not */
};

#define WORK_TEXT_SIZE 320

/* From here on the loop is in `w` (borrowed; NULL: in nothing that has a name), until work_leave()
 * with what this returns. */
const struct work_item *work_enter(const struct work_item *w);
void work_leave(const struct work_item *before);
/* NULL: nothing that has a name. */
const struct work_item *work_now(void);

/* `w` (borrowed) goes on until work_close(), whatever the loop is in meanwhile. */
void work_open(struct work_item *w);
/* Also of one that is not open. */
void work_close(struct work_item *w);
const struct work_item *work_first_open(void);

/* "request PUT /x by NAME", cut to its size. Safe in a signal handler, as is the next. */
void work_text(const struct work_item *w, char out[WORK_TEXT_SIZE]);
/* A number that is the same for the same work of another process. */
uint64_t work_key(const struct work_item *w);

/* Ends the process, because the machine does not give what it needs: memory, a thread, a disk that
 * keeps what was written. No work is to blame. */
_Noreturn void work_give_up(void);
bool work_gave_up(void); /* also in a signal handler */

/* Asked before work is begun, which the loop has entered already. */
struct work_judge {
    /* -1: it is not to be begun. */
    int (*judge)(void *ctx, const struct work_item *w, struct err *e);
    /* Told of all that begins, when the loop is in it; NULL: nobody. */
    void (*begins)(void *ctx, const struct work_item *w);
    void *ctx;
};
/* Copied; NULL: everything may be begun. */
void work_set_judge(const struct work_judge *judge);
int work_may_begin(const struct work_item *w, struct err *e) MUST_CHECK;

#endif
