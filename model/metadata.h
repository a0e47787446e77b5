/* SPDX-License-Identifier: MIT
 *
 * The words that people give to what they store: headers x-ms-meta-NAME of the data planes,
 * properties.metadata at the resource manager.
 */
#ifndef MODEL_METADATA_H
#define MODEL_METADATA_H

#include <stdbool.h>

/* Names are those of C# variables: letters, digits and "_", no digit first. */
bool metadata_name_ok(const char *name);
/* Whether a name that is stored can be shown: also one with "-", which was taken once. */
bool metadata_name_shown(const char *name);
/* A header holds the value: UTF-8 without control characters. NULL is no value. */
bool metadata_value_ok(const char *value);

#endif
