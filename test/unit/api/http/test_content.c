/* SPDX-License-Identifier: MIT
 *
 * Bodies as rows ask for them: forms and XML, decoded before the handler; what is none is refused
 * with what is wrong; rows with a limit of their own.
 */
#include "api/http/form.h"
#include "api/http/xml.h"
#include "lib/strbuf.h"
#include "test/unit/api/http/server.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/says.h"

/* --- forms ---------------------------------------------------------------------------------- */

static int form_of(struct arena *a, const char *text, size_t n, struct form *f, struct err *e)
{
    err_clear(e);
    return form_decode(a, text, n, f, e);
}

ARENA_TEST(a_form_is_names_and_values)
{
    const char *text = "a=1&b=x+y%2B%26%c3%a4&&c&d=&=e=f";
    struct form f;
    struct err e;
    assert_int_equal(form_of(a, text, strlen(text), &f, &e), 0);
    assert_int_equal(f.n, 5);
    assert_string_equal(form_value(&f, "a"), "1");
    assert_string_equal(form_value(&f, "b"), "x y+&\xc3\xa4");
    assert_string_equal(form_value(&f, "c"), "");
    assert_string_equal(form_value(&f, "d"), "");
    assert_string_equal(form_value(&f, ""), "e=f");
    assert_null(form_value(&f, "A"));
    assert_int_equal(form_of(a, NULL, 0, &f, &e), 0);
    assert_int_equal(f.n, 0);
}

ARENA_TEST(what_is_no_form_of_texts_is_refused)
{
    static const struct {
        const char *text;
        size_t n;
        const char *says;
    } cases[] = {
        {"a=1&b=%FF", 9, "the value of field 2 has bytes that are not UTF-8"},
        {"\xff=1", 3, "the name of field 1 has bytes that are not UTF-8"},
        {"a=%ED%A0%80", 11, "the value of field 1 has bytes that are not UTF-8"},
        {"a=%4", 4, "the value of field 1 has a malformed percent escape"},
        {"%=x", 3, "the name of field 1 has a malformed percent escape"},
        {"a=x%00y", 7, "the value of field 1 has a malformed percent escape, or one for NUL"},
        {"a=x\0y", 6, "NUL byte"},
        {"a=1&b=2&a=3", 11, "fields 1 and 3 have the same name"},
        {"a=1&%61=1", 9, "fields 1 and 2 have the same name"},
    };
    struct form f;
    struct err e;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(form_of(a, cases[i].text, cases[i].n, &f, &e), -1);
        assert_int_equal(e.code, ERR_INVALID_CONTENT);
        assert_says(e.msg, cases[i].says);
    }
}

ARENA_TEST(a_form_has_so_many_fields_and_no_more)
{
    struct strbuf b = STRBUF_INIT;
    struct form f;
    struct err e;
    for (int i = 0; i < FORM_FIELDS_MAX; i++)
        strbuf_printf(&b, "f%d=%d&", i, i);
    assert_int_equal(form_of(a, b.s, b.len, &f, &e), 0);
    assert_int_equal(f.n, FORM_FIELDS_MAX);
    strbuf_puts(&b, "more=1");
    assert_int_equal(form_of(a, b.s, b.len, &f, &e), -1);
    assert_says(e.msg, "more than 100 fields");
    strbuf_free(&b);
}

/* --- XML ------------------------------------------------------------------------------------ */

static int xml_of(struct arena *a, const char *text, size_t n, const struct xml **root,
                  struct err *e)
{
    err_clear(e);
    return xml_decode(a, text, n, root, e);
}

ARENA_TEST(xml_is_a_tree_of_names_and_texts)
{
    const char *text = "<?xml version='1.0' encoding='utf-8'?>\n<BlockList a='b'>\n"
                       "  <Latest>AAA=</Latest><!-- no --><Latest>B&amp;<![CDATA[<B>]]>&#228;"
                       "</Latest>\n  <Empty/></BlockList>";
    const struct xml *root;
    struct err e;
    assert_int_equal(xml_of(a, text, strlen(text), &root, &e), 0);
    assert_string_equal(root->name, "BlockList");
    assert_null(root->next);
    assert_string_equal(xml_text(root, "Latest"), "AAA=");
    assert_string_equal(root->child->next->text, "B&<B>\xc3\xa4");
    assert_string_equal(xml_text(root, "Empty"), "");
    assert_null(xml_child(root, "Empty")->child);
    assert_null(xml_child(root, "Empty")->next);
    assert_null(xml_text(root, "latest"));
    /* UTF-16, as .NET may send it, is read as the same. */
    const char wide[] = "\xff\xfe<\0a\0>\0\xe4\0<\0/\0a\0>";
    assert_int_equal(xml_of(a, wide, sizeof wide, &root, &e), 0);
    assert_string_equal(root->text, "\xc3\xa4");
}

