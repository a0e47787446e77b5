/* SPDX-License-Identifier: MIT
 *
 * Filters as trees: what they say of an item, and why some are refused.
 */
#include <strings.h>

#include "lib/strbuf.h"
#include "model/filter.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/says.h"
#include "test/unit/support/tests.h"

enum { ID, STATE, SIZE, WHEN, PROPERTIES };
static const char *const names[PROPERTIES] = {"id", "state", "size", "when"};

static bool find(void *ctx, const char *s, size_t n, struct filter_term *out)
{
    (void)ctx;
    for (int i = 0; i < PROPERTIES; i++)
        if (strlen(names[i]) == n && strncasecmp(names[i], s, n) == 0) {
            out->path = names[i];
            out->property = i;
            return true;
        }
    return false;
}

static const char *check(void *ctx, struct filter_term *t)
{
    (void)ctx;
    return t->property == STATE && t->op > FILTER_NE ? "eq or ne for state" : NULL;
}

static const struct filter_paths paths = {.find = find, .check = check, .times = true};

/* The item: id 'Ab', state 'active', size 5, when 2018-06-07T21:34:00Z. */
static bool holds(const void *ctx, const struct filter_term *t)
{
    (void)ctx;
    const struct filter_literal *l = &t->literal;
    switch (t->property) {
    case ID:
        if (t->op == FILTER_STARTS_WITH)
            return strncasecmp("Ab", l->text, strlen(l->text)) == 0;
        return filter_order_is(t->op, strcasecmp("Ab", l->text));
    case STATE:
        return filter_order_is(t->op, strcmp("active", l->text));
    case SIZE:
        return filter_order_is(t->op, (5 > l->number) - (5 < l->number));
    }
    const int64_t when = 1528407240000000;
    return filter_order_is(t->op, (when > l->us) - (when < l->us));
}

TEST(filters_hold_or_not)
{
    static const struct {
        const char *text;
        bool holds;
        size_t terms;
    } cases[] = {
        {"id eq 'ab'", true, 1},
        {"id eq 'it''s'", false, 1},
        {"ID ge 'aa' and ID lt 'ac'", true, 2},
        {"state eq 'completed' or size gt 4.5", true, 2},
        {"state eq 'completed' or size gt 5 or size le 5", true, 3},
        {"not state eq 'completed' and size ne 5", false, 2},
        {"not (state eq 'completed' and size ne 5)", true, 2},
        {"startswith(id,'A')", true, 1},
        {"startswith( id , 'b' ) or not not size eq 5", true, 2},
        {"when lt datetime'2018-06-07T21:34:00.001Z'", true, 1},
        {"when eq DateTime'2018-06-07T21:34:00Z'", true, 1},
        {"when gt datetime '2018-06-07T21:34:00Z'", false, 1},
        {"((((size eq 5))))", true, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena a;
        const struct filter *f;
        struct err e;
        size_t terms;
        arena_init(&a);
        if (filter_parse(cases[i].text, &paths, &a, &f, &terms, &e) < 0)
            fail_msg("%s: %s", cases[i].text, e.msg);
        if (filter_holds(f, holds, NULL) != cases[i].holds)
            fail_msg("%s", cases[i].text);
        assert_int_equal(terms, cases[i].terms);
        arena_free(&a);
    }
}

TEST(wrong_filters_are_refused_with_the_place)
{
    static const struct {
        const char *text;
        int position;
        const char *wanted;
    } cases[] = {
        {"", 1, "the name of a property"},
        {"colour eq 'red'", 1, "the name of a property"},
        {"id", 3, "one of eq, ne, lt, le, gt and ge"},
        {"id eq", 6, "a value"},
        {"id eq 'a", 9, "a closing quote"},
        {"id eq 'a' id", 11, "the end, 'and' or 'or'"},
        {"id eq 'a' and", 14, "the name of a property"},
        {"(id eq 'a'", 11, "')'"},
        {"startswith(id, 5)", 17, "a 'text' before"},
        {"size eq 5 and state gt 'a'", 15, "eq or ne for state"},
        {"when eq datetime'yesterday'", 17, "a time"},
        {"when eq datetime5", 9, "a value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena a;
        const struct filter *f;
        struct err e;
        size_t terms;
        char position[40];
        arena_init(&a);
        if (filter_parse(cases[i].text, &paths, &a, &f, &terms, &e) == 0)
            fail_msg("'%s' was taken", cases[i].text);
        assert_int_equal(e.code, ERR_INVALID_QUERY);
        snprintf(position, sizeof position, "at position %d there must be ", cases[i].position);
        if (!strstr(e.msg, position) || !strstr(e.msg, cases[i].wanted))
            fail_msg("'%s': %s", cases[i].text, e.msg);
        arena_free(&a);
    }
}

ARENA_TEST(deep_nesting_is_refused)
{
    struct strbuf text = STRBUF_INIT;
    const struct filter *f;
    struct err e;
    size_t terms;
    for (int i = 0; i < 40; i++)
        strbuf_puts(&text, "not ");
    strbuf_puts(&text, "size eq 5");
    assert_int_equal(filter_parse(text.s, &paths, a, &f, &terms, &e), -1);
    assert_says(e.msg, "less nesting");
    strbuf_free(&text);
}
