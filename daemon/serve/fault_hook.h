/* SPDX-License-Identifier: MIT
 *
 * For tests of a daemon that hangs or crashes: with --testing, $BATCHAID_TESTING_FAULT ("hang",
 * "abort" or "crash", a blank, and a pattern of lib/wildcard.h) is applied when the loop begins a
 * piece of work whose text matches (work_text()). The variable also has this effect after each
 * restart.
 */
#ifndef DAEMON_SERVE_FAULT_HOOK_H
#define DAEMON_SERVE_FAULT_HOOK_H

#include "lib/err.h"
#include "lib/work.h"

/* *out NULL: no fault is set. ERR_CONFIG: the variable has another format. */
typedef void (*fault_hook)(void *ctx, const struct work_item *w);
int fault_hook_find(fault_hook *out, struct err *e) MUST_CHECK;

#endif
