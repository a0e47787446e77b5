/* SPDX-License-Identifier: MIT
 *
 * Cells are kept in an arena until the table is printed, because the widths of columns depend on
 * all rows. On a narrow terminal, the widest column that may be cut loses one character at a time,
 * but no column becomes narrower than its head. Widths count characters of UTF-8, not bytes.
 */
#include "daemon/cli/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/jsontext.h"

#define GAP          2
#define NARROWEST    8 /* the least width of a cut column */
#define DOTS         "..."
#define MAX_CELL     2048
#define UTF8_FOLLOWS 0x80 /* UTF-8: the two high bits of a continuation byte */

void table_init(struct table *t, const struct table_column *columns, size_t n)
{
    *t = (struct table){.columns = columns, .n_columns = n};
    arena_init(&t->arena);
}

void table_free(struct table *t)
{
    arena_free(&t->arena);
    free(t->cells);
    *t = (struct table){.n = 0};
}

/* The code point of a valid UTF-8 character of `n` bytes. */
static uint32_t code_of(const char *p, size_t n)
{
    static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)*p & lead[n];
    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)p[i] & 0x3f);
    return code;
}

size_t table_character(const char *text)
{
    static const struct {
        uint32_t first, last;
    } unseen[] = {
        {0, 0x1f},        {0x7f, 0x9f},      /* control characters */
        {0x61c, 0x61c},   {0x200e, 0x200f},  /* marks of a direction */
        {0x2028, 0x202e}, {0x2066, 0x2069}}; /* separators of lines; changes of the direction */
    size_t n = jsontext_character(text);
    uint32_t code = code_of(text, n);
    for (size_t i = 0; i < sizeof unseen / sizeof unseen[0]; i++)
        if (code >= unseen[i].first && code <= unseen[i].last)
            return 0;
    return n;
}

void table_clean(char *text)
{
    char *to = text;
    while (*text) {
        size_t n = table_character(text), whole = n ? n : jsontext_character(text);
        if (n)
            memmove(to, text, n);
        else
            *to = '?';
        to += n ? n : 1;
        text += whole ? whole : 1;
    }
    *to = '\0';
}

void table_say(FILE *out, const char *fmt, ...)
{
    char *text;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    va_end(ap);
    table_clean(text);
    fprintf(out, "%s\n", text);
    free(text);
}

static const char *clean(struct arena *a, const char *text)
{
    char *copy = arena_strdup(a, text);
    table_clean(copy);
    return copy;
}

void table_add(struct table *t, enum table_colour colour, const char *text)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->cells = xrealloc(t->cells, t->cap * sizeof *t->cells);
    }
    t->cells[t->n++] = (struct table_cell){text && *text ? clean(&t->arena, text) : "-", colour};
}

void table_addf(struct table *t, const char *fmt, ...)
{
    char text[MAX_CELL];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    table_add(t, TABLE_PLAIN, text);
}

static int width_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != UTF8_FOLLOWS;
    return n;
}

int table_bytes_of(const char *text, int n)
{
    const char *p = text;
    for (; *p && n > 0; n--)
        do
            p++;
        while (((unsigned char)*p & 0xc0) == UTF8_FOLLOWS);
    return (int)(p - text);
}

static int least(const struct table_column *c)
{
    int name = width_of(c->name);
    return name > NARROWEST ? name : NARROWEST;
}

/* Makes one column narrower by one character; false if no column may be cut any more. */
static bool narrow(const struct table *t, int *widths)
{
    size_t widest = t->n_columns;
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].elide && widths[i] > least(&t->columns[i]) &&
            (widest == t->n_columns || widths[i] > widths[widest]))
            widest = i;
    if (widest == t->n_columns)
        return false;
    widths[widest]--;
    return true;
}

/* The widths of the columns. Caller frees. */
static int *measure(const struct table *t, int limit)
{
    int *widths = xcalloc(t->n_columns, sizeof *widths), total = 0;
    for (size_t i = 0; i < t->n_columns; i++)
        widths[i] = width_of(t->columns[i].name);
    for (size_t row = 0; row < t->n; row += t->n_columns)
        for (size_t i = 0; i < t->n_columns; i++) {
            int w = width_of(t->cells[row + i].text);
            widths[i] = w > widths[i] ? w : widths[i];
        }
    for (size_t i = 0; i < t->n_columns; i++)
        total += widths[i] + (i ? GAP : 0);
    while (limit > 0 && total > limit && narrow(t, widths))
        total--;
    return widths;
}

static void print_cell(const struct table *t, size_t column, const struct table_cell *cell,
                       int width, bool colours, FILE *out)
{
    static const char *const begin[TABLE_COLOURS] = {"", "\033[32m", "\033[31m"};
    int have = width_of(cell->text), cut = have > width;
    int pad = cut ? 0 : width - have;
    bool last = column + 1 == t->n_columns, right = t->columns[column].right;
    bool coloured = colours && cell->colour != TABLE_PLAIN;
    assert(cell->colour < TABLE_COLOURS && (!cut || width >= NARROWEST));
    int keep =
        cut ? table_bytes_of(cell->text, width - (int)strlen(DOTS)) : (int)strlen(cell->text);
    fprintf(out, "%*s%s%.*s%s%s", (column ? GAP : 0) + (right ? pad : 0), "",
            coloured ? begin[cell->colour] : "", keep, cell->text, cut ? DOTS : "",
            coloured ? "\033[0m" : "");
    if (!right && !last)
        fprintf(out, "%*s", pad, "");
}

void table_print(const struct table *t, const struct table_screen *screen, FILE *out)
{
    assert(t->n % t->n_columns == 0); /* all rows are complete */
    int *widths = measure(t, screen->width);
    for (size_t i = 0; i < t->n_columns; i++) {
        const struct table_cell head = {t->columns[i].name, TABLE_PLAIN};
        print_cell(t, i, &head, widths[i], false, out);
    }
    for (size_t row = 0; row < t->n; row += t->n_columns) {
        putc('\n', out);
        for (size_t i = 0; i < t->n_columns; i++)
            print_cell(t, i, &t->cells[row + i], widths[i], screen->colours, out);
    }
    putc('\n', out);
    free(widths);
}

struct table_screen table_screen_of(FILE *out)
{
    struct table_screen s = {.width = 0};
    struct winsize w;
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
    if (!isatty(fileno(out)))
        return s;
    s.width = ioctl(fileno(out), TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
    s.colours = !(none && *none) && term && *term && strcmp(term, "dumb") != 0;
    return s;
}

void table_bytes(long long bytes, struct strbuf *out)
{
    static const char units[] = "BKMGTPE";
    double n = (double)bytes;
    int unit = 0;
    for (; n >= 1024 && units[unit + 1]; unit++)
        n /= 1024;
    if (unit == 0 || n >= 99.95)
        strbuf_printf(out, "%.0f%c", n, units[unit]);
    else
        strbuf_printf(out, "%.1f%c", n, units[unit]);
}
