/* SPDX-License-Identifier: MIT
 *
 * Libraries that are loaded at their first use, with their own dependencies: a daemon that does not
 * need them saves the time and the memory.
 */
#ifndef LIB_LIBRARY_H
#define LIB_LIBRARY_H

#include <stddef.h>

#include "lib/err.h"

/* A function, and the offset of its address in the caller's table. */
struct library_function {
    const char *name;
    size_t at;
};

/* For a table struct T with a member for each function, called by its name:
 *     #define FUNCTIONS(X) X(a) X(b)
 *     struct t { FUNCTIONS(LIBRARY_MEMBER) };
 *     static const struct library_function wanted[] = {
 *     #define ROW(name) LIBRARY_ROW(struct t, name)
 *         FUNCTIONS(ROW) };
 */
#define LIBRARY_MEMBER(name)    __typeof__(name) *name;
#define LIBRARY_ROW(type, name) {#name, offsetof(type, name)},

/* Loads the library with this SONAME, unless it is loaded, and fills `table`. It stays loaded. */
int library_load(const char *soname, const struct library_function *wanted, size_t n, void *table,
                 struct err *e) MUST_CHECK;

#endif
