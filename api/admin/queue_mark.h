/* SPDX-License-Identifier: MIT
 *
 * A mark: the place of a row in the list of all queues. Clusters are in the order of the ids of
 * their pools. In a cluster the running jobs are first, by start; then the waiting jobs in the
 * order of the queue; then the held jobs by id. Pure functions.
 */
#ifndef API_ADMIN_QUEUE_MARK_H
#define API_ADMIN_QUEUE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

enum queue_order { BY_START = 1, BY_TURN, BY_ID };

struct queue_mark {
    int64_t pool;  /* id of the pool; 0: before all rows */
    int64_t order; /* enum queue_order */
    int64_t by;    /* the start of a running run, the priority of a waiting one */
    int64_t id;    /* the run's id */
    int64_t place; /* in the queue, for a waiting run */
};

/* Whether a row is at the mark or before it, so that an earlier page has shown the row. */
bool queue_mark_is_past(const struct queue_mark *mark, const struct queue_mark *row);

/* Prints the mark as text: "3/2/0/17/201". */
#define QUEUE_MARK_SIZE 108
void queue_mark_print(const struct queue_mark *mark, char text[QUEUE_MARK_SIZE]);
/* Reads a printed mark; -1: `text` is not a mark. */
int queue_mark_read(const char *text, struct queue_mark *out) MUST_CHECK;

#endif
