/* SPDX-License-Identifier: MIT
 *
 * What became of a resource, as tests read it.
 */
#ifndef API_TESTING_CHANGE_TEXT_H
#define API_TESTING_CHANGE_TEXT_H

#include <jansson.h>

#include "storage/changes.h"

/* A new reference; NULL: it is of another subscription than this (NULL: any), or of no kind that
 * this daemon knows. */
json_t *change_render(const struct change *c, const char *subscription);

#endif
