/* SPDX-License-Identifier: MIT
 *
 * Writes an event as one line, as key=value or as JSON, with one write(), so that lines of several
 * threads do not mix. Values with special characters are quoted, so that text from outside can
 * neither begin a new line nor control a terminal. If a line cannot be written it is lost, and the
 * caller continues.
 */
#include "lib/log.h"

#include <assert.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/jsontext.h"
#include "lib/log_kept.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"

static const char *const level_names[] = {"debug", "info", "warn", "error"};
static_assert(sizeof level_names / sizeof level_names[0] == LOG_LVL_ERROR + 1,
              "each level has a name");

/* How many bytes the first character of `s` has if it is printable; 0 if it is a control character
 * (of ASCII, or U+0080 to U+009F), or not UTF-8. */
static size_t shown(const char *s)
{
    unsigned char c = (unsigned char)*s;
    if (c < 0x80)
        return c >= ' ' && c != 0x7f;
    bool is_control = c == 0xc2 && (unsigned char)s[1] < 0xa0;
    return is_control ? 0 : jsontext_character(s);
}

static bool plain(const char *s)
{
    if (!*s)
        return false;
    for (size_t n; *s; s += n) {
        n = shown(s);
        if (n == 0 || strchr(" \"\\=", *s))
            return false;
    }
    return true;
}

/* Adds a quoted value. Control characters are escaped, so that text from outside cannot forge lines
 * or control a terminal. */
static void put_quoted(struct strbuf *b, const char *s)
{
    strbuf_putc(b, '"');
    for (size_t n; *s; s += n ? n : 1) {
        n = shown(s);
        if (*s == '"' || *s == '\\')
            strbuf_printf(b, "\\%c", *s);
        else if (*s == '\n')
            strbuf_puts(b, "\\n");
        else if (n == 0)
            strbuf_printf(b, "\\x%02x", (unsigned char)*s);
        else
            strbuf_add(b, s, n);
    }
    strbuf_putc(b, '"');
}

static void put_text(struct strbuf *b, const char *when, enum log_level level, const char *event,
                     const struct log_field *f, size_t n)
{
    strbuf_concat(b, when, " ", level_names[level], " ", event);
    for (size_t i = 0; i < n; i++) {
        if (f[i].kind == LOG_FIELD_INT) {
            strbuf_concat(b, " ", f[i].key, "=");
            strbuf_int(b, f[i].num);
        } else if (f[i].str) {
            strbuf_concat(b, " ", f[i].key, "=");
            if (plain(f[i].str))
                strbuf_puts(b, f[i].str);
            else
                put_quoted(b, f[i].str);
        }
    }
}

static void put_json(struct strbuf *b, const char *when, enum log_level level, const char *event,
                     const struct log_field *f, size_t n)
{
    json_t *o =
        json_pack("{s:s, s:s, s:s}", "time", when, "level", level_names[level], "event", event);
    for (size_t i = 0; o && i < n; i++) {
        if (f[i].kind == LOG_FIELD_INT) {
            json_object_set_new(o, f[i].key, json_integer(f[i].num));
        } else if (f[i].str) {
            json_object_set_new(o, f[i].key, jsontext_string(f[i].str));
        }
    }
    char *text = o ? jsontext(o) : NULL;
    strbuf_puts(b, text ? text : "{}");
    free(text);
    json_decref(o);
}

/* The node or machine that the event is about; NULL: none. */
static const char *subject_of(const struct log_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (f[i].kind == LOG_FIELD_STR && f[i].str &&
            (strcmp(f[i].key, "node") == 0 || strcmp(f[i].key, "machine") == 0))
            return f[i].str;
    return NULL;
}

void log_write(const struct log *log, enum log_level level, const char *event,
               const struct log_field *fields, size_t n)
{
    if (!log || level < log->level)
        return;
    char when[TIMEFMT_SIZE];
    int64_t now_us = time_now_us();
    timefmt_fixed(now_us, when);
    struct strbuf b = STRBUF_INIT;
    if (log->format == LOG_FMT_JSON)
        put_json(&b, when, level, event, fields, n);
    else
        put_text(&b, when, level, event, fields, n);
    strbuf_putc(&b, '\n');
    ssize_t ignored = write(log->fd, b.s, b.len);
    (void)ignored;
    const char *subject = log->kept ? subject_of(fields, n) : NULL;
    if (subject)
        log_kept_add(log->kept, &(struct log_kept_line){now_us, event, subject, b.s});
    strbuf_free(&b);
}
