/* SPDX-License-Identifier: MIT
 *
 * The output of a job as it grows: standard output goes to standard output, standard error to
 * standard error. If several processes write, each line begins with the number of its process.
 */
#ifndef DAEMON_CLI_FOLLOW_H
#define DAEMON_CLI_FOLLOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/cli/client.h"

struct follow {
    const json_t *job;   /* as a list of jobs shows it */
    bool until_end;      /* false: the present output only */
    const char *process; /* only of this process; NULL: of all */
    int64_t tail;        /* begin with the last lines, so many; -1: with the first line */
    bool quiet;          /* no output, only the end */
    int64_t timeout_ms;  /* -1: none */
};

enum follow_end { FOLLOW_DONE, FOLLOW_DETACHED, FOLLOW_LATE };

struct followed {
    json_t *job;  /* its row at the last look; NULL: there was none. Caller decrefs */
    size_t files; /* of output that were there */
};

/* Ctrl-C ends it with FOLLOW_DETACHED, and a second Ctrl-C the program. With `until_end` a daemon
 * that does not answer is waited for. -1: err. */
int follow(struct daemon_client *c, const struct follow *f, struct followed *out,
           struct err *e) MUST_CHECK;
/* The exit code of a job that has ended. */
int follow_exit_code(const json_t *job);
/* Until Ctrl-C is pressed, in which case it returns false at once. */
bool follow_pause(long milliseconds);

#endif
