/* SPDX-License-Identifier: MIT
 *
 * Random GUIDs (RFC 9562), lower-case and dashed, from libuuid.
 */
#ifndef LIB_GUID_H
#define LIB_GUID_H

#include <stdbool.h>
#include <stdint.h>

#define GUID_SIZE 37

void guid_new(char out[GUID_SIZE]);
/* One that begins with the time (RFC 9562 version 7): those made one after the other stand side by
 * side in an index. */
void guid_new_at(int64_t now_us, char out[GUID_SIZE]);
bool guid_valid(const char *s); /* any case */

#endif