/* The document type is all that entities, and what is fetched from elsewhere, come by. */
ARENA_TEST(what_is_no_plain_xml_is_refused)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "no element found"},
        {"<a>", "no element found"},
        {"<a></b>", "mismatched tag (line 1, column 6)"},
        {"<a/><b/>", "junk after document element"},
        {"text", "syntax error"},
        {"<a>\xff</a>", "not well-formed"},
        {"<a>\x01</a>", "not well-formed"},
        {"<a>&#0;</a>", "invalid character number"},
        {"<a>&b;</a>", "undefined entity"},
        {"<?xml version='1.0' encoding='EBCDIC'?><a/>", "unknown encoding"},
        {"<!DOCTYPE a><a/>", "document type"},
        {"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>", "document type"},
        {"<!DOCTYPE a [<!ENTITY b 'bbbb'><!ENTITY c '&b;&b;'>]><a>&c;</a>", "document type"},
        {"<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/x.dtd'><a/>", "document type"},
    };
    const struct xml *root;
    struct err e;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(xml_of(a, cases[i].text, strlen(cases[i].text), &root, &e), -1);
        assert_int_equal(e.code, ERR_INVALID_CONTENT);
        assert_null(root);
        assert_says(e.msg, cases[i].says);
    }
    assert_int_equal(xml_of(a, "<a>\0</a>", 8, &root, &e), -1);
}

static void nest(struct strbuf *b, int depth)
{
    for (int i = 0; i < depth; i++)
        strbuf_puts(b, "<a>");
    for (int i = 0; i < depth; i++)
        strbuf_puts(b, "</a>");
}

ARENA_TEST(xml_is_so_deep_and_has_so_many_elements_and_no_more)
{
    struct strbuf b = STRBUF_INIT;
    const struct xml *root;
    struct err e;
    nest(&b, XML_DEPTH_MAX);
    assert_int_equal(xml_of(a, b.s, b.len, &root, &e), 0);
    strbuf_reset(&b);
    nest(&b, XML_DEPTH_MAX + 1);
    assert_int_equal(xml_of(a, b.s, b.len, &root, &e), -1);
    assert_says(e.msg, "nested too deep");
    strbuf_reset(&b);
    strbuf_puts(&b, "<a>");
    for (int i = 1; i < XML_ELEMENTS_MAX; i++)
        strbuf_puts(&b, "<b/>");
    strbuf_puts(&b, "</a>");
    assert_int_equal(xml_of(a, b.s, b.len, &root, &e), 0);
    b.len -= strlen("</a>");
    strbuf_puts(&b, "<b/></a>");
    assert_int_equal(xml_of(a, b.s, b.len, &root, &e), -1);
    assert_says(e.msg, "too many elements");
    strbuf_free(&b);
}

/* Each time with its number between `what` and `after`. */
static int repeat(const char *begin, const char *what, const char *after, size_t times,
                  const char *end, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    struct arena a;
    const struct xml *root;
    arena_init(&a);
    strbuf_puts(&b, begin);
    for (size_t i = 0; i < times; i++)
        strbuf_printf(&b, "%s%zu%s", what, i, after);
    strbuf_puts(&b, end);
    int rc = xml_of(&a, b.s, b.len, &root, e);
    strbuf_free(&b);
    arena_free(&a);
    return rc;
}

TEST(what_is_read_over_is_bounded_too)
{
    struct err e;
    assert_int_equal(repeat("<a>", "<b c", "=''/>", XML_ATTRIBUTES_MAX, "</a>", &e), 0);
    assert_int_equal(repeat("<a>", "<b c", "=''/>", XML_ATTRIBUTES_MAX + 1, "</a>", &e), -1);
    assert_says(e.msg, "too many attributes");
    assert_int_equal(repeat("<a", " c", "=''", 500000, "/>", &e), -1);
    assert_says(e.msg, "a tag or comment that is too long");
    assert_int_equal(repeat("<a><!--", "", "", 500000, "--></a>", &e), -1);
    assert_says(e.msg, "a tag or comment that is too long");
    assert_int_equal(repeat("<a>", "", "", 500000, "</a>", &e), 0);
    assert_int_equal(repeat("<a><![CDATA[", "", "", 500000, "]]></a>", &e), 0);
}

/* --- a service whose rows ask for them ------------------------------------------------------ */

static struct replied *say_form(struct request *r)
{
    const char *name = form_value(r->form, "name");
    return reply_text(r, 200, "text/plain", xstrdup(name ? name : "(none)"));
}

static struct replied *say_xml(struct request *r)
{
    const char *name = xml_text(r->xml, "name");
    return reply_text(r, 200, "text/plain", xstrdup(name ? name : "(none)"));
}

static void say_now(struct request *r, void *ctx)
{
    (void)ctx;
    request_finish(r, say_xml(r));
}

static struct replied *say_xml_later(struct request *r)
{
    request_again(r, say_now, NULL);
    return reply_later(r);
}

static struct replied *say_nothing(struct request *r)
{
    return reply_empty(r, r->raw.len == 0 && !r->form && !r->xml && !r->body ? 200 : 500);
}

