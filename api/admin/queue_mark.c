/* SPDX-License-Identifier: MIT
 *
 * Compares the keys by which the rows are sorted. Pure functions.
 */
#include "api/admin/queue_mark.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

bool queue_mark_is_past(const struct queue_mark *mark, const struct queue_mark *row)
{
    int order = compare(row->pool, mark->pool);
    if (order == 0)
        order = compare(row->order, mark->order);
    if (order == 0) /* higher priorities are first */
        order = row->order == BY_TURN ? compare(mark->by, row->by) : compare(row->by, mark->by);
    if (order == 0)
        order = compare(row->id, mark->id);
    return order <= 0;
}

void queue_mark_print(const struct queue_mark *mark, char text[QUEUE_MARK_SIZE])
{
    (void)snprintf(text, QUEUE_MARK_SIZE,
                   "%" PRId64 "/%" PRId64 "/%" PRId64 "/%" PRId64 "/%" PRId64, mark->pool,
                   mark->order, mark->by, mark->id, mark->place);
}

/* Reads a number and the character `end` after it. */
static int read_number(const char **text, char end, int64_t *out)
{
    char *at;
    if (**text != '-' && (**text < '0' || **text > '9'))
        return -1;
    errno = 0;
    *out = strtoll(*text, &at, 10);
    if (errno || at == *text || *at != end)
        return -1;
    *text = at + (end != '\0');
    return 0;
}

int queue_mark_read(const char *text, struct queue_mark *out)
{
    if (read_number(&text, '/', &out->pool) < 0 || read_number(&text, '/', &out->order) < 0 ||
        read_number(&text, '/', &out->by) < 0 || read_number(&text, '/', &out->id) < 0 ||
        read_number(&text, '\0', &out->place) < 0)
        return -1;
    bool is_one = out->pool > 0 && out->order >= BY_START && out->order <= BY_ID && out->id > 0 &&
                  out->place >= 0 && out->place <= INT_MAX;
    return is_one && (out->order != BY_TURN || (out->by >= INT_MIN && out->by <= INT_MAX)) ? 0 : -1;
}
