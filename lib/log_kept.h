/* SPDX-License-Identifier: MIT
 *
 * Keeps the last log lines about nodes and machines in memory, because the daemon cannot read again
 * what it has written to standard error. The owner sets `kept` of the log, and log_write() adds
 * lines. If there are too many bytes, the oldest lines are dropped.
 */
#ifndef LIB_LOG_KEPT_H
#define LIB_LOG_KEPT_H

#include <stddef.h>
#include <stdint.h>

struct log_kept;

struct log_kept_line {
    int64_t at_us;
    const char *event;   /* a literal */
    const char *subject; /* the node or machine that the line is about */
    const char *text;    /* the line in the log, with its newline */
};

struct log_kept *log_kept_create(size_t most_bytes);
void log_kept_destroy(struct log_kept *k); /* NULL: nothing */
/* Copies its subject and text. */
void log_kept_add(struct log_kept *k, const struct log_kept_line *line);
/* Calls `each` for every line, the oldest first; `k` may be NULL. */
void log_kept_read(const struct log_kept *k, void (*each)(void *ctx, const struct log_kept_line *l),
                   void *ctx);

#endif
