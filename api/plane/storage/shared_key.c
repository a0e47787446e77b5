/* SPDX-License-Identifier: MIT
 *
 * Builds the text to sign from the request's line and headers, for each scheme. Keeps no state. On
 * the loop's thread.
 */
#include "api/plane/storage/shared_key.h"
#include "lib/timefmt.h"

#include <assert.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define ZERO_IS_EMPTY_FROM "2015-02-21" /* since this version a length of 0 is signed as "" */

static_assert(SIGNATURE_SIZE == sodium_base64_ENCODED_LEN(crypto_auth_hmacsha256_BYTES,
                                                          sodium_base64_VARIANT_ORIGINAL),
              "a signature has room");

/* --- orders of names ------------------------------------------------------------------------ */

/* The characters that each order sorts last, in their order; all other characters are sorted before
 * them, by byte. */
static const char *const ranks[NAME_ORDERS] = {
    [NAMES_AS_SERVICE] = "_0123456789abcdefghijklmnopqrstuvwxyz",
    [NAMES_BY_BYTE] = "-0123456789_abcdefghijklmnopqrstuvwxyz",
    [NAMES_AS_ICU] = "_-0123456789abcdefghijklmnopqrstuvwxyz",
};

static int rank(char c, enum name_order order)
{
    const char *at = c ? strchr(ranks[order], c) : NULL;
    return at ? 256 + (int)(at - ranks[order]) : (unsigned char)c;
}

/* Compares names that differ only in hyphens: the name whose first differing hyphen is earlier is
 * sorted later. */
static int compare_hyphens(const char *a, const char *b)
{
    for (; *a || *b; a++, b++)
        if ((*a == '-') != (*b == '-'))
            return *a == '-' ? 1 : -1;
    return 0;
}

int name_compare(const char *a, const char *b, enum name_order order)
{
    bool skip = order == NAMES_AS_SERVICE;
    const char *p = a, *q = b;
    for (;; p++, q++) {
        while (skip && *p == '-')
            p++;
        while (skip && *q == '-')
            q++;
        if (*p != *q)
            return rank(*p, order) - rank(*q, order);
        if (!*p)
            return skip ? compare_hyphens(a, b) : 0;
    }
}

struct signed_item {
    const char *name, *value;
    size_t at; /* the position in the request */
};

static int compare_headers(const void *a, const void *b, void *order)
{
    const struct signed_item *x = a, *y = b;
    int names = name_compare(x->name, y->name, *(const enum name_order *)order);
    return names ? names : x->at < y->at ? -1 : 1;
}

static int compare_parameters(const void *a, const void *b)
{
    const struct signed_item *x = a, *y = b;
    int names = strcmp(x->name, y->name);
    return names ? names : strcmp(x->value, y->value);
}

/* --- the text ------------------------------------------------------------------------------- */

static const char *header(const struct signed_head *h, const char *name)
{
    for (size_t i = 0; i < h->n_headers; i++)
        if (strcasecmp(h->header[i].name, name) == 0)
            return h->header[i].value;
    return "";
}

/* Adds a value without the blanks around it. */
static void add_trimmed(struct strbuf *out, const char *s)
{
    size_t n;
    s += strspn(s, " \t");
    n = strlen(s);
    while (n > 0 && strchr(" \t\r\n", s[n - 1]))
        n--;
    strbuf_add(out, s, n);
}

/* Adds sorted items; the values of one name are joined by commas. `trims`: removes blanks around
 * values, for headers. Values of a query stay unchanged, because a blank in a name or prefix
 * matters. */
static void add_sorted(const struct signed_item *v, size_t n, bool trims, const char *before,
                       const char *after, struct strbuf *out)
{
    for (size_t i = 0; i < n; i++) {
        bool again = i > 0 && strcmp(v[i].name, v[i - 1].name) == 0;
        if (again)
            strbuf_putc(out, ',');
        else
            strbuf_printf(out, "%s%s:", before, v[i].name);
        if (trims)
            add_trimmed(out, v[i].value);
        else
            strbuf_puts(out, v[i].value);
        if (i + 1 == n || strcmp(v[i + 1].name, v[i].name) != 0)
            strbuf_puts(out, after);
    }
}

static void add_headers(const struct signed_head *h, const char *prefix, enum name_order order,
                        struct arena *a, struct strbuf *out)
{
    struct signed_item *v = arena_alloc(a, (h->n_headers + 1) * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < h->n_headers; i++)
        if (strncasecmp(h->header[i].name, prefix, strlen(prefix)) == 0)
            v[n++] = (struct signed_item){arena_lower(a, h->header[i].name), h->header[i].value, i};
    qsort_r(v, n, sizeof *v, compare_headers, &order);
    add_sorted(v, n, true, "", "\n", out);
}

static void add_query(const struct signed_head *h, enum shared_key_form form, struct arena *a,
                      struct strbuf *out)
{
    struct signed_item *v = arena_alloc(a, (h->n_query + 1) * sizeof *v);
    for (size_t i = 0; i < h->n_query; i++)
        v[i] = (struct signed_item){arena_lower(a, h->query[i].name), h->query[i].value, i};
    qsort(v, h->n_query, sizeof *v, compare_parameters);
    if (form == SHARED_KEY) {
        add_sorted(v, h->n_query, false, "\n", "", out);
        return;
    }
    for (size_t i = 0; i < h->n_query; i++)
        if (strcmp(v[i].name, "comp") == 0)
            strbuf_printf(out, "?comp=%s", v[i].value);
}

