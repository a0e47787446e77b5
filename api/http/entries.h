/* SPDX-License-Identifier: MIT
 *
 * Lists of files in one form, for web pages: {"value": [ENTRY, ...], "next", "leftOut"}. Also
 * functions for the routes that send the bytes of a file.
 */
#ifndef API_HTTP_ENTRIES_H
#define API_HTTP_ENTRIES_H

#include "api/http/page.h"

struct rows {
    struct page *page;
    size_t left_out; /* entries that cannot be shown */
    bool counts;     /* the reply contains `count` */
    bool is_minimum; /* there may be more rows than `count` */
    long count;
};
/* Reads max and after from the query, and begins the page. */
int rows_begin(struct request *r, struct rows *out, struct err *e) MUST_CHECK;
/* Like rows_begin(), for pages whose places are numbers. */
int rows_begin_numbers(struct request *r, struct rows *out, struct err *e) MUST_CHECK;
struct entry {
    const char *name, *path; /* path: the name in requests; NULL: `name` */
    bool is_directory;
    uint64_t size;
    int64_t mtime_us; /* 0: not known */
};
/* Adds a row. `key`: the place of the row, after which the next page may begin. */
void rows_add(struct page *p, const char *key, const struct entry *en);

/* The Content-Type of a file by its name; application/octet-stream for types that a browser would
 * execute. */
const char *type_of(const char *name);
/* *out: whether the query has download=true. Fails if the value is not true or false. */
int read_download(struct request *r, bool *out, struct err *e) MUST_CHECK;
/* The last part of a path. */
const char *base_name(const char *path);

#endif
