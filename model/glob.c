/* SPDX-License-Identifier: MIT
 *
 * Matches a path against a pattern, part by part. Matching allocates no memory, and the lengths of
 * both bound its steps. Pure; any thread.
 */
#include "model/glob.h"

#include <string.h>

bool glob_is_pattern(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

/* --- one part of a path -------------------------------------------------------------------------
 */

static size_t part_length(const char *text)
{
    return strcspn(text, "/");
}

/* Returns the next part of the path; NULL: there is none. */
static const char *next_part(const char *text)
{
    const char *slash = strchr(text, '/');
    return slash ? slash + 1 : NULL;
}

/* Returns whether `c` is in the set that begins after a bracket. *end points behind the closing
 * bracket; NULL: there is none, so the opening bracket is an ordinary character. */
static bool in_set(const char *set, const char *limit, char c, const char **end)
{
    bool no = set < limit && (*set == '!' || *set == '^'), found = false;
    const char *at = set + no, *first = at;
    *end = NULL;
    for (; at < limit && (*at != ']' || at == first); at++) {
        char low = *at, high = low;
        if (at + 2 < limit && at[1] == '-' && at[2] != ']') {
            high = at[2];
            at += 2;
        }
        found = found ||
                ((unsigned char)c >= (unsigned char)low && (unsigned char)c <= (unsigned char)high);
    }
    if (at < limit)
        *end = at + 1;
    return found != no;
}

/* Returns whether the character c matches the pattern's next element, which is not a star. *after
 * points behind the element. */
static bool matches_one(const char *p, const char *p_end, char c, const char **after)
{
    const char *end;
    *after = p + 1;
    if (*p == '?')
        return true;
    if (*p == '[') {
        bool found = in_set(p + 1, p_end, c, &end);
        if (end) {
            *after = end;
            return found;
        }
    }
    return *p == c;
}

/* Backtracks only to the last star, so its time is at most the product of both lengths. */
static bool match_part(const char *p, size_t p_len, const char *text, size_t len)
{
    const char *p_end = p + p_len, *end = text + len, *star = NULL, *held = NULL, *after;
    if (len > 0 && *text == '.' && (p_len == 0 || *p != '.'))
        return false;
    while (text < end) {
        if (p < p_end && *p == '*') {
            star = ++p;
            held = text;
        } else if (p < p_end && matches_one(p, p_end, *text, &after)) {
            p = after;
            text++;
        } else if (star) {
            p = star;
            text = ++held;
        } else {
            return false;
        }
    }
    while (p < p_end && *p == '*')
        p++;
    return p == p_end;
}

/* --- paths ---------------------------------------------------------------------------------------
 */

/* Which parts of the pattern may match the next part of the path: next[i] for the i-th part.
 * next[n]: the pattern may end here. */
struct stand {
    const char *part[GLOB_PARTS_MAX];
    size_t n;
    bool next[GLOB_PARTS_MAX + 1];
};

static bool is_any(const char *part)
{
    return part_length(part) == 2 && part[0] == '*' && part[1] == '*';
}

/* Also marks the parts behind "**", because "**" may match no directory. */
static void close_over(struct stand *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->next[i + 1] = s->next[i + 1] || (s->next[i] && is_any(s->part[i]));
}

static void begin(struct stand *s, const char *pattern)
{
    *s = (struct stand){.next = {true}};
    for (const char *at = pattern; at && s->n < GLOB_PARTS_MAX; at = next_part(at))
        s->part[s->n++] = at;
    close_over(s);
}

static void step(struct stand *s, const char *text)
{
    size_t len = part_length(text);
    for (size_t i = s->n + 1; i-- > 0;) {
        bool here = s->next[i];
        s->next[i] = here && i < s->n && is_any(s->part[i]) && *text != '.';
        if (here && i < s->n && !is_any(s->part[i]) &&
            match_part(s->part[i], part_length(s->part[i]), text, len))
            s->next[i + 1] = true;
    }
    close_over(s);
}

bool glob_match(const char *pattern, const char *path)
{
    struct stand s;
    begin(&s, pattern);
    for (const char *at = path; at; at = next_part(at))
        step(&s, at);
    return s.next[s.n];
}

bool glob_may_hold(const char *pattern, const char *directory)
{
    struct stand s;
    bool may = false;
    begin(&s, pattern);
    for (const char *at = *directory ? directory : NULL; at; at = next_part(at))
        step(&s, at);
    for (size_t i = 0; i < s.n; i++)
        may = may || s.next[i];
    return may;
}

/* --- places --- */

/* The parts of a path, without "." and "..", which are resolved. */
struct parts {
    const char *at[GLOB_PARTS_MAX];
    size_t n;
};

/* Appends the parts of a text. False: there are too many parts, or a ".." follows a wildcard or
 * leads above the root. */
static bool add_parts(struct arena *a, struct parts *p, const char *text)
{
    for (const char *at = text; at; at = next_part(at)) {
        const char *part = arena_strndup(a, at, part_length(at));
        if (!*part || strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0) {
            if (p->n == 0 || glob_is_pattern(p->at[p->n - 1]))
                return false;
            p->n--;
        } else if (p->n == GLOB_PARTS_MAX) {
            return false;
        } else {
            p->at[p->n++] = part;
        }
    }
    return true;
}

static const char *join(struct arena *a, const struct parts *p, size_t from, size_t to)
{
    const char *text = "";
    for (size_t i = from; i < to; i++)
        text = arena_concat(a, text, i > from ? "/" : "", p->at[i]);
    return text;
}

static bool begins_with(const struct parts *p, const struct parts *with)
{
    bool same = p->n > with->n;
    for (size_t i = 0; same && i < with->n; i++)
        same = strcmp(p->at[i], with->at[i]) == 0;
    return same;
}

int glob_place(struct arena *a, const char *bounds, const char *from, const char *text,
               struct glob_place *out, struct err *e)
{
    struct parts p = {.n = 0}, within = {.n = 0};
    bool good = add_parts(a, &within, bounds) && (*text == '/' || add_parts(a, &p, from)) &&
                add_parts(a, &p, text);
    if (!good || !begins_with(&p, &within))
        return err_set(e, ERR_INVALID_PATH, NULL, "%s leads out of the directories of the node",
                       text);
    size_t fixed = within.n;
    while (fixed + 1 < p.n && !glob_is_pattern(p.at[fixed]))
        fixed++;
    out->below = join(a, &p, within.n, fixed);
    out->pattern = join(a, &p, fixed, p.n);
    out->is_pattern = glob_is_pattern(out->pattern);
    return 0;
}
