/* SPDX-License-Identifier: MIT */
#include "test/sim/sim_content.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

#define FIRST_CONTENT 65536

void content_resize(struct content *c, int64_t n)
{
    if (n > c->cap) {
        c->cap = c->cap ? c->cap : FIRST_CONTENT;
        while (c->cap < n)
            c->cap *= 2;
        c->bytes = xrealloc(c->bytes, (size_t)c->cap);
    }
    c->n = n;
}

void content_copy(struct content *to, const struct content *from)
{
    to->exists = from->exists;
    content_resize(to, from->n);
    if (from->n > 0)
        memcpy(to->bytes, from->bytes, (size_t)from->n);
}

void content_synced(struct content *c)
{
    while (c->newest) {
        struct undo *u = c->newest;
        c->newest = u->older;
        free(u->bytes);
        free(u);
    }
    c->n_undo = 0;
}

void content_clear(struct content *c)
{
    content_synced(c);
    free(c->bytes);
    *c = (struct content){0};
}

void content_note(struct content *c, int64_t at, int64_t n)
{
    int64_t there = c->n > at ? c->n - at : 0;
    struct undo *u = xcalloc(1, sizeof *u);
    *u = (struct undo){.older = c->newest, .at = at, .n = there < n ? there : n, .old_size = c->n};
    if (u->n > 0)
        u->bytes = memcpy(xrealloc(NULL, (size_t)u->n), c->bytes + at, (size_t)u->n);
    c->newest = u;
    c->n_undo++;
}

void content_take_back(struct content *to, const struct content *from, int n)
{
    for (const struct undo *u = from->newest; n > 0; u = u->older, n--) {
        content_resize(to, u->old_size);
        if (u->n > 0)
            memcpy(to->bytes + u->at, u->bytes, (size_t)u->n);
    }
}
