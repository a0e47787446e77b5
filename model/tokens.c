/* SPDX-License-Identifier: MIT
 *
 * Cuts compact texts, as the daemon writes them, with functions of this file, and every other text
 * with jsmn. Invariant: n is 0, or token 0 is an object and the members of each object are pairs of
 * a name and a value. The tokens point into the text, which the caller must keep. Any thread.
 */
#define JSMN_PARENT_LINKS
#define JSMN_STRICT
#include <assert.h>
#include <jsmn.h>

#include "model/tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/jsontext.h"

/* Checks that each name in an object has one value: jsmn does not check this. */
static bool members_are_pairs(const jsmntok_t *tok, int n)
{
    for (int i = 0; i < n; i++) {
        int up = tok[i].parent;
        if (up != NO_TOKEN && tok[up].type == JSMN_OBJECT &&
            (tok[i].type != JSMN_STRING || tok[i].size != 1))
            return false;
        if (up != NO_TOKEN && tok[up].type == JSMN_STRING && i != up + 1)
            return false;
    }
    return n > 0 && tok[0].type == JSMN_OBJECT && (n == 1 || tok[n - 1].end < tok[0].end);
}

/* --- fast path --- */

#define QUICK_DEPTH 16

/* A faster way than jsmn, which reads each character several times and took a quarter of the time
 * of a row in a list. These functions cut text that the daemon wrote itself (compact, few escapes),
 * a whole string at a time. For other text they return false, and then jsmn cuts the text. */
struct quick {
    struct tokens *t;
    const char *at, *end;
    int depth;
};

static int quick_token(struct quick *q, jsmntype_t type, int parent)
{
    struct tokens *t = q->t;
    assert(t->n < TOKENS_SMALL && parent < t->n);
    t->tok[t->n] = (jsmntok_t){.type = type, .start = (int)(q->at - t->text), .parent = parent};
    if (parent != NO_TOKEN)
        t->tok[parent].size++;
    return t->n++;
}

static bool quick_take(struct quick *q, char c)
{
    if (q->at == q->end || *q->at != c)
        return false;
    q->at++;
    return true;
}

/* Takes a string; q->at is behind its opening quote. */
static bool quick_string(struct quick *q, int parent)
{
    int tok = quick_token(q, JSMN_STRING, parent);
    q->at += jsontext_plain(q->at, (size_t)(q->end - q->at));
    q->t->tok[tok].end = (int)(q->at - q->t->text);
    return quick_take(q, '"');
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c);
}

/* Takes a number, true, false or null like jsmn: everything up to a delimiter. */
static bool quick_primitive(struct quick *q, int parent)
{
    if (q->at == q->end || !is_one_of(*q->at, "-0123456789tfn"))
        return false;
    int tok = quick_token(q, JSMN_PRIMITIVE, parent);
    while (q->at < q->end && (isalnum((unsigned char)*q->at) || is_one_of(*q->at, "+-.")))
        q->at++;
    q->t->tok[tok].end = (int)(q->at - q->t->text);
    return q->at < q->end && is_one_of(*q->at, ",}]");
}

static bool quick_value(struct quick *q, int parent);

static bool quick_member(struct quick *q, int object)
{
    int key = q->t->n;
    return quick_take(q, '"') && quick_string(q, object) && quick_take(q, ':') &&
           quick_value(q, key);
}

/* Takes the items of an object or array; q->at is behind the opening bracket. */
static bool quick_items(struct quick *q, int tok, char close)
{
    bool is_object = close == '}';
    if (q->depth++ == QUICK_DEPTH)
        return false;
    if (!quick_take(q, close)) {
        do
            if (!(is_object ? quick_member(q, tok) : quick_value(q, tok)))
                return false;
        while (quick_take(q, ','));
        if (!quick_take(q, close))
            return false;
    }
    q->depth--;
    q->t->tok[tok].end = (int)(q->at - q->t->text);
    return true;
}

static bool quick_value(struct quick *q, int parent)
{
    if (q->t->n + 2 > TOKENS_SMALL) /* room for this token and a name */
        return false;
    if (quick_take(q, '"'))
        return quick_string(q, parent);
    bool is_object = q->at < q->end && *q->at == '{';
    if (!is_object && (q->at == q->end || *q->at != '['))
        return quick_primitive(q, parent);
    int tok = quick_token(q, is_object ? JSMN_OBJECT : JSMN_ARRAY, parent);
    q->at++;
    return quick_items(q, tok, is_object ? '}' : ']');
}

static bool cut_quickly(struct tokens *t, size_t n)
{
    struct quick q = {.t = t, .at = t->text, .end = t->text + n};
    t->n = 0;
    return n > 0 && t->text[0] == '{' && quick_value(&q, NO_TOKEN) && q.at == q.end;
}

/* --- by jsmn -------------------------------------------------------------------------------- */

void tokens_cut(struct tokens *t, const char *text)
{
    jsmn_parser p;
    jsmn_init(&p);
    text = text ? text : "";
    size_t n = strlen(text), room = TOKENS_SMALL;
    jsmntok_t *more = NULL;
    int found;
    t->text = text;
    t->tok = t->few;
    if (cut_quickly(t, n))
        return;
    while ((found = jsmn_parse(&p, text, n, t->tok, (unsigned)room)) == JSMN_ERROR_NOMEM) {
        room *= 4;
        more = xrealloc(more, room * sizeof *more);
        if (t->tok == t->few)
            memcpy(more, t->few, sizeof t->few);
        t->tok = more;
    }
    t->n = found > 0 && members_are_pairs(t->tok, found) ? found : 0;
}

void tokens_free(struct tokens *t)
{
    if (t->tok != t->few)
        free(t->tok);
}

int token_behind(const struct tokens *t, int tok)
{
    assert(tok >= 0 && tok < t->n);
    int end = t->tok[tok].end;
    do
        tok++;
    while (tok < t->n && t->tok[tok].start < end);
    return tok;
}

int token_member(const struct tokens *t, int object, const char *name)
{
    if (!token_is(t, object, JSMN_OBJECT))
        return NO_TOKEN;
    int last = token_behind(t, object), found = NO_TOKEN;
    for (int key = object + 1; key < last; key = token_behind(t, key + 1))
        if (token_named(t, key, name))
            found = key + 1;
    return found;
}
