/* SPDX-License-Identifier: MIT
 *
 * The time for rows, limits, tokens and links. It is the machine's time, unless a test changes it.
 * Code for the machine itself (real processes, files, TLS) always uses the machine's time.
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
    struct loop *loop;            /* the loop that has this time */
    struct loop_virtual *changes; /* owned by `clock` */
    struct testing_clock *clock;  /* the clock of tests; owned; NULL: time cannot be changed */
    struct loop *machine;         /* borrowed; libuv's */
    /* borrowed; its uncommitted writes count as work */
    struct storage **storage;
};

/* `files`: tests may change the time, which then also applies to files of shares; NULL: tests may
 * not change it. */
void served_time_open(struct served_time *t, struct loop *machine, struct storage **storage,
                      struct files *files);
void served_time_close(struct served_time *t);
struct clock served_time_clock(const struct served_time *t);

#endif
