/* SPDX-License-Identifier: MIT
 *
 * Lists are parsed in three layers: the list is cut at commas outside brackets, each item is
 * expanded bracket by bracket from the left (so the first bracket varies slowest), and each result
 * is checked as an address. The list owns its hosts; after an error it keeps the hosts added
 * before, and the caller frees it.
 */
#include "daemon/config/hostlist.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

enum { MAX_NAME = 253, MAX_DIGITS = 9 };

static const char digits[] = "0123456789";

/* --- one address ---------------------------------------------------------------------------- */

static int bad_host(const char *text, const char *what, struct err *e)
{
    return err_set(e, ERR_CONFIG, NULL, "'%s' %s", text, what);
}

static int check_name(const char *text, const char *host, struct err *e)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-";
    unsigned char v4[sizeof(struct in_addr)];
    size_t n = strlen(host);
    if (n == 0)
        return bad_host(text, "names no machine; write HOST, HOST:PORT, IPv6 or [IPv6]:PORT", e);
    if (host[strspn(host, allowed)])
        return bad_host(text, "is not a valid host name; use letters, digits, '.', '_' and '-'", e);
    if (*host == '-' || *host == '.')
        return bad_host(text, "is not a valid host name; begin it with a letter or digit", e);
    if (n > MAX_NAME)
        return err_set(e, ERR_CONFIG, NULL,
                       "'%.40s...' is longer than the %d characters of a host "
                       "name",
                       text, MAX_NAME);
    if (!host[strspn(host, "0123456789.")] && inet_pton(AF_INET, host, v4) != 1)
        return bad_host(text, "is not a valid IPv4 address; write four numbers from 0 to 255", e);
    return 0;
}

static int parse_port(const char *text, const char *port, int *out, struct err *e)
{
    size_t n = strspn(port, digits);
    long v = n && n <= 5 ? strtol(port, NULL, 10) : 0;
    if (port[n] || v < 1 || v > 65535)
        return bad_host(text, "has no port after the colon; use 1 to 65535", e);
    *out = (int)v;
    return 0;
}

/* Copies an IPv6 address in its shortest form, so that the same address is always the same text.
 * `host` is the part of `text` that contains the address. */
static int take_v6(const char *text, const char *host, char **out, struct err *e)
{
    unsigned char v6[sizeof(struct in6_addr)];
    char shortest[INET6_ADDRSTRLEN];
    if (inet_pton(AF_INET6, host, v6) != 1)
        return bad_host(text,
                        "is not a valid IPv6 address; write it as in fd00::1 or [fd00::1]:2222", e);
    *out = xstrdup(inet_ntop(AF_INET6, v6, shortest, sizeof shortest));
    return 0;
}

static int take_bracketed(const char *text, struct host *h, struct err *e)
{
    const char *end = strchr(text, ']');
    if (!end)
        return bad_host(text, "has a [ without its ]", e);
    char *inside = xstrdup(text + 1);
    inside[end - text - 1] = '\0';
    int rc = take_v6(text, inside, &h->host, e);
    free(inside);
    if (rc < 0 || !end[1])
        return rc;
    return end[1] == ':' ? parse_port(text, end + 2, &h->port, e)
                         : bad_host(text, "has text after its ]; only :PORT may follow", e);
}

static int take_address(const char *text, struct host *h, struct err *e)
{
    const char *colon = strchr(text, ':');
    if (*text == '[')
        return take_bracketed(text, h, e);
    if (colon && strchr(colon + 1, ':'))
        return take_v6(text, text, &h->host, e);
    h->host = xstrdup(text);
    if (colon)
        h->host[colon - text] = '\0';
    if (check_name(text, h->host, e) < 0)
        return -1;
    return colon ? parse_port(text, colon + 1, &h->port, e) : 0;
}

static char *name_of(const struct host *h)
{
    struct strbuf b = STRBUF_INIT;
    bool v6 = strchr(h->host, ':');
    if (h->port == HOSTLIST_PORT)
        strbuf_puts(&b, h->host);
    else
        strbuf_printf(&b, v6 ? "[%s]:%d" : "%s:%d", h->host, h->port);
    return strbuf_take(&b);
}

static int add_one(struct hostlist *l, const char *text, struct err *e)
{
    struct host h = {.port = HOSTLIST_PORT};
    if (l->n == HOSTLIST_MAX)
        return err_set(e, ERR_CONFIG, NULL, "there are more than %d machines", HOSTLIST_MAX);
    if (take_address(text, &h, e) < 0) {
        free(h.host);
        return -1;
    }
    h.name = name_of(&h);
    if ((l->n & (l->n - 1)) == 0)
        l->items = xrealloc(l->items, (l->n ? 2 * l->n : 1) * sizeof *l->items);
    l->items[l->n++] = h;
    return 0;
}

