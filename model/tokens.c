/* SPDX-License-Identifier: MIT */
#define JSMN_PARENT_LINKS
#define JSMN_STRICT
#include <jsmn.h>

#include "model/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

/* Each name in an object has one value, as jsmn does not see to. */
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

void tokens_cut(struct tokens *t, const char *text)
{
    jsmn_parser p;
    jsmn_init(&p);
    size_t n = text ? strlen(text) : 0, room = TOKENS_SMALL;
    jsmntok_t *more = NULL;
    int found;
    t->text = text;
    t->tok = t->few;
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
