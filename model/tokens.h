/* SPDX-License-Identifier: MIT
 *
 * Cuts a stored document into tokens (jsmn), so that its text can be read without making a tree.
 * Private to model/.
 */
#ifndef MODEL_TOKENS_H
#define MODEL_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define JSMN_HEADER
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#include <jsmn.h>

#define TOKENS_SMALL 256 /* documents with more tokens are rare, and only they allocate memory */
#define NO_TOKEN     (-1)

struct tokens {
    const char *text; /* borrowed */
    int n;            /* 0: the text is not a JSON object; otherwise token 0 is the object */
    jsmntok_t *tok;   /* `few`, or allocated memory */
    jsmntok_t few[TOKENS_SMALL];
};

void tokens_cut(struct tokens *t, const char *text); /* NULL: no text */
void tokens_free(struct tokens *t);

/* The text of a token; for a string, without its quotes. */
static inline const char *token_text(const struct tokens *t, int tok, size_t *n)
{
    *n = (size_t)(t->tok[tok].end - t->tok[tok].start);
    return t->text + t->tok[tok].start;
}

/* Whether the token exists and has this type. */
static inline bool token_is(const struct tokens *t, int tok, jsmntype_t type)
{
    return tok != NO_TOKEN && tok < t->n && t->tok[tok].type == type;
}

/* True: the text of the token is `name`. */
static inline bool token_named(const struct tokens *t, int tok, const char *name)
{
    size_t n;
    const char *text = token_text(t, tok, &n);
    return n > 0 && name[0] == text[0] && strncmp(name, text, n) == 0 && name[n] == '\0';
}

/* The first token after a value and everything inside it. */
int token_behind(const struct tokens *t, int tok);
/* The value of a member; NO_TOKEN: `object` is not an object, or has no such member. */
int token_member(const struct tokens *t, int object, const char *name);

#endif
