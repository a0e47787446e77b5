/* SPDX-License-Identifier: MIT
 *
 * Bodies of application/x-www-form-urlencoded.
 */
#ifndef API_HTTP_FORM_H
#define API_HTTP_FORM_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"

#define FORM_FIELDS_MAX 100

struct form {
    struct form_field {
        const char *name, *value; /* UTF-8 */
    } field[FORM_FIELDS_MAX];
    size_t n;
};

/* Decodes a form (application/x-www-form-urlencoded). ERR_INVALID_CONTENT: it is no form, has a
 * repeated field or too many fields. Messages name a field by its position, because its text may be
 * a secret. */
int form_decode(struct arena *a, const char *s, size_t n, struct form *out,
                struct err *e) MUST_CHECK;
/* NULL: the form has no such member. */
const char *form_value(const struct form *f, const char *name);

#endif
