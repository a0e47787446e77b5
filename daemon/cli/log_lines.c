/* SPDX-License-Identifier: MIT
 *
 * Another user's program may have written the log. So on a terminal, `?` replaces control
 * characters (except tabs, line ends, backspaces and sequences for colours), characters that change
 * the direction of text, and bytes that are not UTF-8.
 */
#include "daemon/cli/log_lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cli/table.h"
#include "lib/arena.h"

#define ESC         27
#define ASCII_BYTES 0x80

void log_lines_init(struct log_lines *l, FILE *out, struct log_lines **writer, const char *process,
                    size_t len)
{
    *l = (struct log_lines){.out = out, .writer = writer, .process = xcalloc(len + 1, 1)};
    memcpy(l->process, process, len);
    l->terminal = isatty(fileno(out));
}

/* If another process has written an incomplete line, ends that line. */
static void take_turn(struct log_lines *l)
{
    struct log_lines *other = *l->writer;
    if (other && other != l && other->inside && (l->prefixed || l->terminal)) {
        putc_unlocked('\n', l->out);
        other->inside = false;
    }
    *l->writer = l;
}

static void put(struct log_lines *l, char c)
{
    if (l->prefixed && !l->inside)
        fprintf(l->out, "%s| ", l->process);
    l->inside = c != '\n';
    putc_unlocked(c, l->out);
}

static bool is_control(unsigned char c)
{
    return (c < 32 && c != '\n' && c != '\t' && c != '\r' && c != '\b') || c == 127;
}

/* Ends an escape sequence. `valid`: it only changes colours or clears the line (ESC [ 0-9; m or K),
 * so it is printed unchanged. */
static void end_escape(struct log_lines *l, bool valid)
{
    for (size_t i = 0; i < l->n_escape; i++)
        put(l, l->escape[i] == ESC && !valid ? '?' : l->escape[i]);
    l->n_escape = 0;
}

static bool goes_on(const struct log_lines *l, char c)
{
    return l->n_escape < sizeof l->escape - 1 &&
           (l->n_escape == 1 ? c == '[' : (c >= '0' && c <= '9') || c == ';');
}

/* How many bytes a UTF-8 character has, by its first byte. */
static size_t length_of(unsigned char lead)
{
    return lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
}

/* Prints a character when all its bytes are there, or no more bytes follow. */
static void end_character(struct log_lines *l)
{
    size_t n = l->n_character;
    if (n == 0)
        return;
    l->character[n] = '\0';
    l->n_character = 0;
    if (table_character(l->character) != n) {
        put(l, '?');
        return;
    }
    for (size_t i = 0; i < n; i++)
        put(l, l->character[i]);
}

static void add_to_character(struct log_lines *l, char c)
{
    l->character[l->n_character++] = c;
    if (l->n_character == length_of((unsigned char)l->character[0]))
        end_character(l);
}

static void put_safely(struct log_lines *l, char c)
{
    if (((unsigned char)c & 0xc0) != 0x80)
        end_character(l);
    if (l->n_escape > 0 && goes_on(l, c)) {
        l->escape[l->n_escape++] = c;
        return;
    }
    if (l->n_escape > 1 && (c == 'm' || c == 'K')) {
        l->escape[l->n_escape++] = c;
        end_escape(l, true);
        return;
    }
    end_escape(l, false);
    if (c == ESC)
        l->escape[l->n_escape++] = c;
    else if ((unsigned char)c >= ASCII_BYTES)
        add_to_character(l, c);
    else
        put(l, is_control((unsigned char)c) ? '?' : c);
}

int log_lines_add(struct log_lines *l, const char *bytes, size_t n)
{
    take_turn(l);
    if (!l->terminal && !l->prefixed) {
        l->inside = n ? bytes[n - 1] != '\n' : l->inside;
        return fwrite(bytes, 1, n, l->out) == n ? 0 : -1;
    }
    for (size_t i = 0; i < n; i++)
        if (l->terminal)
            put_safely(l, bytes[i]);
        else
            put(l, bytes[i]);
    return ferror(l->out) ? -1 : 0;
}

void log_lines_end(struct log_lines *l)
{
    if (l->n_escape > 0)
        end_escape(l, false);
    end_character(l);
    if (l->inside && (l->terminal || l->prefixed))
        putc('\n', l->out);
    l->inside = false;
    free(l->process);
}