static const char *length_line(const struct signed_head *h)
{
    const char *length = header(h, "Content-Length"), *version = header(h, "x-ms-version");
    bool old = *version && strcmp(version, ZERO_IS_EMPTY_FROM) < 0;
    return strcmp(length, "0") == 0 && !old ? "" : length;
}

static const char *const whole[] = {"Content-Encoding",
                                    "Content-Language",
                                    "Content-Length",
                                    "Content-MD5",
                                    "Content-Type",
                                    "Date",
                                    "If-Modified-Since",
                                    "If-Match",
                                    "If-None-Match",
                                    "If-Unmodified-Since",
                                    "Range",
                                    NULL};
static const char *const lite[] = {"Content-MD5", "Content-Type", "Date", NULL};

/* Adds the values of standard headers. `date`: a header that, if it was sent, replaces Date. */
static void add_standard(const struct signed_head *h, const char *const *names, const char *date,
                         const char *length, struct strbuf *out)
{
    bool dated = *header(h, date) != '\0';
    for (const char *const *name = names; *name; name++) {
        if (strcmp(*name, "Content-Length") == 0)
            strbuf_puts(out, length);
        else if (!dated || strcmp(*name, "Date") != 0)
            add_trimmed(out, header(h, *name));
        strbuf_putc(out, '\n');
    }
}

void shared_key_text(const struct signed_head *h, const char *account, enum shared_key_form form,
                     enum name_order order, struct arena *a, struct strbuf *out)
{
    strbuf_printf(out, "%s\n", h->method);
    add_standard(h, form == SHARED_KEY ? whole : lite, "x-ms-date", length_line(h), out);
    add_headers(h, "x-ms-", order, a, out);
    strbuf_printf(out, "/%s%s", account, *h->path ? h->path : "/");
    add_query(h, form, a, out);
}

void shared_key_batch_text(const struct signed_head *h, const char *account,
                           const struct batch_signing *how, struct arena *a, struct strbuf *out)
{
    struct signed_item *v = arena_alloc(a, (h->n_query + 1) * sizeof *v);
    size_t n = 0;
    strbuf_printf(out, "%s\n", h->method);
    add_standard(h, whole, "ocp-date", how->length ? how->length : header(h, "Content-Length"),
                 out);
    add_headers(h, "ocp-", NAMES_BY_BYTE, a, out);
    strbuf_printf(out, "/%s%s", account, h->path);
    for (size_t i = 0; i < h->n_query; i++) {
        const char *name = h->query[i].name;
        if (*h->query[i].value || !how->no_blanks)
            v[n++] = (struct signed_item){how->raw_names ? name : arena_lower(a, name),
                                          h->query[i].value, i};
    }
    qsort(v, n, sizeof *v, compare_parameters);
    add_sorted(v, n, false, "\n", "", out);
}

int shared_key_read(const char *authorization, struct arena *a, struct signed_by *out)
{
    static const char *const words[] = {
        [SHARED_KEY] = "SharedKey ", [SHARED_KEY_LITE] = "SharedKeyLite "};
    for (int form = SHARED_KEY; form <= SHARED_KEY_LITE; form++) {
        size_t n = strlen(words[form]);
        if (strncasecmp(authorization, words[form], n) != 0)
            continue;
        const char *account = authorization + n, *colon = strchr(account, ':');
        if (!colon)
            return -1;
        *out = (struct signed_by){
            .form = (enum shared_key_form)form,
            .account = arena_lower(a, arena_strndup(a, account, (size_t)(colon - account))),
            .signature = colon + 1};
        return 1;
    }
    return 0;
}

/* --- signatures ----------------------------------------------------------------------------- */

void signature_make(const unsigned char *key, size_t n_key, const char *text, size_t n_text,
                    char out[SIGNATURE_SIZE])
{
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    crypto_auth_hmacsha256_state s;
    crypto_auth_hmacsha256_init(&s, key, n_key);
    crypto_auth_hmacsha256_update(&s, (const unsigned char *)text, n_text);
    crypto_auth_hmacsha256_final(&s, mac);
    sodium_bin2base64(out, SIGNATURE_SIZE, mac, sizeof mac, sodium_base64_VARIANT_ORIGINAL);
    sodium_memzero(&s, sizeof s);
}

int signature_equals(const char *sent, const char made[SIGNATURE_SIZE])
{
    char copy[SIGNATURE_SIZE];
    if (strlen(sent) != SIGNATURE_SIZE - 1)
        return 0;
    memcpy(copy, sent, sizeof copy);
    for (char *p = copy; *p; p++)
        if (*p == ' ')
            *p = '+';
    return sodium_memcmp(copy, made, sizeof copy) == 0;
}

/* --- dates ---------------------------------------------------------------------------------- */

const char *signed_date_error(struct arena *a, const char *date)
{
    struct tm tm = {0};
    char now[TIMEFMT_SIZE];
    const char *end = date ? strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &tm) : NULL;
    if (!end || *end)
        return arena_printf(a,
                            "The Date header in the request is incorrect: '%.60s'; it must be like "
                            "'Thu, 07 Jun 2018 21:34:00 GMT'.",
                            date ? date : "");
    int64_t at_us = (int64_t)timegm(&tm) * 1000000;
    /* the system's clock, because a test may have changed the daemon's */
    int64_t now_us = time_now_us();
    if (at_us >= now_us - SIGNED_SKEW_US && at_us <= now_us + SIGNED_SKEW_US)
        return NULL;
    timefmt_http(now_us, now);
    return arena_printf(a, "Request date header too old%s: '%.60s'; it is %s here.",
                        at_us > now_us ? " or in the future" : "", date, now);
}
