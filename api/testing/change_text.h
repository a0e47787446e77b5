/* SPDX-License-Identifier: MIT
 *
 * Renders a change of a resource as the event that tests read.
 */
#ifndef API_TESTING_CHANGE_TEXT_H
#define API_TESTING_CHANGE_TEXT_H

#include <jansson.h>

#include "storage/changes.h"

/* Renders the change as a new reference. NULL: the change is not in `subscription` (NULL: any), or
 * its object has a kind that this daemon does not know. */
json_t *change_render(const struct change *c, const char *subscription);

#endif
