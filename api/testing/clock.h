/* SPDX-License-Identifier: MIT
 *
 * The clock of a daemon with --testing. Tests may stop, scale and advance it.
 */
#ifndef API_TESTING_CLOCK_H
#define API_TESTING_CLOCK_H

struct loop_virtual;
struct testing_clock;

/* Creates the clock of a daemon; takes over `time`. */
struct testing_clock *testing_clock_create(struct loop_virtual *time);
/* Call after the server and everything that uses its clock have stopped. */
void testing_clock_free(struct testing_clock *c);
/* Call when the daemon stops: replies to the waiting request. */
void testing_clock_halt(struct testing_clock *c);

#endif
