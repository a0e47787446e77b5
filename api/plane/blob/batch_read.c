/* SPDX-License-Identifier: MIT
 *
 * Splits the body at the boundary and reads each part's head, within bounds. The parts point into
 * the body; the request keeps the body. Pure.
 */
#include "api/plane/blob/batch_read.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "api/plane/storage/errors.h"

#define BOUNDARY_MAX 200
#define ID_MAX       128
#define BLANKS       " \t"

const char *batch_boundary(struct arena *a, const char *content_type)
{
    static const char type[] = "multipart/mixed";
    static const char name[] = "boundary=";
    if (!content_type || strncasecmp(content_type, type, sizeof type - 1) != 0)
        return NULL;
    for (const char *p = content_type; (p = strchr(p, ';'));) {
        p += 1 + strspn(p + 1, BLANKS);
        if (strncasecmp(p, name, sizeof name - 1) != 0)
            continue;
        p += sizeof name - 1;
        bool quoted = *p == '"';
        size_t n = strcspn(p + quoted, quoted ? "\"" : "; \t");
        return n > 0 && n <= BOUNDARY_MAX ? arena_strndup(a, p + quoted, n) : NULL;
    }
    return NULL;
}

/* --- lines ---------------------------------------------------------------------------------- */

struct batch_reading {
    struct arena *arena;
    const char *p, *end;
    const char *boundary;
    const char *line; /* the line that was read last, without its line end */
    size_t n;
    enum { IS_TEXT, IS_BOUNDARY, IS_END } kind;
    bool over; /* there was no further line */
};

static void classify(struct batch_reading *in)
{
    size_t m = strlen(in->boundary), n = in->n;
    in->kind = IS_TEXT;
    if (n < m + 2 || memcmp(in->line, "--", 2) != 0 || memcmp(in->line + 2, in->boundary, m) != 0)
        return;
    const char *rest = in->line + 2 + m;
    size_t left = n - 2 - m;
    bool last = left >= 2 && memcmp(rest, "--", 2) == 0;
    rest += last ? 2 : 0;
    left -= last ? 2 : 0;
    for (size_t i = 0; i < left; i++)
        if (!strchr(BLANKS, rest[i]))
            return; /* a line of text that only begins like a boundary */
    in->kind = last ? IS_END : IS_BOUNDARY;
}

/* Reads the next line. -1: the line is too long, or contains control characters. */
static int next_line(struct batch_reading *in, struct err *e)
{
    in->over = in->p == in->end;
    in->line = in->p;
    in->n = 0;
    in->kind = IS_END;
    if (in->over)
        return 0;
    const char *end = memchr(in->p, '\n', (size_t)(in->end - in->p));
    const char *stop = end ? end : in->end;
    in->n = (size_t)(stop - in->p);
    in->p = end ? end + 1 : in->end;
    if (in->n > 0 && in->line[in->n - 1] == '\r')
        in->n--;
    bool good = in->n <= BATCH_LINE_MAX;
    for (size_t i = 0; good && i < in->n; i++)
        good = (unsigned char)in->line[i] >= ' ' || in->line[i] == '\t';
    if (!good)
        return err_set(e, AZSTORAGE_INPUT, NULL,
                       "A line of the batch has more than %d bytes, or bytes that are not text.",
                       BATCH_LINE_MAX);
    classify(in);
    return 0;
}

static int bad_part(size_t number, const char *what, struct err *e)
{
    return err_set(e, AZSTORAGE_INPUT, NULL,
                   "One of the request inputs is not valid: request %zu of the batch has %s.",
                   number, what);
}

/* Splits the line "Name: value"; false: it has another form. */
static bool split(struct batch_reading *in, struct named_value *out)
{
    const char *colon = memchr(in->line, ':', in->n);
    if (!colon || colon == in->line || strchr(BLANKS, in->line[0]) || strchr(BLANKS, colon[-1]))
        return false;
    const char *value = colon + 1, *end = in->line + in->n;
    while (value < end && strchr(BLANKS, *value))
        value++;
    while (end > value && strchr(BLANKS, end[-1]))
        end--;
    out->name = arena_strndup(in->arena, in->line, (size_t)(colon - in->line));
    out->value = arena_strndup(in->arena, value, (size_t)(end - value));
    return true;
}

