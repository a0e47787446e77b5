/* SPDX-License-Identifier: MIT
 *
 * Percent encoding (RFC 3986).
 */
#ifndef API_HTTP_URL_H
#define API_HTTP_URL_H

#include "lib/arena.h"
#include "lib/strbuf.h"

/* Decodes [s, s+n) into the arena. NULL if a %-sequence is malformed or decodes to NUL. */
char *url_decode(struct arena *a, const char *s, size_t n);
/* Like url_decode(), for the encoding of forms, in which '+' is a space. */
char *url_decode_form(struct arena *a, const char *s, size_t n);
/* Appends s. Encodes all characters except unreserved ones, and except '/' if keep_slash. */
void url_encode(struct strbuf *out, const char *s, int keep_slash);

#endif
