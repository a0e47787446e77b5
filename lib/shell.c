/* SPDX-License-Identifier: MIT
 *
 * Quotes words for a POSIX shell.
 */
#include "lib/shell.h"

#include <string.h>

/* Inside single quotes everything is literal except a single quote. */
void shell_quote(struct strbuf *b, const char *text)
{
    strbuf_putc(b, '\'');
    for (const char *quote; (quote = strchr(text, '\'')); text = quote + 1) {
        strbuf_add(b, text, (size_t)(quote - text));
        strbuf_puts(b, "'\\''");
    }
    strbuf_puts(b, text);
    strbuf_putc(b, '\'');
}

const char *shell_quoted(struct arena *a, const char *text)
{
    struct strbuf b = STRBUF_INIT;
    shell_quote(&b, text);
    const char *word = arena_strdup(a, b.s);
    strbuf_free(&b);
    return word;
}

void shell_export(struct strbuf *b, const char *name, const char *value)
{
    strbuf_printf(b, "export %s=", name);
    shell_quote(b, value ? value : "");
    strbuf_putc(b, '\n');
}
