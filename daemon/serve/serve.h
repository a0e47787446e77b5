/* SPDX-License-Identifier: MIT
 *
 * The daemon itself: opens the rooms from the bottom up (storage, scheduler, api), lets the loop
 * run, closes them from the top down. This is the only place that knows all rooms.
 *
 * At the end of each loop turn, before the loop sleeps (prepare) and after it polled (check), the
 * rooms do their work: reconcilers, commit, replies.
 */
#ifndef DAEMON_SERVE_SERVE_H
#define DAEMON_SERVE_SERVE_H

#include "daemon/certs/certs.h"
#include "daemon/config/config.h"
#include "daemon/config/state.h"
#include "lib/err.h"
#include "lib/log.h"
#include "scheduler/site/site.h"

struct serve_config {
    const struct config *config;
    const char
        *config_path; /* the file that the configuration was read from, absolute; NULL: none */
    const struct state *state;
    const struct credentials *credentials;
    struct certs *certs;
    const struct site *site;
    const char *agent_path, *cmd_path; /* cmd_path NULL: no command lines of Windows are run */
    const struct log *log;
    bool ephemeral;          /* nothing is to last, nor synced */
    const char *testing_key; /* NULL: it takes no requests of tests */
    const char *fake_sizes;  /* the pools whose nodes are fake: a pattern of their vmSize, in upper
                                case; with a testing_key only */
    const char *rules_file;  /* of scripted work; NULL: none */
    const char *seed_file;   /* what it begins with; NULL: nothing */
    int64_t started_us;
    size_t *left_behind; /* set to the number of threads that still hang in calls on a share */
};

/* Runs until a signal asks it to stop. -1: it could not start, nothing is left open. */
int serve_run(const struct serve_config *c, struct err *e) MUST_CHECK;

#endif
