/* SPDX-License-Identifier: MIT
 *
 * Ids of rows: a map from an id to a borrowed pointer or a number, and a queue of ids. All entries
 * of a map are in one array, unordered; a hash table contains their positions. Without values a map
 * is a set.
 */
#ifndef LIB_IDMAP_H
#define LIB_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_entry {
    int64_t id;
    union {
        void *p;
        int64_t number;
    };
};

struct id_map {
    struct id_entry *e; /* n entries; when an entry is removed, the last one gets its position */
    size_t n, cap;
    uint32_t *cells; /* 2 * cap cells: the position of an entry plus 1, or 0 */
};

bool id_map_has(const struct id_map *m, int64_t id);
/* NULL: the map does not contain the id */
void *id_map_find(const struct id_map *m, int64_t id);
int64_t id_map_number(const struct id_map *m, int64_t id); /* 0: the map does not contain the id */
/* Adds an entry, or replaces it; returns true if the id is new. */
bool id_map_put(struct id_map *m, int64_t id, void *p);
bool id_map_put_number(struct id_map *m, int64_t id, int64_t number);
bool id_map_remove(struct id_map *m, int64_t id); /* true if the map contained the id */
/* Removes any one entry; false if the map is empty. */
bool id_map_pop(struct id_map *m, int64_t *id);
void id_map_free(struct id_map *m);

/* A first-in-first-out queue of ids that contains each id at most once, so that ids that are added
 * again and again cannot delay the others. */
struct id_queue {
    struct id_map in; /* the ids in the queue */
    int64_t *ring;
    size_t first, n, cap; /* cap: a power of two, or 0 */
};

/* Adds an id, which must not be 0. False: the queue contains it already. */
bool id_queue_put(struct id_queue *q, int64_t id);
/* Takes the first id. False: the queue is empty. */
bool id_queue_pop(struct id_queue *q, int64_t *id);
void id_queue_free(struct id_queue *q);

#endif
