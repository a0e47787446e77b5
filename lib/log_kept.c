/* SPDX-License-Identifier: MIT */
#include "lib/log_kept.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

struct kept_line {
    struct kept_line *next;
    struct log_kept_line line; /* its texts are in `bytes`, one after the other */
    size_t size;
    char bytes[];
};

struct log_kept {
    size_t most, bytes; /* most: the limit of `bytes`, which all lines have together */
    struct kept_line *first, **end;
};

struct log_kept *log_kept_create(size_t most_bytes)
{
    struct log_kept *k = xcalloc(1, sizeof *k);
    k->most = most_bytes;
    k->end = &k->first;
    return k;
}

static void drop_first(struct log_kept *k)
{
    struct kept_line *it = k->first;
    k->first = it->next;
    if (!k->first)
        k->end = &k->first;
    k->bytes -= it->size;
    free(it);
}

void log_kept_destroy(struct log_kept *k)
{
    while (k && k->first)
        drop_first(k);
    free(k);
}

void log_kept_add(struct log_kept *k, const struct log_kept_line *line)
{
    size_t subject = strlen(line->subject) + 1, text = strlen(line->text) + 1;
    size_t size = sizeof(struct kept_line) + subject + text;
    struct kept_line *it = xrealloc(NULL, size);
    *it = (struct kept_line){.line = *line, .size = size};
    it->line.subject = memcpy(it->bytes, line->subject, subject);
    it->line.text = memcpy(it->bytes + subject, line->text, text);
    *k->end = it;
    k->end = &it->next;
    k->bytes += it->size;
    while (k->bytes > k->most)
        drop_first(k);
}

void log_kept_read(const struct log_kept *k, void (*each)(void *ctx, const struct log_kept_line *l),
                   void *ctx)
{
    for (const struct kept_line *it = k ? k->first : NULL; it; it = it->next)
        each(ctx, &it->line);
}
