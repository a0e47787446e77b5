/* SPDX-License-Identifier: MIT
 *
 * Gets from a pointer to a member the pointer to the whole struct. A callback needs this if its
 * caller has only a pointer to the member.
 */
#ifndef LIB_CONTAINER_H
#define LIB_CONTAINER_H

#include <stddef.h>

/* The struct of type `type` whose member `member` is *pointer. If `pointer` has another type than
 * the member, it does not compile. */
#define CONTAINER_OF(pointer, type, member)                                                        \
    ((type *)(void *)((char *)(0 ? &((type *)NULL)->member : (pointer)) - offsetof(type, member)))

#endif
