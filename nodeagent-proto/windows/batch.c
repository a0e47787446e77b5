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

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';' || c == '=';
}

/* Words with their quotes; `first` is the first word. */
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

/* How many blocks a line leaves open; negative: how many it closes. */
static int open_blocks(const char *line)
{
    int open = 0;
    bool quoted = false;
    for (const char *p = line; *p; p++) {
        if (*p == '^' && !quoted && p[1])
            p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (!quoted)
            open += (*p == '(') - (*p == ')');
    }
    return open;
}

/* The next command: a line, with the following lines if it has an open block or a ^ at its end.
 * NULL: end of file. */
static const char *next_line(struct arena *a, struct batch_file *b)
{
    if (!b->lines[b->at])
        return NULL;
    const char *line = b->lines[b->at++];
    int open = open_blocks(line);
    for (size_t n = strlen(line); b->lines[b->at] && (open > 0 || (n > 0 && line[n - 1] == '^'));
         n = strlen(line)) {
        open += open_blocks(b->lines[b->at]);
        line = arena_concat(a, line, "\n", b->lines[b->at++]);
    }
    return line;
}

static int run_lines(struct shell *sh, struct batch_file *b)
{
    struct batch_file *outer = sh->batch;
    const char *line;
    int code = 0;
    sh->batch = b;
    while ((sh->leaving == LEAVES_NOTHING || sh->leaving == LEAVES_LINE) &&
           (line = next_line(sh->arena, b))) {
        sh->leaving = LEAVES_NOTHING;
        while (is_blank(*line))
            line++;
        if (*line && *line != ':')
            code = sh->ways->run_text(sh, line);
    }
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
