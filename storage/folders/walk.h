/* SPDX-License-Identifier: MIT
 *
 * Lists in pages, in the order of bytes: of one directory, or of all files of a share, whose names
 * are then whole paths. A page is made in steps and keeps only what it shows in memory, with some
 * thousand names of each directory on the way; directories that cannot hold what is asked for are
 * not read.
 *
 * What is listed: regular files, links to such inside the share (with the facts of the file), and
 * on the page of a directory, directories. Links to directories are neither shown nor followed, as
 * they could make a walk endless.
 */
#ifndef STORAGE_FOLDERS_WALK_H
#define STORAGE_FOLDERS_WALK_H

#include "storage/folders/files.h"

struct file_item {
    char *name; /* owned */
    struct file_facts facts;
    bool is_prefix; /* of a walk with a delimiter: the common part of some names, without facts */
};

struct file_items {
    struct file_item *item; /* owned */
    size_t n;
    char *last;      /* owned; pass it as `after` for the next page; NULL: this was the last */
    size_t left_out; /* what is no UTF-8, or directories that the daemon may not read */
    size_t closed;   /* only the latter */
};
void file_items_free(struct file_items *items);

/* `found` (NULL with a `why`) may be emptied by the callback; what it leaves is freed. */
typedef void (*files_paged)(void *ctx, const struct err *why, enum file_fault fault,
                            struct file_items *found);

struct files_page {
    struct file_place at;
    const char *prefix, *after; /* or NULL; names are greater than `after` */
    size_t max;                 /* at least 1 */
};
/* A page can have fewer than `max` items, and even none, while others follow. */
void files_page(struct files *f, const struct files_page *what, files_paged cb, void *ctx);

struct files_walk {
    const char *share;
    const char *prefix, *delimiter, *after; /* or NULL */
    size_t max;                             /* of files and prefixes together; at least 1 */
};
/* Each file whose path begins with the prefix. If the delimiter occurs in the rest of the path, all
 * paths that are the same up to its end are one item, which is a prefix. */
void files_walk(struct files *f, const struct files_walk *what, files_paged cb, void *ctx);

#endif
