/* SPDX-License-Identifier: MIT
 *
 * A log may have been written by a stranger's program: on a terminal, control characters other than
 * tabs, line ends, backspaces and sequences for colours are shown as `?`.
 */
#include "daemon/cli/log_lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"

#define ESC 27
/* The first byte of U+0080 to U+009F in UTF-8, control characters for terminals that know them. */
#define C1_LEAD 0xc2

void log_lines_init(struct log_lines *l, FILE *out, struct log_lines **writer, const char *process,
                    size_t len)
{
    *l = (struct log_lines){.out = out, .writer = writer, .process = xcalloc(len + 1, 1)};
    memcpy(l->process, process, len);
    l->terminal = isatty(fileno(out));
}

/* A line that another process has begun is ended. */
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

/* A sequence is shown as it is if it only changes colours or clears the line: ESC [ 0-9; m or K. */
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

static void end_lead(struct log_lines *l)
{
    if (l->lead)
        put(l, (char)C1_LEAD);
    l->lead = false;
}

/* Whether the byte was the second of such a character. */
static bool end_c1(struct log_lines *l, unsigned char c)
{
    if (!l->lead || c < 0x80 || c > 0x9f) {
        end_lead(l);
        return false;
    }
    l->lead = false;
    put(l, '?');
    return true;
}

static void put_safely(struct log_lines *l, char c)
{
    if (end_c1(l, (unsigned char)c))
        return;
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
    else if ((unsigned char)c == C1_LEAD)
        l->lead = true;
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
    end_lead(l);
    if (l->inside && (l->terminal || l->prefixed))
        putc('\n', l->out);
    l->inside = false;
    free(l->process);
}
