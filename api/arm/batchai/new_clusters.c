/* SPDX-License-Identifier: MIT */
#include "api/arm/batchai/new_clusters.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/loop.h"

struct resizing_cluster {
    int64_t id, until_us;
};

struct new_clusters {
    struct loop *loop; /* borrowed */
    int64_t shown_us;
    struct resizing_cluster *items; /* the oldest first */
    size_t n, cap;
};

struct new_clusters *new_clusters_create(struct loop *loop, int shown_s)
{
    struct new_clusters *n = xcalloc(1, sizeof *n);
    n->loop = loop;
    n->shown_us = (int64_t)shown_s * 1000000;
    return n;
}

void new_clusters_free(struct new_clusters *n)
{
    if (n)
        free(n->items);
    free(n);
}

static void drop_old(struct new_clusters *n)
{
    size_t old = 0;
    int64_t now = loop_mono_us(n->loop);
    while (old < n->n && n->items[old].until_us <= now)
        old++;
    n->n -= old;
    if (old > 0)
        memmove(n->items, n->items + old, n->n * sizeof *n->items);
}

void new_clusters_add(struct new_clusters *n, int64_t cluster_id)
{
    if (n->shown_us == 0)
        return;
    drop_old(n);
    if (n->n == n->cap) {
        n->cap = n->cap ? n->cap * 2 : 16;
        n->items = xrealloc(n->items, n->cap * sizeof *n->items);
    }
    n->items[n->n++] = (struct resizing_cluster){cluster_id, loop_mono_us(n->loop) + n->shown_us};
}

bool new_clusters_has(struct new_clusters *n, int64_t cluster_id)
{
    drop_old(n);
    for (size_t i = 0; i < n->n; i++)
        if (n->items[i].id == cluster_id)
            return true;
    return false;
}
