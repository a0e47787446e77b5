/* SPDX-License-Identifier: MIT
 *
 * The metadata that users give stored items: in the headers x-ms-meta-NAME of the data planes, and
 * in properties.metadata of the resource manager.
 */
#ifndef MODEL_METADATA_H
#define MODEL_METADATA_H

#include <stdbool.h>

/* Names follow the rules of C# variables: letters, digits and "_", no digit first. */
bool metadata_name_ok(const char *name);
/* True: a stored name can be shown. Names with "-" can, too, because an earlier version accepted
 * them. */
bool metadata_name_shown(const char *name);
/* A value must fit in a header: UTF-8 without control characters. NULL is invalid. */
bool metadata_value_ok(const char *value);

#endif
