/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/tail.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Length of the UTF-8 character at p, or 0 if there is none (RFC 3629, table 3-7 of Unicode). */
static size_t utf8_len(const unsigned char *p, size_t n)
{
    static const struct {
        unsigned char first, last, low, high;
        size_t len;
    } forms[] = {
        {0x01, 0x7f, 0x80, 0xbf, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (p[0] < forms[i].first || p[0] > forms[i].last)
            continue;
        if (forms[i].len > n)
            return 0;
        for (size_t k = 1; k < forms[i].len; k++) {
            unsigned char low = k == 1 ? forms[i].low : 0x80, high = k == 1 ? forms[i].high : 0xbf;
            if (p[k] < low || p[k] > high)
                return 0;
        }
        return forms[i].len;
    }
    return 0;
}

static void clean(const char *data, size_t n, struct strbuf *out)
{
    for (size_t i = 0; i < n;) {
        size_t len = utf8_len((const unsigned char *)data + i, n - i);
        if (len == 0)
            strbuf_puts(out, REPLACEMENT);
        else
            strbuf_add(out, data + i, len);
        i += len ? len : 1;
    }
}

/* The first start of a line at or after `at`; if there is none, the first start of a character. */
static const char *line_from(const char *s, size_t at)
{
    if (at == 0)
        return s;
    const char *nl = strchr(s + at - 1, '\n');
    if (nl && nl[1])
        return nl + 1;
    while (((unsigned char)s[at] & 0xc0) == 0x80)
        at++;
    return s + at;
}

/* `raw` has one byte before the wanted part if `cut_in_front`. */
static char *finish(const char *raw, size_t n, size_t max, bool cut_in_front)
{
    struct strbuf b = STRBUF_INIT;
    clean(raw, n, &b);
    size_t at = b.len > max ? b.len - max : 0;
    if (at == 0 && cut_in_front)
        at = 1;
    char *text = xstrdup(line_from(b.s, at));
    strbuf_free(&b);
    return text;
}

char *tail_read(int fd, int64_t from, size_t max)
{
    if (fd < 0)
        return NULL;
    struct stat st;
    char *raw = xcalloc(1, max + 1), *text = NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > from) {
        bool cut = (uint64_t)(st.st_size - from) > max;
        int64_t start = cut ? st.st_size - (int64_t)max - 1 : from;
        ssize_t n = pread(fd, raw, cut ? max + 1 : max, (off_t)start);
        if (n > 0)
            text = finish(raw, (size_t)n, max, cut);
    }
    free(raw);
    close(fd);
    return text;
}
