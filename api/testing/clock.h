/* SPDX-License-Identifier: MIT
 *
 * The clock of a daemon with --testing, which tests may stop, scale and take forward.
 */
#ifndef API_TESTING_CLOCK_H
#define API_TESTING_CLOCK_H

struct loop_virtual;
struct testing_clock;

/* Takes over `time`. */
struct testing_clock *testing_clock_create(struct loop_virtual *time);
/* After the server and all that live in its time have stopped. */
void testing_clock_free(struct testing_clock *c);
/* The daemon stops: answers who waits. */
void testing_clock_halt(struct testing_clock *c);

#endif
