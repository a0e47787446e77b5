/* SPDX-License-Identifier: MIT */
#include "api/http/url.h"

#include <ctype.h>
#include <string.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *url_decode(struct arena *a, const char *s, size_t n)
{
    char *out = arena_alloc(a, n + 1);
    size_t o = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '%') {
            out[o++] = s[i];
            continue;
        }
        int hi = i + 2 < n ? hex(s[i + 1]) : -1;
        int lo = hi >= 0 ? hex(s[i + 2]) : -1;
        if (hi < 0 || lo < 0 || (hi == 0 && lo == 0))
            return NULL;
        out[o++] = (char)(hi * 16 + lo);
        i += 2;
    }
    out[o] = '\0';
    return out;
}

char *url_decode_form(struct arena *a, const char *s, size_t n)
{
    char *copy = arena_strndup(a, s, n);
    for (char *p = copy; (p = strchr(p, '+'));)
        *p = ' ';
    return url_decode(a, copy, n);
}

void url_encode(struct strbuf *out, const char *s, int keep_slash)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (isalnum(c) || strchr("-._~", c) || (keep_slash && c == '/'))
            strbuf_putc(out, (char)c);
        else
            strbuf_printf(out, "%%%02X", c);
    }
}