/* --- ranges --------------------------------------------------------------------------------- */

struct range {
    long low, high;
    int width; /* the number of digits of the lower bound, with its leading zeros */
};

static int bad_range(const char *text, const char *range, size_t n, const char *what, struct err *e)
{
    return err_set(e, ERR_CONFIG, NULL, "'%s': [%.*s] %s", text, (int)n, range, what);
}

/* Parses one item of a bracket. `n` is its length; `text` is for errors. */
static int parse_range(const char *text, const char *s, size_t n, struct range *r, struct err *e)
{
    size_t low = strspn(s, digits);
    bool pair = low < n && s[low] == '-';
    const char *upper = pair ? s + low + 1 : s;
    size_t high = strspn(upper, digits);
    if (low == 0 || high == 0 || upper + high != s + n)
        return bad_range(text, s, n, "is neither a number nor a range; write it as in [01-16,20]",
                         e);
    if (low > MAX_DIGITS || high > MAX_DIGITS)
        return bad_range(text, s, n, "has a number of more than 9 digits", e);
    *r = (struct range){strtol(s, NULL, 10), strtol(upper, NULL, 10), (int)low};
    if (r->low > r->high)
        return bad_range(text, s, n, "is in descending order; write the smaller number first", e);
    if (*upper == '0' && high != low)
        return bad_range(text, s, n, "has ends of different length; write both with the same zeros",
                         e);
    return 0;
}

/* The first bracket that contains ranges (and not an IPv6 address); NULL: none. */
static const char *find_bracket(const char *text)
{
    for (const char *p = strchr(text, '['); p; p = strchr(p + 1, '[')) {
        size_t n = strcspn(p, ":]");
        if (p[n] != ':' || p != text)
            return p;
    }
    return NULL;
}

/* Expands `rest`. `done` is the expanded text before `rest`. */
static int expand(struct hostlist *l, const char *text, const char *done, const char *rest,
                  struct err *e);

static int expand_range(struct hostlist *l, const char *text, const char *prefix,
                        const struct range *r, const char *rest, struct err *e)
{
    int rc = 0;
    for (long i = r->low; rc == 0 && i <= r->high; i++) {
        struct strbuf b = STRBUF_INIT;
        strbuf_printf(&b, "%s%0*ld", prefix, r->width, i);
        rc = expand(l, text, b.s, rest, e);
        strbuf_free(&b);
    }
    return rc;
}

static int expand_bracket(struct hostlist *l, const char *text, const char *prefix,
                          const char *bracket, struct err *e)
{
    const char *end = strchr(bracket, ']');
    if (!end)
        return bad_host(text, "has a [ without its ]", e);
    const char *s = bracket + 1;
    for (int rc = 0;;) {
        struct range r = {0};
        size_t n = strcspn(s, ",]");
        rc = parse_range(text, s, n, &r, e);
        if (rc == 0)
            rc = expand_range(l, text, prefix, &r, end + 1, e);
        if (rc < 0 || s + n == end)
            return rc;
        s += n + 1;
    }
}

static int expand(struct hostlist *l, const char *text, const char *done, const char *rest,
                  struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    const char *bracket = *done ? strchr(rest, '[') : find_bracket(rest);
    size_t n = bracket ? (size_t)(bracket - rest) : strlen(rest);
    strbuf_puts(&b, done);
    strbuf_add(&b, rest, n);
    int rc = bracket ? expand_bracket(l, text, b.s ? b.s : "", bracket, e)
                     : add_one(l, b.s ? b.s : "", e);
    strbuf_free(&b);
    return rc;
}

/* --- the list ------------------------------------------------------------------------------- */

/* How many characters precede the next comma outside brackets. */
static size_t item_length(const char *s)
{
    int open = 0;
    size_t n = 0;
    for (; s[n] && (open > 0 || s[n] != ','); n++)
        open += s[n] == '[' ? 1 : s[n] == ']' ? -1 : 0;
    return n;
}

static int add_item(struct hostlist *l, const char *s, size_t n, struct err *e)
{
    while (n && (*s == ' ' || *s == '\t'))
        s++, n--;
    while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
        n--;
    char *item = xcalloc(1, n + 1);
    memcpy(item, s, n);
    int rc = expand(l, item, "", item, e);
    free(item);
    return rc;
}

int hostlist_add(struct hostlist *l, const char *text, struct err *e)
{
    for (;;) {
        size_t n = item_length(text);
        if (add_item(l, text, n, e) < 0)
            return -1;
        if (!text[n])
            return 0;
        text += n + 1;
    }
}

void hostlist_free(struct hostlist *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->items[i].name);
        free(l->items[i].host);
    }
    free(l->items);
    *l = (struct hostlist){0};
}
