/* SPDX-License-Identifier: MIT
 *
 * What the daemon's process may use. Call both before there are threads.
 */
#ifndef DAEMON_SERVE_LIMITS_H
#define DAEMON_SERVE_LIMITS_H

#include "scheduler/site/site.h"

void limits_raise_descriptors(void);
/* Of libuv's pool, for the machines of an inventory; `site` may be NULL. */
void limits_size_thread_pool(const struct site *site);

#endif
