/* SPDX-License-Identifier: MIT
 *
 * Random GUIDs (RFC 4122 version 4), lower-case and dashed, from libuuid.
 */
#ifndef LIB_GUID_H
#define LIB_GUID_H

#include <stdbool.h>

#define GUID_SIZE 37

void guid_new(char out[GUID_SIZE]);
bool guid_valid(const char *s); /* any case */

#endif
