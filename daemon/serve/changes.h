/* SPDX-License-Identifier: MIT
 *
 * What a reload changes, in the form of the reply to POST /batchaid/reload:
 *
 *     {"machines": {"added": [NAME...], "removed": [NAME...], "changed": [NAME...]},
 *      "settings": [KEY...], "afterRestart": [KEY...]}
 */
#ifndef DAEMON_SERVE_CHANGES_H
#define DAEMON_SERVE_CHANGES_H

#include <jansson.h>
#include <stdbool.h>

#include "daemon/config/site.h"
#include "lib/arena.h"

struct changes_of {
    const struct config *live, *start, *fresh; /* as for config_changes() */
    const struct daemon_site *site, *fresh_site;
};

/* Finds the changes. Returns a new reference. */
json_t *changes_find(const struct changes_of *of);
/* Whether the reload changes something that needs no restart. */
bool changes_any_live(const json_t *changes);
/* "2 machines more, 1 less, jobs.cpus", or with `after_restart` the keys that need a restart; NULL:
 * none. */
const char *changes_text(struct arena *a, const json_t *changes, bool after_restart);

#endif
