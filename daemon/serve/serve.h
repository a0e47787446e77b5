/* SPDX-License-Identifier: MIT
 *
 * The daemon itself: opens the rooms from the bottom up (storage, scheduler, api), runs the loop,
 * and closes the rooms from the top down. Only this code uses all rooms.
 *
 * At the end of each loop turn, before the loop sleeps (prepare) and after it polled (check), the
 * rooms do their work: reconcilers, commit, replies.
 */
#ifndef DAEMON_SERVE_SERVE_H
#define DAEMON_SERVE_SERVE_H

#include "daemon/certs/certs.h"
#include "daemon/config/config.h"
#include "daemon/config/site.h"
#include "daemon/config/state.h"
#include "lib/err.h"
#include "lib/log.h"
#include "storage/storage.h"

struct serve_config {
    const struct config *config;
    /* Reads the configuration again, with the options and variables that override the file. May run
     * on any thread. */
    int (*load)(const void *load_ctx, struct config *out, struct err *e);
    const void *load_ctx;
    const char *config_path; /* the configuration file, as an absolute path; NULL: none */
    const struct state *state;
    const struct credentials *credentials;
    struct certs *certs;
    const struct daemon_site *site;
    /* cmd_path NULL: Windows command lines are not supported */
    const char *agent_path, *cmd_path;
    struct log *log; /* a reload sets its level */
    bool ephemeral;  /* no file must survive the daemon, so none is synced */
    /* the key of the testing service; NULL: the daemon refuses requests to it */
    const char *testing_key;
    /* pools whose vmSize matches this pattern (upper case) have fake nodes; only with a
     * testing_key */
    const char *fake_sizes;
    const char *rules_file; /* rules for jobs on fake nodes; NULL: none */
    const char *seed_file;  /* a seed to load at the start; NULL: none */
    int64_t started_us;
    /* gets the progress of opening the database; NULL: not wanted */
    const struct st_opening *opening;
    /* set to the number of threads that are still blocked in calls on a share */
    size_t *left_behind;
};

/* Runs the daemon until a signal stops it. -1: it could not start; then everything is closed
 * again. */
int serve_run(const struct serve_config *c, struct err *e) MUST_CHECK;

#endif
