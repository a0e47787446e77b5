/* SPDX-License-Identifier: MIT
 *
 * A header, or a parameter of a query.
 */
#ifndef LIB_NAMED_VALUE_H
#define LIB_NAMED_VALUE_H

struct named_value {
    const char *name, *value; /* value: "" if there is none */
};

#endif
