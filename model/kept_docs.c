/* SPDX-License-Identifier: MIT */
#include "model/kept_docs.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/texthash.h"
#include "model/spec_priv.h"

/* Some hundreds of tasks of a pool are about to run, or do. */
#define PLACES 512
/* What is longer has one place for all, as opened it takes ten times its length. */
#define KEPT_BYTES 2048

struct kept_doc {
    char *text; /* NULL: there is none here */
    size_t len;
    json_t *doc;
};

struct kept_docs {
    struct kept_doc places[PLACES], longest;
};

struct kept_docs *kept_docs_new(void)
{
    return xcalloc(1, sizeof(struct kept_docs));
}

static void drop(struct kept_doc *d)
{
    json_decref(d->doc);
    free(d->text);
    *d = (struct kept_doc){0};
}

void kept_docs_free(struct kept_docs *k)
{
    for (size_t i = 0; k && i < PLACES; i++)
        drop(&k->places[i]);
    if (k)
        drop(&k->longest);
    free(k);
}

/* The only place where it can be. */
static struct kept_doc *place_of(struct kept_docs *k, const char *text, size_t len)
{
    return len > KEPT_BYTES ? &k->longest : &k->places[text_hash(text, len) % PLACES];
}

const json_t *kept_docs_open(struct kept_docs *k, const char *doc, struct err *e)
{
    const char *text = doc ? doc : ""; /* which is no JSON */
    size_t len = strlen(text);
    struct kept_doc *d = place_of(k, text, len);
    struct opened o;
    if (d->text && d->len == len && memcmp(d->text, text, len) == 0)
        return d->doc;
    if (spec_open(text, NULL, &o, e) < 0)
        return NULL;
    drop(d);
    *d = (struct kept_doc){.text = xstrdup(text), .len = len, .doc = o.doc};
    return d->doc;
}
