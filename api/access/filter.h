/* SPDX-License-Identifier: MIT
 *
 * The few forms of $filter that clients of directory and roles send. In a form, `%` is the place of
 * a quoted text.
 */
#ifndef API_ACCESS_FILTER_H
#define API_ACCESS_FILTER_H

#include "lib/arena.h"

/* The index of the matching form in a list up to a NULL; -1: none. *text is the quoted text, or
 * NULL. */
int filter_form(struct arena *a, const char *filter, const char *const *forms, const char **text);

#endif
