/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of storage/history/: history.c (the loop's side), file.c (the thread's side:
 * the database file) and pack.c (a sample as bytes).
 */
#ifndef STORAGE_HISTORY_HISTORY_PRIV_H
#define STORAGE_HISTORY_HISTORY_PRIV_H

#include <sqlite3.h>

#include "lib/strbuf.h"
#include "storage/history/history.h"

/* --- pack.c: values as numbers of 7 bits a byte, 0 for unknown --- */

void sample_pack(const struct node_sample *s, struct strbuf *out);
/* -1: the bytes are damaged. *out is owned by the caller. */
int sample_unpack(const void *from, size_t n, struct node_sample *out) MUST_CHECK;

/* --- file.c: on the thread --- */

enum history_statement {
    HISTORY_BEGIN,
    HISTORY_COMMIT,
    HISTORY_ROLLBACK,
    HISTORY_NODE_ADD,
    HISTORY_NODE_ID,
    HISTORY_PUT,
    HISTORY_BEFORE,
    HISTORY_RANGE,
    HISTORY_FORGET,
    HISTORY_NODES,
    HISTORY_NODE_GONE,
    HISTORY_AT_LIMIT,
    HISTORY_STATEMENTS
};

struct history_file {
    sqlite3 *db; /* NULL: not open */
    sqlite3_stmt *statements[HISTORY_STATEMENTS];
    struct sample_mean *mean;
    /* how often the times for which averages are kept were halved, because the file was full */
    int halvings;
    int64_t swept_s;  /* when nodes that are gone were last looked for */
    int64_t steady_s; /* the time by which samples become old; see history_add() */
    bool put_aside;   /* a damaged file was put aside since this was last read */
};

int history_file_open(struct history_file *f, const char *path, int64_t bytes_most,
                      struct err *e) MUST_CHECK;
void history_file_close(struct history_file *f);
int history_file_begin(struct history_file *f, struct err *e) MUST_CHECK;
int history_file_end(struct history_file *f, int rc, struct err *e) MUST_CHECK;
/* Adds a sample; call it within a transaction. */
int history_file_add(struct history_file *f, const char *name, const struct node_sample *s,
                     struct err *e) MUST_CHECK;
/* Handles nodes that send no samples any more: averages their last step, and forgets samples that
 * are too old. At most once an hour, unless `at_once`: then there is no room, and it only
 * forgets. */
int history_file_sweep(struct history_file *f, int64_t now_s, bool at_once,
                       struct err *e) MUST_CHECK;
/* Allocates *rows, at most max + 1; the caller frees *rows and its samples. */
int history_file_read(struct history_file *f, const struct history_query *q,
                      struct node_sample **rows, size_t *n, struct err *e) MUST_CHECK;

#endif
