/* SPDX-License-Identifier: MIT
 *
 * From a member back to its struct: a callback gets a pointer to the member that its caller knows,
 * and computes the struct.
 */
#ifndef LIB_CONTAINER_H
#define LIB_CONTAINER_H

#include <stddef.h>

/* The struct `type` whose `member` is *pointer. A pointer of another type does not compile. */
#define CONTAINER_OF(pointer, type, member)                                                        \
    ((type *)(void *)((char *)(0 ? &((type *)NULL)->member : (pointer)) - offsetof(type, member)))

#endif
