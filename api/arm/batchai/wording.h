/* SPDX-License-Identifier: MIT
 *
 * Names that differ between api-versions and are not names of properties: type strings, error codes
 * and their messages. One table each.
 */
#ifndef API_ARM_BATCHAI_WORDING_H
#define API_ARM_BATCHAI_WORDING_H

#include <jansson.h>

#include "model/schema.h"

/* The type string; the newest version's if the requested one has no other. */
const char *word_type(enum api_version v, const char *type);
/* Rewrites the codes and messages of a BatchAIError array (NULL: nothing to do). */
void word_errors(enum api_version v, json_t *errors);

#endif
