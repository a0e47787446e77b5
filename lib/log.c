/* SPDX-License-Identifier: MIT */
#include "lib/log.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/strbuf.h"
#include "lib/timefmt.h"

static const char *const level_names[] = {"debug", "info", "warn", "error"};

static bool plain(const char *s)
{
    if (!*s)
        return false;
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || *s == '"' || *s == '\\' || *s == '=' || *s == 0x7f)
            return false;
    return true;
}

/* Control characters of foreign text must not forge lines or drive a terminal. */
static void put_quoted(struct strbuf *b, const char *s)
{
    strbuf_putc(b, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            strbuf_printf(b, "\\%c", c);
        else if (c == '\n')
            strbuf_puts(b, "\\n");
        else if (c < ' ' || c == 0x7f)
            strbuf_printf(b, "\\x%02x", c);
        else
            strbuf_putc(b, (char)c);
    }
    strbuf_putc(b, '"');
}

static void put_text(struct strbuf *b, const char *when, enum log_level level, const char *event,
                     const struct log_field *f, size_t n)
{
    strbuf_printf(b, "%s %s %s", when, level_names[level], event);
    for (size_t i = 0; i < n; i++) {
        if (f[i].kind == LOG_FIELD_INT) {
            strbuf_printf(b, " %s=%lld", f[i].key, (long long)f[i].num);
        } else if (f[i].str) {
            strbuf_printf(b, " %s=", f[i].key);
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
            json_t *s = json_string(f[i].str);
            json_object_set_new(o, f[i].key, s ? s : json_string("(not UTF-8)"));
        }
    }
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    strbuf_puts(b, text ? text : "{}");
    free(text);
    json_decref(o);
}

void log_write(const struct log *log, enum log_level level, const char *event,
               const struct log_field *fields, size_t n)
{
    if (!log || level < log->level)
        return;
    char when[TIMEFMT_SIZE];
    timefmt_fixed(time_now_us(), when);
    struct strbuf b = STRBUF_INIT;
    if (log->format == LOG_FMT_JSON)
        put_json(&b, when, level, event, fields, n);
    else
        put_text(&b, when, level, event, fields, n);
    strbuf_putc(&b, '\n');
    ssize_t ignored = write(log->fd, b.s, b.len);
    (void)ignored;
    strbuf_free(&b);
}
