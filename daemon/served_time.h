/* SPDX-License-Identifier: MIT
 *
 * The time of what is served: of rows, limits, tokens and links. It is the machine's, unless tests
 * may change it; then what speaks to the machine itself (real processes, files, TLS) still lives in
 * the machine's.
 */
#ifndef DAEMON_SERVED_TIME_H
#define DAEMON_SERVED_TIME_H

#include <stdbool.h>

#include "api/testing/clock.h"
#include "lib/loop.h"
#include "lib/timefmt.h"

struct storage;

struct served_time {
    struct loop *loop;           /* in that time */
    struct testing_clock *clock; /* that changes it; owned; NULL: nothing does */
    struct loop *machine;        /* borrowed; libuv's */
    struct storage **storage;    /* borrowed; what is not on disk yet may have effects */
};

void served_time_open(struct served_time *t, struct loop *machine, struct storage **storage,
                      bool changes);
void served_time_close(struct served_time *t);
struct clock served_time_clock(const struct served_time *t);

#endif
