/* SPDX-License-Identifier: MIT
 *
 * A name with its value: a variable of a process's environment. Borrowed text.
 */
#ifndef LIB_KV_H
#define LIB_KV_H

#include <stdbool.h>

struct kv {
    const char *name, *value;
    bool is_secret;         /* never into logs, argv or details */
    const char *secret_ref; /* Key Vault URL when the value is a reference, else NULL */
};

#endif