static const struct route routes[] = {
    {"POST", "/form", 0, ROUTE_FORM, say_form, "Form"},
    {"POST", "/small", 0, ROUTE_FORM | ROUTE_BODY_KIB(1), say_form, "Small"},
    {"POST", "/large", 0, ROUTE_XML | ROUTE_BODY_KIB(64), say_xml, "Large"},
    {"POST", "/crowd", 0, ROUTE_XML | ROUTE_BODY_KIB(1024), say_xml, "Crowd"},
    {"POST", "/later", 0, ROUTE_XML | ROUTE_BODY_KIB(1024), say_xml_later, "Later"},
    {"POST", "/none", 0, 0, say_nothing, "None"},
};
static const struct service bodies = {.name = "bodies",
                                      .routes = routes,
                                      .n_routes = sizeof routes / sizeof routes[0],
                                      .versions = VERSIONS_NONE,
                                      .body_max = 4096};

/* The reply to this body, which goes. */
static const char *post(struct http_world *w, const char *path, struct strbuf *body)
{
    struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", path,
                  body->len);
    strbuf_puts(&text, body->s);
    const char *got = once(w, text.s);
    strbuf_free(&text);
    strbuf_free(body);
    return got;
}

/* The body is `before`, so many blanks, and `after`. */
static void expect_filled(struct http_world *w, const char *path, const char *before, size_t fill,
                          const char *after, const char *status, const char *words)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, before);
    for (size_t i = 0; i < fill; i++)
        strbuf_putc(&b, ' ');
    strbuf_puts(&b, after);
    const char *got = post(w, path, &b);
    if (strncmp(got, "HTTP/1.1 ", 9) != 0 || strncmp(got + 9, status, 3) != 0 ||
        !strstr(got, words))
        fail_msg("%s: not %s with '%s': %s", path, status, words, got);
}

static void expect(struct http_world *w, const char *path, const char *body, const char *status,
                   const char *words)
{
    expect_filled(w, path, body, 0, "", status, words);
}

/* A body of so many elements takes several turns: its reply is as for a short one. */
static const char *crowd(struct http_world *w, const char *path, const char *end)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, "<a>");
    for (int i = 0; i < XML_ELEMENTS_MAX - 2; i++)
        strbuf_puts(&b, "<b/>");
    strbuf_puts(&b, end);
    return post(w, path, &b);
}

SERVER_TEST(a_body_that_takes_several_turns_is_answered_as_ever, {&bodies, NULL, NULL})
{
    static const char *const paths[] = {"/crowd", "/later"};
    for (int i = 0; i < 2; i++) {
        assert_says(crowd(w, paths[i], "<name>the last</name></a>"), "HTTP/1.1 200", "the last");
        assert_says(crowd(w, paths[i], "</b>"), "HTTP/1.1 400", "mismatched tag");
    }
}

/* A turn takes a few of these, by the clock. */
ARENA_TEST(xml_is_read_in_pieces)
{
    struct strbuf b = STRBUF_INIT;
    const struct xml *root;
    struct err e;
    int pieces = 0;
    strbuf_puts(&b, "<a>");
    for (int i = 1; i < XML_ELEMENTS_MAX; i++)
        strbuf_puts(&b, "<b/>");
    strbuf_puts(&b, "</a>");
    struct xml_reading *x = xml_begin(a, b.s, b.len);
    while (xml_go_on(x, &root, &e) > 0) {
        assert_null(root);
        pieces++;
    }
    assert_non_null(root);
    assert_true(pieces > 20);
    xml_end(x);
    x = xml_begin(a, b.s, b.len); /* and is given up */
    assert_int_equal(xml_go_on(x, &root, &e), 1);
    xml_end(x);
    strbuf_free(&b);
}

SERVER_TEST(a_row_says_what_its_body_is, {&bodies, NULL, NULL})
{
    expect(w, "/form", "name=a+form", "200", "\r\n\r\na form");
    expect(w, "/form", "", "200", "(none)");
    expect(w, "/form", "name=%FF", "400", "InvalidRequestContent");
    expect(w, "/large", "<x><name>xml</name></x>", "200", "\r\n\r\nxml");
    expect(w, "/large", "name=x", "400", "not valid XML");
    expect(w, "/large", "", "400", "an XML document is expected");
    expect(w, "/none", "whatever", "200", "");
}

SERVER_TEST(a_row_says_how_large_its_body_may_be, {&bodies, NULL, NULL})
{
    expect_filled(w, "/form", "name=", 4091, "", "200", "");
    expect_filled(w, "/form", "name=", 4092, "", "413", "larger than 4096 bytes");
    expect_filled(w, "/small", "name=", 1020, "", "413", "larger than 1024 bytes");
    expect_filled(w, "/large", "<x>", 60000, "<name>far</name></x>", "200", "\r\n\r\nfar");
    expect_filled(w, "/large", "<x>", 65536, "</x>", "413", "larger than 65536 bytes");
}
