/* SPDX-License-Identifier: MIT
 *
 * Fake nodes of a daemon with --testing, the rules for jobs there, faults, and strict mode.
 */
#ifndef DAEMON_SERVE_SCRIPTED_H
#define DAEMON_SERVE_SCRIPTED_H

#include "daemon/serve/serve.h"
#include "scheduler/scheduler.h"

struct fake_nodes;
struct fronts;
struct loop;
struct sched;
struct node_provider;
struct access;
struct testing_faults;
struct testing_rules;
struct testing_strict;

/* All members are NULL without --testing. */
struct scripted {
    struct node_provider *provider; /* owned, like the rest */
    struct fake_nodes *nodes;
    struct testing_rules *rules;
    struct testing_faults *faults;
    struct testing_strict *strict;
};

/* Fills *s; borrows the other parameters. -1: the file of rules is invalid; the caller must call
 * scripted_close() even then. */
int scripted_open(struct scripted *s, const struct serve_config *c, struct loop *loop,
                  const struct access *access, const struct fronts *fronts,
                  struct err *e) MUST_CHECK;
/* The function by which faults keep pools from getting new nodes. */
struct sched_gate scripted_gate(const struct scripted *s);
/* Call when the scheduler exists. */
void scripted_begin(struct scripted *s, struct sched *sched);
/* Call it after the last link to a node was closed. */
void scripted_close(struct scripted *s);

#endif
