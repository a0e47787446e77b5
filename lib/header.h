/* SPDX-License-Identifier: MIT
 *
 * HTTP headers that users give for uploads: which of them a request may contain.
 */
#ifndef LIB_HEADER_H
#define LIB_HEADER_H

#include <stdbool.h>

/* False: the name is not a token of HTTP, or it is the name of a header that decides where the
 * request goes or where it ends, as Host and Content-Length do. */
bool header_name_ok(const char *name);
/* `line` is "Name: value". True: the name is valid, and the value has no control characters, so the
 * line cannot become several lines. */
bool header_line_ok(const char *line);

#endif
