/* SPDX-License-Identifier: MIT
 *
 * Byte ranges (RFC 7233, one range), as clients of Azure storage send them.
 */
#ifndef API_AZSTORAGE_RANGE_H
#define API_AZSTORAGE_RANGE_H

#include <stdint.h>

#include "files/files.h"

enum range_result { RANGE_NONE, RANGE_PART, RANGE_UNSATISFIABLE };

/* `header` is the Range header's value or NULL; an unknown form counts as no range, as the RFC
 * requires. *first and *last (inclusive) are set for RANGE_PART. */
enum range_result range_parse(const char *header, uint64_t size, uint64_t *first, uint64_t *last);

/* "bytes=0-511" in a header of this name, or NULL: both ends must be given. AZSTORAGE_HEADER,
 * AZSTORAGE_HEADER_MISSING. */
int range_exact(const char *name, const char *text, struct file_range *out,
                struct err *e) MUST_CHECK;

#endif
