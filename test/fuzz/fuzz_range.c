/* SPDX-License-Identifier: MIT
 *
 * Ranges as clients ask for them: Range and x-ms-range of reads, x-ms-range of writes,
 * x-ms-source-range of copies. The input is the file's size and the header's value:
 *
 *     SIZE
 *     bytes=FIRST-LAST
 *
 * A range that is accepted lies in the file, or where a write may; what one of the two forms has
 * in common with the other means the same in both.
 */
#include <inttypes.h>

#include "api/plane/storage/errors.h"
#include "api/plane/storage/range.h"
#include "test/fuzz/fuzz.h"

static void read_part(const char *text, uint64_t size)
{
    uint64_t first = 1, last = 0;
    switch (range_parse(text, size, &first, &last)) {
    case RANGE_PART:
        CLAIM(first <= last && last < size);
        break;
    case RANGE_UNSATISFIABLE:
    case RANGE_NONE:
        break;
    }
}

/* A range with both ends in the file is the same part to whoever reads it. */
static void compare(const char *text, const struct file_range *r)
{
    uint64_t first, last, end = r->offset + r->len;
    CLAIM(range_parse(text, UINT64_MAX, &first, &last) == RANGE_PART);
    CLAIM(first == r->offset && last == end - 1);
    CLAIM(range_parse(text, r->offset, &first, &last) == RANGE_UNSATISFIABLE);
    if (r->len > 1) {
        CLAIM(range_parse(text, end - 1, &first, &last) == RANGE_PART);
        CLAIM(first == r->offset && last == end - 2);
    }
}

/* What is written as a client would write it is read as it was meant. */
static void write_again(const struct file_range *r)
{
    char text[64];
    struct file_range again;
    struct err e;
    snprintf(text, sizeof text, "bytes=%" PRIu64 "-%" PRIu64, r->offset, r->offset + r->len - 1);
    CLAIM(range_exact("x-ms-range", text, &again, &e) == 0);
    CLAIM(again.offset == r->offset && again.len == r->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    struct file_range exact = {0};
    struct err e = {0};
    char *first = next_line(&in), *text = next_line(&in);
    read_part(text, strtoull(first, NULL, 10));
    int rc = range_exact("x-ms-source-range", text, &exact, &e);
    tell("range", rc, e.msg);
    if (rc == 0) {
        CLAIM(exact.len > 0 && exact.offset + exact.len > exact.offset);
        CLAIM(exact.offset + exact.len <= INT64_MAX);
        compare(text, &exact);
        write_again(&exact);
    } else {
        CLAIM(e.code == AZSTORAGE_HEADER && e.msg[0]);
    }
    free(first);
    free(text);
    return 0;
}
