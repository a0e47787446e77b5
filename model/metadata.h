/* SPDX-License-Identifier: MIT
 *
 * Users' metadata of stored items: headers x-ms-meta-NAME of the data planes, properties.metadata
 * in the resource manager.
 */
#ifndef MODEL_METADATA_H
#define MODEL_METADATA_H

#include <stdbool.h>

/* Names follow the rules of C# variables: letters, digits and "_", no digit first. */
bool metadata_name_ok(const char *name);
/* Whether a stored name can be shown. This includes names with "-": they were accepted once. */
bool metadata_name_shown(const char *name);
/* A value must fit in a header: UTF-8 without control characters. NULL is invalid. */
bool metadata_value_ok(const char *value);

#endif
