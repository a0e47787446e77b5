/* SPDX-License-Identifier: MIT
 *
 * Takes settings into use while the daemon runs: those with .live in the table of settings.
 */
#ifndef DAEMON_SERVE_LIVE_H
#define DAEMON_SERVE_LIVE_H

#include "api/http/http.h"
#include "daemon/config/config.h"
#include "daemon/serve/metering.h"
#include "scheduler/keep.h"
#include "scheduler/site/site.h"

/* Takes settings into use. `ctx`: the struct daemon. `config` and `site` are borrowed until the
 * daemon ends. -1: nothing was changed. */
int live_take(void *ctx, const struct config *config, const struct site *site,
              struct err *e) MUST_CHECK;

/* Takes over the content of *m (the rights to read metrics), and leaves *m empty. */
void live_meter(void *ctx, struct metering *m);

/* The configured limits for keeping ended resources. */
struct keep_limits live_keep(const struct config *config);
/* The settings of the server. */
struct api_settings live_api(const struct config *config);

#endif
