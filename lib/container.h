/* SPDX-License-Identifier: MIT
 *
 * From a part of a struct back to the struct: a callback gets a pointer to the part that others
 * know, and asks for the rest.
 */
#ifndef LIB_CONTAINER_H
#define LIB_CONTAINER_H

#include <stddef.h>

/* The struct `type` that *pointer is the `member` of. A pointer to anything else does not compile.
 */
#define CONTAINER_OF(pointer, type, member)                                                        \
    ((type *)(void *)((char *)(0 ? &((type *)NULL)->member : (pointer)) - offsetof(type, member)))

#endif
