/* SPDX-License-Identifier: MIT
 *
 * Prints the output of a job while it grows: standard output goes to standard output, standard
 * error to standard error. If several processes write, each line begins with the number of its
 * process.
 */
#ifndef DAEMON_CLI_FOLLOW_H
#define DAEMON_CLI_FOLLOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/cli/client.h"

struct follow {
    const json_t *job;   /* the job as lists show it */
    bool until_end;      /* false: print only the present output */
    const char *process; /* print only output of this process; NULL: of all processes */
    int64_t tail;        /* begin with so many last lines; -1: begin with the first line */
    bool quiet;          /* print no output, only wait for the end */
    int64_t timeout_ms;  /* -1: no limit */
};

enum follow_end { FOLLOW_DONE, FOLLOW_DETACHED, FOLLOW_LATE };

struct followed {
    json_t *job;  /* the job's last row; NULL: none was read. Caller decrefs */
    size_t files; /* how many files of output there were */
};

/* Follows a job. Ctrl-C, unless it is ignored, ends this with FOLLOW_DETACHED; a second Ctrl-C ends
 * the program. With `until_end` it waits for a daemon that does not answer. -1: error. */
int follow(struct daemon_client *c, const struct follow *f, struct followed *out,
           struct err *e) MUST_CHECK;
/* The exit code of a job that has ended. */
int follow_exit_code(const json_t *job);
/* The monotonic clock, for limits of waiting. */
int64_t follow_now_ms(void);
/* Pauses. Returns true, or false at once if Ctrl-C is pressed. */
bool follow_pause(long milliseconds);

#endif
