/* SPDX-License-Identifier: MIT
 *
 * A name with its value, as a variable in a process's environment. The texts are borrowed.
 */
#ifndef LIB_KV_H
#define LIB_KV_H

#include <stdbool.h>

struct kv {
    const char *name, *value;
    bool is_secret; /* must not be written to logs, argv or error details */
    /* the Key Vault URL of the secret whose value is wanted; NULL: `value` is the value */
    const char *secret_ref;
};

#endif
