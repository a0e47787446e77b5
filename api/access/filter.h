/* SPDX-License-Identifier: MIT
 *
 * The few forms of $filter that clients of directory and roles send. A form has a quoted text in
 * the place of its `%`, or none.
 */
#ifndef API_ACCESS_FILTER_H
#define API_ACCESS_FILTER_H

#include "lib/arena.h"

/* The index of the form that the filter has, of a list up to a NULL; -1: none. *text is what was
 * quoted, or NULL. */
int filter_form(struct arena *a, const char *filter, const char *const *forms, const char **text);

#endif
