/* SPDX-License-Identifier: MIT
 *
 * The time of what is served: of rows, limits, tokens and links. It is the machine's, unless tests
 * may change it; then what speaks to the machine itself (real processes, files, TLS) still lives in
 * the machine's.
 */
#ifndef DAEMON_SERVE_SERVED_TIME_H
#define DAEMON_SERVE_SERVED_TIME_H

#include "api/testing/clock.h"
#include "lib/loop.h"
#include "lib/timefmt.h"

struct files;
struct loop_virtual;
struct storage;

struct served_time {
    struct loop *loop;            /* in that time */
    struct loop_virtual *changes; /* owned by `clock` */
    struct testing_clock *clock;  /* that changes it; owned; NULL: nothing does */
    struct loop *machine;         /* borrowed; libuv's */
    struct storage **storage;     /* borrowed; what is not on disk yet may have effects */
};

/* `files`: tests may change it, and what is written there follows; NULL: nobody may. */
void served_time_open(struct served_time *t, struct loop *machine, struct storage **storage,
                      struct files *files);
void served_time_close(struct served_time *t);
struct clock served_time_clock(const struct served_time *t);

#endif
