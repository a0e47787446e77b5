/* SPDX-License-Identifier: MIT
 *
 * For tests of what becomes of a daemon that stands still or ends badly: with --testing,
 * $BATCHAID_TESTING_FAULT ("hang", "abort" or "crash", a blank, and a pattern of lib/wildcard.h)
 * says what happens when the loop begins a piece of work whose text fits (work_text()). Being
 * a variable, it happens again after each start.
 */
#ifndef DAEMON_SERVE_FAULT_HOOK_H
#define DAEMON_SERVE_FAULT_HOOK_H

#include "lib/err.h"
#include "lib/work.h"

/* NULL: nothing is to happen. ERR_CONFIG: the variable says something else. */
typedef void (*fault_hook)(void *ctx, const struct work_item *w);
int fault_hook_find(fault_hook *out, struct err *e) MUST_CHECK;

#endif
