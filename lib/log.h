/* SPDX-License-Identifier: MIT
 *
 * The log. An event is one line: `2026-11-20T13:00:00.123Z info run.started kind=job run=train
 * node=tvm-1`, or a JSON object with these values. State changes are info, each exactly one line.
 * Values are typed, so a secret (which has no LF_ constructor) cannot be formatted.
 *
 *   LOG_INFO(log, "run.started", LF_STR("run", run->name), LF_INT("nodes", n));
 */
#ifndef LIB_LOG_H
#define LIB_LOG_H

#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_LVL_DEBUG, LOG_LVL_INFO, LOG_LVL_WARN, LOG_LVL_ERROR };
enum log_format { LOG_FMT_TEXT, LOG_FMT_JSON };

struct log_kept;

struct log {
    int fd;                        /* the descriptor for lines; borrowed */
    _Atomic(enum log_level) level; /* may change at any time */
    enum log_format format;
    /* gets a copy of lines about a node or a machine; NULL: none; borrowed */
    struct log_kept *kept;
};

struct log_field {
    const char *key;
    enum { LOG_FIELD_STR, LOG_FIELD_INT } kind;
    const char *str; /* borrowed for the call; NULL: the field is left out */
    int64_t num;
};

#define LF_STR(k, v)                                                                               \
    (struct log_field)                                                                             \
    {                                                                                              \
        .key = (k), .kind = LOG_FIELD_STR, .str = (v)                                              \
    }
#define LF_INT(k, v)                                                                               \
    (struct log_field)                                                                             \
    {                                                                                              \
        .key = (k), .kind = LOG_FIELD_INT, .num = (int64_t)(v)                                     \
    }

/* Writes one line with one write(2). Errors are ignored. */
void log_write(const struct log *log, enum log_level level, const char *event,
               const struct log_field *fields, size_t n);

/* `event` must be a literal; lib/log_events.txt has a row for it with its name, level and
 * fields. */
#define LOG_AT(log, level, event, ...)                                                             \
    log_write((log), (level), "" event, (const struct log_field[]){__VA_ARGS__},                   \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))
#define LOG_DEBUG(log, event, ...) LOG_AT(log, LOG_LVL_DEBUG, event, __VA_ARGS__)
#define LOG_INFO(log, event, ...)  LOG_AT(log, LOG_LVL_INFO, event, __VA_ARGS__)
#define LOG_WARN(log, event, ...)  LOG_AT(log, LOG_LVL_WARN, event, __VA_ARGS__)
#define LOG_ERROR(log, event, ...) LOG_AT(log, LOG_LVL_ERROR, event, __VA_ARGS__)

#endif
