/* SPDX-License-Identifier: MIT
 *
 * Batch files: lines in sequence, labels, arguments. `echo on` is accepted, but commands are not
 * echoed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fs.h"
#include "nodeagent-proto/windows/windows_priv.h"

enum { LARGEST = 1 << 20 }; /* bytes of a batch file */

#define NO_WORD " \t\r,;=()&|<>\"^@" /* these characters end a word */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';' || c == '=';
}

/* Returns `first` and then the words of `rest`, with their quotes. */
static char **read_arguments(struct arena *a, const char *first, const char *rest)
{
    char **out = arena_alloc(a, (WINDOWS_WORDS + 2) * sizeof *out);
    size_t n = 0;
    out[n++] = arena_strdup(a, first);
    while (n <= WINDOWS_WORDS) {
        while (is_blank(*rest))
            rest++;
        if (!*rest)
            break;
        const char *start = rest;
        for (bool quoted = false; *rest && (quoted || !is_blank(*rest)); rest++)
            quoted ^= *rest == '"';
        out[n++] = arena_strndup(a, start, (size_t)(rest - start));
    }
    return out;
}

static char **read_lines(struct arena *a, char *text)
{
    size_t count = 1, n = 0;
    for (const char *p = text; *p; p++)
        count += *p == '\n';
    char **lines = arena_alloc(a, (count + 1) * sizeof *lines);
    while (text) {
        char *end = strchr(text, '\n');
        if (end)
            *end++ = '\0';
        size_t size = strlen(text);
        if (size > 0 && text[size - 1] == '\r')
            text[size - 1] = '\0';
        lines[n++] = text;
        text = end;
    }
    return lines;
}

/* Where in a line the parser is. */
enum place {
    AT_COMMAND, /* where a command begins: a ( opens a block */
    AT_WORDS,   /* after if or for: a ( opens a block, or the words of for */
    AT_TEXT,    /* in the text of a command: a ( belongs to the text */
};

/* The place after a word of `n` characters, which is the first word of a command, or a word after
 * if or for. */
static enum place place_behind(enum place place, const char *word, size_t n)
{
    static const struct {
        const char *word;
        enum place behind;
    } words[] = {{"if", AT_WORDS},     {"for", AT_WORDS}, {"do", AT_COMMAND},
                 {"else", AT_COMMAND}, {"echo", AT_TEXT}, {"rem", AT_TEXT}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncasecmp(word, words[i].word, n) == 0 && !words[i].word[n])
            return words[i].behind;
    return place == AT_COMMAND ? AT_TEXT : place;
}

/* Whether the rest of a line is a remark or a label. */
static bool is_remark(const char *p)
{
    while (is_blank(*p) || *p == '@')
        p++;
    return *p == ':' || (strncasecmp(p, "rem", 3) == 0 && (!p[3] || is_blank(p[3])));
}

/* How many blocks are open after a line, if `open` blocks are open before it. */
static int open_blocks(const char *p, int open)
{
    enum place place = AT_COMMAND;
    for (size_t n; *p && !(place == AT_COMMAND && !is_blank(*p) && is_remark(p)); p += n) {
        n = strcspn(p, NO_WORD);
        if (n > 0) {
            place = place == AT_TEXT ? AT_TEXT : place_behind(place, p, n);
            continue;
        }
        n = *p == '"' ? 1 + strcspn(p + 1, "\"") : 1;
        n += (*p == '"' || *p == '^') && p[n];
        if (*p == '"' && place == AT_COMMAND) {
            place = AT_TEXT;
        } else if (*p == '&' || *p == '|') {
            place = AT_COMMAND;
        } else if (*p == '(' && place != AT_TEXT) {
            place = AT_COMMAND;
            open++;
        } else if (*p == ')' && open > 0) {
            place = AT_WORDS;
            open--;
        }
    }
    return open;
}

/* Whether the next line continues this line. */
static bool goes_on(const char *line)
{
    size_t n = strlen(line);
    return n > 0 && line[n - 1] == '^' && !is_remark(line);
}

/* The next command: a line, with the following lines if it has an open block or a ^ at its end.
 * NULL: end of file. */
static const char *next_line(struct arena *a, struct batch_file *b)
{
    const char *last = b->lines[b->at], *line = last;
    int open = 0;
    if (!last)
        return NULL;
    for (;;) {
        b->at++;
        open = open_blocks(last, open);
        if (!b->lines[b->at] || (open == 0 && !goes_on(last)))
            return line;
        last = b->lines[b->at];
        line = arena_concat(a, line, "\n", last);
    }
}

static int run_lines(struct shell *sh, struct batch_file *b)
{
    struct batch_file *outer = sh->batch;
    struct arena of_line, *arena = sh->arena;
    const char *line;
    int code = 0;
    arena_init(&of_line);
    sh->arena = &of_line;
    sh->batch = b;
    while ((sh->leaving == LEAVES_NOTHING || sh->leaving == LEAVES_LINE) &&
           (line = next_line(sh->arena, b))) {
        sh->leaving = LEAVES_NOTHING;
        while (is_blank(*line))
            line++;
        if (*line && *line != ':')
            code = sh->ways->run_text(sh, line);
        arena_reset(&of_line);
    }
    arena_free(&of_line);
    sh->arena = arena;
    sh->batch = outer;
    if (sh->leaving == LEAVES_BATCH || sh->leaving == LEAVES_LINE)
        sh->leaving = LEAVES_NOTHING;
    return code;
}

/* The index of the line after a label; SIZE_MAX: not found. The label :eof is the end of the
 * file. */
static size_t find_label(const struct batch_file *b, const char *label)
{
    size_t end = 0, n;
    label += *label == ':';
    for (n = strcspn(label, " \t\r"); b->lines[end]; end++) {
        const char *line = b->lines[end];
        while (is_blank(*line))
            line++;
        if (*line == ':' && strncasecmp(line + 1, label, n) == 0 &&
            (!line[1 + n] || is_blank(line[1 + n])))
            return end + 1;
    }
    return n == 3 && strncasecmp(label, "eof", n) == 0 ? end : SIZE_MAX;
}

int batch_goto(struct shell *sh, const char *rest)
{
    while (is_blank(*rest))
        rest++;
    if (!sh->batch)
        return complain("goto is of use in batch files only.");
    size_t at = find_label(sh->batch, rest);
    sh->leaving = at == SIZE_MAX ? LEAVES_BATCH : LEAVES_LINE;
    if (at == SIZE_MAX)
        return complain("The system cannot find the batch label specified - %s", rest);
    sh->batch->at = at;
    return sh->level;
}

int batch_call(struct shell *sh, const char *label, const char *rest)
{
    if (!sh->batch)
        return complain("call of a label is of use in batch files only.");
    struct batch_file part = *sh->batch;
    part.at = find_label(sh->batch, label);
    if (part.at == SIZE_MAX)
        return complain("The system cannot find the batch label specified - %s", label + 1);
    part.given = read_arguments(sh->arena, label, rest);
    part.all = rest + strspn(rest, " \t");
    return run_lines(sh, &part);
}

int run_batch(struct shell *sh, const char *path, const char *rest)
{
    struct err e;
    char *text;
    if (fs_read(path, LARGEST, &text, NULL, &e) < 0)
        return complain("%s", e.msg);
    struct batch_file b = {
        .lines = read_lines(sh->arena, arena_strdup(sh->arena, text)),
        .given = read_arguments(sh->arena, path, rest),
        .all = rest + strspn(rest, " \t"),
        .path = path,
    };
    free(text);
    return run_lines(sh, &b);
}
