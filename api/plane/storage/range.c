/* SPDX-License-Identifier: MIT
 *
 * Parses the header Range. Ignores an invalid range, as RFC 7233 demands. Pure.
 */
#include "api/plane/storage/range.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/storage/errors.h"

/* Reads a number. A number above 64 bits becomes the largest, because it is beyond the end of any
 * file. */
static int number(const char **p, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)**p))
        return -1;
    *out = strtoull(*p, &end, 10); /* ULLONG_MAX when out of range */
    *p = end;
    return 0;
}

/* Reads "-N", which means the last N bytes. */
static enum range_result suffix(const char *p, uint64_t size, uint64_t *first, uint64_t *last)
{
    uint64_t n;
    if (number(&p, &n) < 0 || *p)
        return RANGE_NONE;
    if (n == 0 || size == 0)
        return RANGE_UNSATISFIABLE;
    *first = n < size ? size - n : 0;
    *last = size - 1;
    return RANGE_PART;
}

enum range_result range_parse(const char *header, uint64_t size, uint64_t *first, uint64_t *last)
{
    if (!header || strncasecmp(header, "bytes=", 6) != 0)
        return RANGE_NONE;
    const char *p = header + 6;
    if (*p == '-')
        return suffix(p + 1, size, first, last);
    if (number(&p, first) < 0 || *p++ != '-')
        return RANGE_NONE;
    *last = UINT64_MAX;
    if (*p && (number(&p, last) < 0 || *p))
        return RANGE_NONE;
    if (*last < *first)
        return RANGE_NONE;
    if (*first >= size)
        return RANGE_UNSATISFIABLE;
    if (*last >= size)
        *last = size - 1;
    return RANGE_PART;
}

static int bad_range(const char *name, const char *text, struct err *e)
{
    return err_set(e, AZSTORAGE_HEADER, name,
                   "The value for one of the HTTP headers is not in the correct format: the range "
                   "is '%.60s'; it must be bytes=FIRST-LAST.",
                   text ? text : "");
}

int range_exact(const char *name, const char *text, struct file_range *out, struct err *e)
{
    char *end;
    if (!text)
        return err_set(e, AZSTORAGE_HEADER_MISSING, name,
                       "An HTTP header that's mandatory for this request is not specified: %s.",
                       name);
    if (strncasecmp(text, "bytes=", 6) != 0 || text[6] < '0' || text[6] > '9')
        return bad_range(name, text, e);
    errno = 0;
    uint64_t first = strtoull(text + 6, &end, 10);
    if (*end != '-' || end[1] < '0' || end[1] > '9')
        return bad_range(name, text, e);
    uint64_t last = strtoull(end + 1, &end, 10);
    if (*end || errno || last < first || last >= INT64_MAX)
        return bad_range(name, text, e);
    *out = (struct file_range){.offset = first, .len = last - first + 1};
    return 0;
}

int range_or_rest(const char *name, const char *text, struct file_range *out, struct err *e)
{
    uint64_t first, last;
    size_t n = text ? strlen(text) : 0;
    if (n == 0 || text[n - 1] != '-' || range_parse(text, INT64_MAX, &first, &last) != RANGE_PART)
        return range_exact(name, text, out, e);
    *out = (struct file_range){.offset = first, .len = INT64_MAX - first};
    return 0;
}

static int too_long(const char *header, struct err *e)
{
    return err_set(e, AZSTORAGE_HEADER, header,
                   "%s needs a range of at most %d MiB: a range is hashed before it is sent.",
                   header, RANGE_HASHED_MAX >> 20);
}

int range_hashed(const char *header, const char *name, const char *text, struct file_range *out,
                 struct err *e)
{
    if (range_or_rest(name, text, out, e) < 0)
        return -1;
    if (out->offset + out->len == INT64_MAX) { /* the range has no end */
        /* one byte more than allowed: if the file has so many, the range is refused */
        out->len = RANGE_HASHED_MAX + 1;
        return 0;
    }
    return out->len > RANGE_HASHED_MAX ? too_long(header, e) : 0;
}

int range_hashed_check(const char *header, const struct file_range *range, uint64_t size,
                       struct err *e)
{
    bool all = size <= range->offset || size - range->offset <= RANGE_HASHED_MAX;
    return all || range->len <= RANGE_HASHED_MAX ? 0 : too_long(header, e);
}
