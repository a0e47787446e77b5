/* SPDX-License-Identifier: MIT
 *
 * A map from row id to a borrowed pointer, kept sorted in one array: a few thousand nodes and runs
 * at most, so an insert moves at most some tens of kilobytes. With NULL pointers it is a set.
 */
#ifndef LIB_IDMAP_H
#define LIB_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_entry {
    int64_t id;
    void *p;
};

struct id_map {
    struct id_entry *e; /* sorted by id */
    size_t n, cap;
};

bool id_map_has(const struct id_map *m, int64_t id);
void *id_map_find(const struct id_map *m, int64_t id); /* NULL: not there */
/* Adds or replaces. */
void id_map_put(struct id_map *m, int64_t id, void *p);
void id_map_remove(struct id_map *m, int64_t id);
/* Takes out the entry with the lowest id; false when there is none. */
bool id_map_pop(struct id_map *m, int64_t *id);
void id_map_free(struct id_map *m);

#endif
