/* SPDX-License-Identifier: MIT
 *
 * Byte ranges (RFC 7233, one range), as clients of Azure storage send them.
 */
#ifndef API_PLANE_STORAGE_RANGE_H
#define API_PLANE_STORAGE_RANGE_H

#include <stdint.h>

#include "storage/folders/files.h"

enum range_result { RANGE_NONE, RANGE_PART, RANGE_UNSATISFIABLE };

/* Reads the header Range. `header`: its value, or NULL. An unknown form is ignored, as the RFC
 * requires: RANGE_NONE. For RANGE_PART sets *first and *last (inclusive). */
enum range_result range_parse(const char *header, uint64_t size, uint64_t *first, uint64_t *last);

/* Reads `text`, the value of the header `name`, such as "bytes=0-511". AZSTORAGE_HEADER: an end of
 * the range is missing, or the value is not valid. AZSTORAGE_HEADER_MISSING: `text` is NULL. */
int range_exact(const char *name, const char *text, struct file_range *out,
                struct err *e) MUST_CHECK;

/* Like range_exact(), but also accepts "bytes=512-". Such a range ends at INT64_MAX, which is
 * beyond the end of every file. */
int range_or_rest(const char *name, const char *text, struct file_range *out,
                  struct err *e) MUST_CHECK;

/* Like range_or_rest(), for a range that is hashed before it is sent: it has at most
 * RANGE_HASHED_MAX bytes. `header`: the name of the header that asks for the hash. */
#define RANGE_HASHED_MAX (4 << 20)
int range_hashed(const char *header, const char *name, const char *text, struct file_range *out,
                 struct err *e) MUST_CHECK;
/* Call with the size of the file: refuses a range without an end that has more than
 * RANGE_HASHED_MAX bytes. */
int range_hashed_check(const char *header, const struct file_range *range, uint64_t size,
                       struct err *e) MUST_CHECK;

#endif
