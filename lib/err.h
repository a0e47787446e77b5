/* SPDX-License-Identifier: MIT
 *
 * The one error struct, from the deepest function to the service that answers with it.
 *
 * A function that can fail returns 0 or -1 and takes a caller-owned `struct err *` as its last
 * argument. On failure it fills the struct through err_set() and has had no effect. Layers add
 * where they were with err_prefix(); none of them changes the code except at a named boundary.
 */
#ifndef LIB_ERR_H
#define LIB_ERR_H

#include "lib/err_table.h"

#define ERR_ENUM(symbol) symbol,
enum err_code { ERR_TABLE(ERR_ENUM) ERR_CODES };
#undef ERR_ENUM

/* Kinds from here on belong to one service (api/http/error.h); nobody below it sees them. */
#define ERR_OWN 1000

#define MUST_CHECK __attribute__((warn_unused_result))

struct err {
    int code;         /* enum err_code, or from ERR_OWN on a service's own */
    char target[160]; /* the property, parameter or path at fault; "" if none */
    char msg[1024];   /* what was wrong, with which value, and what would be right */
};                    /* Both texts are UTF-8, whatever bytes they were made from. */

/* Fills `e` (which may be NULL: the caller does not care) and returns -1, so that
 * `return err_set(...)` reads as a failure. `target` may be NULL. Text is cut, never overflown. */
int err_set(struct err *e, int code, const char *target, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Puts "text: " before the message. Returns -1. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Same, from errno: "<text>: <strerror>". Returns -1; keeps errno. */
int err_errno(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

void err_clear(struct err *e);

/* "ERR_IO": for the log. Static string. */
const char *err_code_name(int code);

#endif
