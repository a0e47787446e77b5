/* SPDX-License-Identifier: MIT */
#include "api/plane/storage/xml_write.h"

#include <jansson.h>
#include <string.h>

#include "lib/jsontext.h"

void xml_begin_document(struct strbuf *b)
{
    strbuf_puts(b, "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?>");
}

void xml_open(struct strbuf *b, const char *name)
{
    strbuf_concat(b, "<", name, ">");
}

void xml_close(struct strbuf *b, const char *name)
{
    strbuf_concat(b, "</", name, ">");
}

static const char *entity(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\r':
        return "&#xD;"; /* a parser would read it as a line break */
    default:
        return NULL;
    }
}

/* Whether XML forbids the character: below the space it allows only tab and line breaks
 * (https://www.w3.org/TR/xml/#charsets). */
static bool is_no_character(char c)
{
    return (unsigned char)c < ' ' && !strchr("\t\n\r", c);
}

/* Whether these bytes are U+FFFE or U+FFFF, which XML forbids too. */
static bool is_no_character_of_three(const char *p)
{
    return memcmp(p, "\xef\xbf", 2) == 0 && (p[2] == '\xbe' || p[2] == '\xbf');
}

static void add_text(struct strbuf *b, const char *s)
{
    for (const char *p = s; *p; p++) {
        const char *name = entity(*p);
        if (name)
            strbuf_puts(b, name);
        else if (is_no_character(*p))
            strbuf_putc(b, '?');
        else if (strncmp(p, "\xef\xbf", 2) == 0 && is_no_character_of_three(p)) {
            strbuf_putc(b, '?');
            p += 2;
        } else
            strbuf_putc(b, *p);
    }
}

void xml_escaped(struct strbuf *b, const char *text)
{
    if (jsontext_is_utf8(text, strlen(text))) {
        add_text(b, text);
        return;
    }
    json_auto_t *mended = jsontext_string(text);
    add_text(b, json_string_value(mended));
}

void xml_element(struct strbuf *b, const char *name, const char *text)
{
    if (!text) {
        strbuf_concat(b, "<", name, " />");
        return;
    }
    xml_open(b, name);
    xml_escaped(b, text);
    xml_close(b, name);
}

bool xml_can_hold(const char *text)
{
    if (!jsontext_is_utf8(text, strlen(text)))
        return false;
    for (const char *p = text; *p; p++)
        if (is_no_character(*p) || (strncmp(p, "\xef\xbf", 2) == 0 && is_no_character_of_three(p)))
            return false;
    return true;
}
