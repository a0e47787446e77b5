/* SPDX-License-Identifier: MIT
 *
 * The few forms of $filter that clients of the directory and of roles send. In a form, `%` stands
 * for a quoted text.
 */
#ifndef API_ACCESS_FILTER_H
#define API_ACCESS_FILTER_H

#include "lib/arena.h"

/* The index of the form that `filter` matches; -1: it matches none. `forms` ends with NULL. *text
 * is the quoted text; NULL: the form has none. */
int filter_form(struct arena *a, const char *filter, const char *const *forms, const char **text);

#endif
