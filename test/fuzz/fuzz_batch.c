/* SPDX-License-Identifier: MIT
 *
 * The bodies of batches (multipart/mixed). The input is
 *
 *     CONTENT-TYPE
 *     BODY
 *
 * What is accepted has whole parts within the limits, and no text with the end of a line in it,
 * since texts of a part come back in the answer.
 */
#include "api/plane/blob/batch_read.h"
#include "api/plane/storage/errors.h"
#include "test/fuzz/fuzz.h"

static void check_text(const char *s)
{
    for (; *s; s++)
        CLAIM((unsigned char)*s >= ' ' || *s == '\t');
}

static void check_part(const struct batch_part *p)
{
    CLAIM(p->method[0] && !strchr(p->method, ' ') && p->target[0] == '/' &&
          !strchr(p->target, ' '));
    CLAIM(p->n_headers <= BATCH_HEADERS_MAX);
    check_text(p->method);
    check_text(p->target);
    if (p->id)
        check_text(p->id);
    for (size_t i = 0; i < p->n_headers; i++) {
        CLAIM(p->header[i].name[0] && !strchr(p->header[i].name, ':'));
        check_text(p->header[i].name);
        check_text(p->header[i].value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    struct batch_parts *parts = calloc(1, sizeof *parts);
    struct arena a;
    struct err e = {0};
    arena_init(&a);
    char *type = next_line(&in);
    const char *boundary = batch_boundary(&a, type);
    if (parts && boundary) {
        int rc = batch_read(&a, in.p, (size_t)(in.end - in.p), boundary, parts, &e);
        tell("batch", rc, e.msg);
        CLAIM(rc == 0 ? parts->n > 0
                      : e.code == AZSTORAGE_INPUT || e.code == AZSTORAGE_BATCH_COUNT);
        for (size_t i = 0; rc == 0 && i < parts->n; i++)
            check_part(&parts->part[i]);
    }
    arena_free(&a);
    free(parts);
    free(type);
    return 0;
}
