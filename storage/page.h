/* SPDX-License-Identifier: MIT
 *
 * A part of a long list. A function that lists rows takes a struct st_page, and returns a struct
 * X_rows: an array of struct X in the caller's arena, and their number (storage/sql/rows.h). Fewer
 * rows than `limit` are the end of the list.
 */
#ifndef STORAGE_PAGE_H
#define STORAGE_PAGE_H

#include <stdint.h>

/* Selects the resources of a list: the narrowest given id counts. */
struct st_filter {
    const char *subscription;       /* always */
    int64_t group_id, workspace_id; /* 0: any */
    /* if both ids are 0: only workspaces of this name, in all groups; NULL: any */
    const char *workspace;
};

/* A part of a list in the order of numbers: ids, or the numbers that the function documents. */
struct st_page {
    int64_t after; /* the number of the row before the part; 0: the list from its first row. In a
                      descending order, the rows have lower numbers */
    int64_t upto;  /* the number of the list's last row; only functions that document it read it */
    int limit;
};

/* A part of a list in the order of names. */
struct st_names {
    /* the names before the part and at its end; after "": from the first; upto NULL: to the last */
    const char *after, *upto;
    int limit;
};

/* Paths from `from` on, before `to`. */
struct st_paths {
    const char *from, *to;
    int limit;
};

#endif
