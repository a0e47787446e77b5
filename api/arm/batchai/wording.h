/* SPDX-License-Identifier: MIT
 *
 * Names that differ between api-versions and are not names of properties: type strings, error codes
 * and their messages. Each has a table.
 */
#ifndef API_ARM_BATCHAI_WORDING_H
#define API_ARM_BATCHAI_WORDING_H

#include <jansson.h>

#include "model/schema.h"

/* The type string in version `v`; `type`, that of the newest version, if `v` has no other. */
const char *word_type(enum api_version v, const char *type);
/* Replaces the codes and messages in an array of BatchAIError by those of version `v`. `errors` may
 * be NULL. */
void word_errors(enum api_version v, json_t *errors);

#endif
