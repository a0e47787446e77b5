/* SPDX-License-Identifier: MIT
 *
 * Compares a path with a template segment by segment, and a query with the template's part after
 * '?'. Decoded values are in the arena. Pure functions.
 */
#include "api/http/template.h"

#include <string.h>
#include <strings.h>

#include "api/http/request.h"

size_t segment_length(const char *p)
{
    size_t n = 0;
    while (p[n] && p[n] != '/' && p[n] != '?')
        n++;
    return n;
}

bool template_next(const char **t, const char **s, size_t *n)
{
    if (**t != '/')
        return false;
    *s = *t + 1;
    *n = segment_length(*s);
    *t = *s + *n;
    return *n > 0;
}

bool template_is_param(const char *s, size_t n)
{
    return n > 2 && s[0] == '{' && s[n - 1] == '}';
}

bool template_is_tail(const char *s, size_t n)
{
    return template_is_param(s, n) && s[n - 2] == '*';
}

size_t template_opening(const char *s, size_t n)
{
    const char *brace = n > 4 && s[0] != '{' ? memchr(s, '{', n) : NULL;
    return brace && brace[-1] == '(' && s[n - 2] == '}' && s[n - 1] == ')' ? (size_t)(brace - s)
                                                                           : 0;
}

/* Whether segment i has the form "certificates(NAME)"; `s` begins with "certificates(", `opening`
 * bytes. */
static bool is_called(const struct request *r, int i, const char *s, size_t opening)
{
    size_t n = r->segment_len[i];
    return n > opening && strncasecmp(r->segment[i], s, opening) == 0 &&
           r->segment[i][n - 1] == ')';
}

/* Whether segment i is the literal [s, s + n). Tries an exact match first, because most clients
 * spell a path as the table does. */
static bool is_literal(const struct request *r, int i, const char *s, size_t n)
{
    size_t opening = template_opening(s, n);
    if (opening)
        return is_called(r, i, s, opening);
    return r->segment_len[i] == n &&
           (memcmp(r->segment[i], s, n) == 0 || strncasecmp(r->segment[i], s, n) == 0);
}

/* Called for every route of a table at every request, so it reads the template only once. */
bool template_fits_path(const char *t, const struct request *r)
{
    const char *p = t;
    for (int i = 0; i < r->n_segments; i++) {
        if (*p++ != '/')
            return false;
        size_t n = segment_length(p);
        if (template_is_tail(p, n))
            return true;
        if (!template_is_param(p, n) && !is_literal(r, i, p, n))
            return false;
        p += n;
    }
    return *p == '\0' || *p == '?' || (p == t && (p[1] == '\0' || p[1] == '?'));
}

/* Whether the query has the template's parameter "name=value" at `s`, n bytes long. */
static bool has_parameter(struct request *r, const char *s, size_t n)
{
    char name[32];
    const char *value = memchr(s, '=', n);
    size_t n_name = value ? (size_t)(value - s) : n;
    size_t n_value = value ? n - n_name - 1 : 0;
    if (n_name >= sizeof name)
        return false;
    memcpy(name, s, n_name);
    name[n_name] = '\0';
    const char *sent = request_query(r, name);
    if (!sent)
        return n_value == 0;
    return strlen(sent) == n_value && (n_value == 0 || strncasecmp(sent, value + 1, n_value) == 0);
}

bool template_fits_query(const char *t, struct request *r)
{
    const char *p = strchr(t, '?');
    while (p) {
        size_t n = strcspn(++p, "&");
        if (!has_parameter(r, p, n))
            return false;
        p = p[n] ? p + n : NULL;
    }
    return true;
}

/* The rank of a segment of a template: 3 for a literal, 2 for a parameter, 1 for a tail, 0 for
 * nothing. */
static int literalness(const char *s, size_t n)
{
    return n == 0 ? 0 : template_is_tail(s, n) ? 1 : template_is_param(s, n) ? 2 : 3;
}

bool template_more_literal(const char *a, const char *b)
{
    while ((*a && *a != '?') || (*b && *b != '?')) {
        a += *a == '/';
        b += *b == '/';
        size_t n = segment_length(a), m = segment_length(b);
        int x = literalness(a, n), y = literalness(b, m);
        if (x != y)
            return x > y;
        a += n;
        b += m;
    }
    return false;
}
