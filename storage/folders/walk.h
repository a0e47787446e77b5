/* SPDX-License-Identifier: MIT
 *
 * Lists in pages, in the order of bytes: of one directory, or of all files of a share by their
 * whole paths. A page is made in steps and keeps in memory only its items, with some thousand names
 * of each directory on the way; directories without matches are not read.
 *
 * Items are: regular files, links to regular files inside the share (with the facts of the file),
 * and, on the page of a directory, directories. Links to directories are neither shown nor
 * followed, because they could make a walk endless.
 */
#ifndef STORAGE_FOLDERS_WALK_H
#define STORAGE_FOLDERS_WALK_H

#include "storage/folders/files.h"

struct file_item {
    char *name; /* owned */
    struct file_facts facts;
    /* in a walk with a delimiter: the common part of several names, without facts */
    bool is_prefix;
};

struct file_items {
    struct file_item *item; /* owned */
    size_t n;
    char *last;      /* owned; pass it as `after` for the next page; NULL: this was the last */
    size_t left_out; /* names that are not UTF-8, and directories that the daemon may not read */
    size_t closed;   /* of these, only the directories */
};
void file_items_free(struct file_items *items);

/* The callback may take the items out of `found` (NULL if `why` is set); the rest is freed. */
typedef void (*files_paged)(void *ctx, const struct err *why, enum file_fault fault,
                            struct file_items *found);

struct files_page {
    struct file_place at;
    const char *prefix, *after; /* or NULL; names are greater than `after` */
    size_t max;                 /* at least 1 */
};
/* A page can have fewer than `max` items, even none, while others follow. */
void files_page(struct files *f, const struct files_page *what, files_paged cb, void *ctx);

struct files_walk {
    const char *share;
    const char *prefix, *delimiter, *after; /* or NULL */
    size_t max;                             /* files and prefixes together; at least 1 */
};
/* Lists each file whose path begins with the prefix. If the delimiter occurs in the rest of the
 * path, all paths that are equal up to the delimiter's end are one item, a prefix. */
void files_walk(struct files *f, const struct files_walk *what, files_paged cb, void *ctx);

#endif
