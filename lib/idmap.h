/* SPDX-License-Identifier: MIT
 *
 * A map from row id to a borrowed pointer or a number. All entries are in one array, unordered; a
 * hash table contains their positions. Without values it is a set.
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

#endif
