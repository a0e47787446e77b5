/* SPDX-License-Identifier: MIT
 *
 * Decodes a body as JSON, a form or XML; the flags of the route decide which. The request owns the
 * results. Called only on the loop's thread.
 */
#include "api/http/content.h"

#include <string.h>
#include <strings.h>

#include "api/http/form.h"
#include "api/http/xml.h"
#include "lib/jsonread.h"

#define SLICE_NS (5 * 1000 * 1000)
/* The most JSON values in a body: a tree of so many takes some 10 ms to make and free. No valid
 * body has more. */
#define VALUES_MAX 50000

int content_check_type(const struct request *r, struct err *e)
{
    const char *type = request_header(r, "Content-Type");
    const char *coding = request_header(r, "Content-Encoding");
    if ((r->route->flags & ROUTE_DECODED) && coding && strcasecmp(coding, "identity") != 0)
        return err_set(
            e, ERR_UNSUPPORTED_MEDIA, "Content-Encoding",
            "The Content-Encoding is '%.100s'; the body must be sent without an encoding.", coding);
    if (!(r->route->flags & (ROUTE_JSON | ROUTE_JSON_OPTIONAL)) || !type ||
        strncasecmp(type, "application/json", 16) == 0 || strncasecmp(type, "text/json", 9) == 0)
        return 0;
    return err_set(e, ERR_UNSUPPORTED_MEDIA, "Content-Type",
                   "The Content-Type is '%.100s'; it must be application/json.", type);
}

/* A text for the error. Jansson's own text is not used, because it quotes the input, which may be a
 * secret. */
static const char *what_is_wrong(const json_error_t *je)
{
    static const struct {
        enum json_error_code code;
        const char *text;
    } words[] = {
        {json_error_premature_end_of_input, "it ends too early"},
        {json_error_end_of_input_expected, "there is text after its end"},
        {json_error_invalid_utf8, "it is not UTF-8"},
        {json_error_stack_overflow, "it is nested too deep"},
        {json_error_duplicate_key, "an object has the same property twice"},
        {json_error_null_character, "a text has the character \\u0000"},
        {json_error_null_byte_in_key, "a property's name has the character \\u0000"},
        {json_error_numeric_overflow, "a number is too large"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].code == json_error_code(je))
            return words[i].text;
    return "a syntax error";
}

/* The length of the byte order mark at the start, 3 or 0; Windows editors write it into files. */
static size_t mark_length(const struct strbuf *text)
{
    return text->len >= 3 && memcmp(text->s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static int decode_json(struct request *r, struct err *e)
{
    size_t mark = mark_length(&r->raw), n = r->raw.len - mark;
    const char *text = mark ? r->raw.s + mark : r->raw.s;
    if (n == 0) {
        if (r->route->flags & ROUTE_JSON_OPTIONAL)
            return 0;
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "The request body is empty; a JSON object is expected.");
    }
    /* A value has at least two bytes, so a short text needs no count. */
    if (n > 2 * VALUES_MAX && jsonread_values(text, n) > VALUES_MAX)
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "The request content has more than %d JSON values.", VALUES_MAX);
    json_error_t je;
    r->body = request_own(r, jsonread(text, n, JSON_REJECT_DUPLICATES, &je));
    if (!r->body)
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "The request content is not valid JSON: %s (line %d, column %d).",
                       what_is_wrong(&je), je.line, je.column);
    if (!json_is_object(r->body))
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "The request content must be a JSON object, not %s.",
                       json_is_array(r->body) ? "an array" : "a plain value");
    return 0;
}

static int decode_form(struct request *r, struct err *e)
{
    struct form *f = arena_alloc(&r->arena, sizeof *f);
    r->form = f;
    return form_decode(&r->arena, r->raw.s, r->raw.len, f, e);
}

static int decode_xml(struct request *r, struct err *e)
{
    if (r->raw.len == 0 && (r->route->flags & ROUTE_XML_OPTIONAL))
        return 0;
    uint64_t until_ns = uv_hrtime() + SLICE_NS;
    int rc;
    if (r->raw.len == 0)
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "The request body is empty; an XML document is expected.");
    if (!r->xml_reading)
        r->xml_reading = xml_begin(&r->arena, r->raw.s, r->raw.len);
    while ((rc = xml_go_on(r->xml_reading, &r->xml, e)) > 0 && uv_hrtime() < until_ns)
        ;
    return rc;
}

int content_decode(struct request *r, struct err *e)
{
    static const struct {
        unsigned flags;
        int (*decode)(struct request *r, struct err *e);
    } kinds[] = {{ROUTE_JSON | ROUTE_JSON_OPTIONAL, decode_json},
                 {ROUTE_FORM, decode_form},
                 {ROUTE_XML | ROUTE_XML_OPTIONAL, decode_xml}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (r->route->flags & kinds[i].flags)
            return kinds[i].decode(r, e);
    return 0;
}
