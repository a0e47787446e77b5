/* SPDX-License-Identifier: MIT
 *
 * Base64 (RFC 4648, padded) for bytes inside JSON: an agent sends files to the daemon in this form.
 * Plain C, so that the agent needs no library.
 */
#ifndef LIB_BASE64_H
#define LIB_BASE64_H

#include <stddef.h>

#include "lib/err.h"

/* Caller frees. */
char *base64_encode(const void *data, size_t n);

/* The caller frees *out; it has room for at least one byte. -1: `text` is not padded base64. */
int base64_decode(const char *text, size_t len, char **out, size_t *n) MUST_CHECK;

#endif