/* --- parts ---------------------------------------------------------------------------------- */

/* Reads the headers of the part itself, up to the empty line. */
static int read_own(struct batch_reading *in, size_t number, struct batch_part *out, struct err *e)
{
    struct named_value one;
    for (;;) {
        if (next_line(in, e) < 0)
            return -1;
        if (in->kind != IS_TEXT)
            return bad_part(number, "no request", e);
        if (in->n == 0)
            return 0;
        if (!split(in, &one))
            return bad_part(number, "a line before its request that is not a header", e);
        if (strcasecmp(one.name, "Content-ID") != 0)
            continue;
        if (strlen(one.value) > ID_MAX)
            return bad_part(number, "a Content-ID that is too long", e);
        out->id = one.value;
    }
}

/* Reads the request line, such as "DELETE /c/b HTTP/1.1". */
static int read_request_line(struct batch_reading *in, size_t number, struct batch_part *out,
                             struct err *e)
{
    if (next_line(in, e) < 0)
        return -1;
    const char *line = arena_strndup(in->arena, in->line, in->n);
    size_t method = strcspn(line, " "), target = strcspn(line + method + (line[method] != 0), " ");
    const char *rest = line + method + 1 + target;
    if (in->kind != IS_TEXT || method == 0 || !line[method] || target == 0 ||
        strncmp(rest, " HTTP/1.", 8) != 0)
        return bad_part(number, "no line such as 'DELETE /container/blob HTTP/1.1'", e);
    out->method = arena_strndup(in->arena, line, method);
    out->target = arena_strndup(in->arena, line + method + 1, target);
    if (*out->target != '/')
        return bad_part(number, "a path that does not begin with /", e);
    return 0;
}

/* Skips empty lines up to the boundary after the part. Refuses other text, because a request of a
 * batch has no body. */
static int skip_rest(struct batch_reading *in, size_t number, struct err *e)
{
    while (in->kind == IS_TEXT) {
        if (in->n > 0)
            return bad_part(number, "a body", e);
        if (next_line(in, e) < 0)
            return -1;
    }
    return in->over ? bad_part(number, "no end", e) : 0;
}

static int read_part(struct batch_reading *in, size_t number, struct batch_part *out, struct err *e)
{
    struct named_value header[BATCH_HEADERS_MAX];
    *out = (struct batch_part){0};
    if (read_own(in, number, out, e) < 0 || read_request_line(in, number, out, e) < 0)
        return -1;
    for (;;) {
        if (next_line(in, e) < 0)
            return -1;
        if (in->kind != IS_TEXT || in->n == 0)
            break;
        if (out->n_headers == BATCH_HEADERS_MAX)
            return bad_part(number, "too many headers", e);
        if (!split(in, &header[out->n_headers++]))
            return bad_part(number, "a line that is not a header", e);
    }
    struct named_value *kept =
        arena_alloc(in->arena, (out->n_headers + 1) * sizeof(struct named_value));
    memcpy(kept, header, out->n_headers * sizeof *kept);
    out->header = kept;
    return skip_rest(in, number, e);
}

int batch_read(struct arena *a, const char *body, size_t n, const char *boundary,
               struct batch_parts *out, struct err *e)
{
    struct batch_reading in = {.arena = a, .p = body, .end = body + n, .boundary = boundary};
    out->n = 0;
    do { /* text before the first boundary is ignored */
        if (next_line(&in, e) < 0)
            return -1;
    } while (in.kind == IS_TEXT);
    while (in.kind == IS_BOUNDARY) {
        if (out->n == BATCH_PARTS_MAX)
            return err_set(e, AZSTORAGE_BATCH_COUNT, NULL,
                           "The batch operation exceeds maximum number of allowed subrequests: %d.",
                           BATCH_PARTS_MAX);
        if (read_part(&in, out->n + 1, &out->part[out->n], e) < 0)
            return -1;
        out->n++;
    }
    if (out->n > 0)
        return 0;
    return err_set(e, AZSTORAGE_INPUT, NULL,
                   "One of the request inputs is not valid: the batch has no request.");
}
