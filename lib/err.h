/* SPDX-License-Identifier: MIT
 *
 * The only error struct, used from the lowest function up to the service that replies with the
 * error.
 *
 * A function that can fail returns 0 or -1 and takes a caller-owned `struct err *` as its last
 * argument. On failure it fills the struct through err_set() and has had no effect. Layers add
 * their context with err_prefix(); they do not change the code, except at a few boundaries.
 */
#ifndef LIB_ERR_H
#define LIB_ERR_H

#include "lib/err_table.h"

#define ERR_ENUM(symbol) symbol,
enum err_code { ERR_TABLE(ERR_ENUM) ERR_CODES };
#undef ERR_ENUM

/* Codes from here on belong to one service (api/http/error.h); rooms below api do not use them. */
#define ERR_OWN 1000

#define MUST_CHECK __attribute__((warn_unused_result))

struct err {
    int code;         /* enum err_code; from ERR_OWN on, a code of one service */
    char target[160]; /* the property, parameter or path with the error; "" if none */
    char msg[1024];   /* the problem, the value, and the valid values */
};                    /* Both texts are UTF-8, whatever bytes they were made from. */

/* Fills `e` (NULL if the caller does not need it). Always returns -1, for `return err_set(...)`.
 * `target` may be NULL. Texts that are too long are cut. */
int err_set(struct err *e, int code, const char *target, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds "text: " before the message. Returns -1. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Like err_set(), with a message about errno: "TEXT: STRERROR". Returns -1; does not change
 * errno. */
int err_errno(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

void err_clear(struct err *e);

/* The code's name for the log, such as "ERR_IO". A static string. */
const char *err_code_name(int code);

#endif
