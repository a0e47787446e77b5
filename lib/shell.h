/* SPDX-License-Identifier: MIT
 *
 * Texts for POSIX shells.
 */
#ifndef LIB_SHELL_H
#define LIB_SHELL_H

#include "lib/arena.h"
#include "lib/strbuf.h"

/* Appends `text` as one word, whatever is in it. */
void shell_quote(struct strbuf *b, const char *text);
/* The same as a text of its own; the arena's. */
const char *shell_quoted(struct arena *a, const char *text);
/* Appends "export NAME=VALUE" and a line end, the value quoted; NULL is the empty text. */
void shell_export(struct strbuf *b, const char *name, const char *value);

#endif
