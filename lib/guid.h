/* SPDX-License-Identifier: MIT
 *
 * Makes random GUIDs (RFC 9562), in lower case and with dashes, with libuuid.
 */
#ifndef LIB_GUID_H
#define LIB_GUID_H

#include <stdbool.h>
#include <stdint.h>

#define GUID_SIZE 37

/* Random bytes for many GUIDs, fetched together, because each fetch is a system call. For names
 * that need not be secret. */
struct guid_source {
    unsigned char random[16][16];
    int left; /* how many GUIDs the bytes suffice for; 0: they must be fetched */
};

/* Makes the next GUID. The caller zeroes *s before the first call. */
void guid_next(struct guid_source *s, char out[GUID_SIZE]);
/* Makes a GUID that begins with the time (RFC 9562 version 7), so that consecutive GUIDs are
 * adjacent in an index. */
void guid_next_at(struct guid_source *s, int64_t now_us, char out[GUID_SIZE]);
void guid_new(char out[GUID_SIZE]);
bool guid_valid(const char *s); /* upper or lower case */

#endif
