/* SPDX-License-Identifier: MIT
 *
 * Texts for POSIX shells.
 */
#ifndef LIB_SHELL_H
#define LIB_SHELL_H

#include "lib/arena.h"
#include "lib/strbuf.h"

/* Appends `text`, whatever its content, as one word for the shell. */
void shell_quote(struct strbuf *b, const char *text);
/* Like shell_quote(), as a new text in the arena. */
const char *shell_quoted(struct arena *a, const char *text);
/* Appends "export NAME=VALUE" and a line end, with the value quoted. A NULL value is written as an
 * empty text. */
void shell_export(struct strbuf *b, const char *name, const char *value);

#endif
