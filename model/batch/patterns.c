/* SPDX-License-Identifier: MIT
 *
 * Matches names against a pattern, and finds the base directory of a pattern. No memory is
 * allocated. Pure; any thread.
 */
#include "model/batch/patterns.h"

#include <string.h>

/* --- matching -------------------------------------------------------------------------------- */

/* The end of a bracket expression that begins at p ("[...]"); NULL: not closed, so the bracket is
 * an ordinary character. */
static const char *class_end(const char *p)
{
    const char *s = p + 1;
    if (*s == '!')
        s++;
    if (*s == ']')
        s++;
    while (*s && *s != ']' && *s != '/')
        s++;
    return *s == ']' ? s : NULL;
}

static bool in_class(const char *p, const char *end, char c)
{
    bool negated = p[1] == '!', found = false;
    for (const char *s = p + 1 + negated; s < end; s++) {
        if (s + 2 < end && s[1] == '-') {
            found = found || ((unsigned char)c >= (unsigned char)*s &&
                              (unsigned char)c <= (unsigned char)s[2]);
            s += 2;
        } else {
            found = found || *s == c;
        }
    }
    return found != negated;
}

/* True: the element of the pattern at *p matches the character c. In both cases moves *p past the
 * element. */
static bool match_one(const char **p, char c)
{
    const char *end = **p == '[' ? class_end(*p) : NULL;
    bool same = end ? in_class(*p, end, c) : **p == '?' || **p == c;
    *p = end ? end + 1 : *p + 1;
    return same && c != '/';
}

/* The most steps of the comparison of a pattern with one name; after them the name does not match.
 * Without this limit, some patterns with many stars would take forever. */
#define TRIES_MAX 100000

static bool begins_hidden(const char *path, const char *s)
{
    return *s == '.' && (s == path || s[-1] == '/');
}

/* True: the pattern p matches s, the rest of `path`. `tries` counts the steps. */
static bool match(const char *p, const char *path, const char *s, int *tries)
{
    while (*p) {
        if ((*tries)++ > TRIES_MAX)
            return false;
        if (p[0] == '*' && p[1] == '*') {
            const char *rest = p + 2 + (p[2] == '/');
            for (;; s++) {
                bool at_name = s == path || s[-1] == '/';
                if ((p[2] != '/' || at_name) && match(rest, path, s, tries))
                    return true;
                if (!*s || begins_hidden(path, s))
                    return false;
            }
        }
        if (*p == '*') {
            for (;; s++) {
                if (begins_hidden(path, s))
                    return false;
                if (match(p + 1, path, s, tries))
                    return true;
                if (!*s || *s == '/')
                    return false;
            }
        }
        if (!*s)
            return false;
        if (*p == '/' || *s == '/') {
            if (*p++ != *s)
                return false;
        } else if (*p != '.' && begins_hidden(path, s)) {
            return false;
        } else if (!match_one(&p, *s)) {
            return false;
        }
        s++;
    }
    return *s == '\0';
}

bool batch_pattern_matches(const char *pattern, const char *path)
{
    int tries = 0;
    return match(pattern, path, path, &tries);
}

/* --- splitting --- */

static bool is_wild(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strchr("*?[", text[i]))
            return true;
    return false;
}

/* Removes the last part of `base` ("wd/x" becomes "wd"). False: `base` is empty and has no
 * parent. */
static bool go_up(char *base)
{
    char *slash = strrchr(base, '/');
    if (!*base)
        return false;
    if (slash)
        *slash = '\0';
    else
        *base = '\0';
    return true;
}

struct batch_pattern batch_pattern_parse(struct arena *a, const char *text)
{
    char *base = arena_printf(a, "wd%*s", (int)strlen(text) + 1, "");
    struct batch_pattern out = {.wild = is_wild(text, strlen(text)), .outside = *text == '/'};
    const char *rest = text;
    base[2] = '\0';
    while (!out.outside) {
        size_t n = strcspn(rest, "/");
        bool last = rest[n] == '\0';
        if (n == 2 && strncmp(rest, "..", 2) == 0)
            out.outside = !go_up(base);
        else if (last || is_wild(rest, n))
            break;
        else if (n > 0 && !(n == 1 && *rest == '.')) {
            size_t len = strlen(base);
            if (len > 0)
                base[len++] = '/';
            memcpy(base + len, rest, n);
            base[len + n] = '\0';
        }
        rest += n + !last;
        if (last)
            break;
    }
    /* After a wildcard no part may be "..". */
    for (const char *at = rest; !out.outside && (at = strstr(at, "..")) != NULL; at += 2)
        out.outside = (at == rest || at[-1] == '/') && (at[2] == '/' || at[2] == '\0');
    out.base = base;
    out.pattern = arena_strdup(a, rest);
    return out;
}
