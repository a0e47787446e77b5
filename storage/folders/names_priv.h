/* SPDX-License-Identifier: MIT
 *
 * The first names of a directory in the order of bytes.
 */
#ifndef STORAGE_FOLDERS_NAMES_PRIV_H
#define STORAGE_FOLDERS_NAMES_PRIV_H

#include <dirent.h>

#include "storage/folders/walk.h"

struct name {
    char *text;
    unsigned char type; /* DT_... */
};

struct dir_names {
    struct name *at;
    size_t n, max;
    bool is_cut; /* there are more names than `max` */
};

void names_offer(struct dir_names *names, const char *text, unsigned char type);
/* Sorts the names; no more names may be offered. */
void names_end(struct dir_names *names);
/* Removes all names; `max` stays. */
void names_clear(struct dir_names *names);

/* Reads the next entry that a list may show, and its type: DT_REG, DT_DIR or DT_LNK. False: the end
 * of the directory. Adds the number of entries that are not shown to *left_out. errno is 0 unless
 * reading failed. */
bool names_next(DIR *dir, const char **name, unsigned char *type, size_t *left_out);

/* Closes a directory on a worker of the share. A directory may stay open between two steps. */
struct folder_share;
void close_directory_later(struct folder_share *s, DIR *dir);

/* Adds an item; its name is copied. */
struct file_item *item_add(struct file_items *items, const char *name);

/* The result of reading a page of a directory. */
struct paging {
    enum file_fault fault;
    int error; /* errno */
    struct file_items found;
    files_paged cb;
    void *ctx;
};
void paging_tell(struct paging *p, const struct err *why);

#endif
