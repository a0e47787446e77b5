/* SPDX-License-Identifier: MIT */
#include "model/kept_docs.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/cache.h"
#include "model/spec_priv.h"

/* The most documents in the cache: enough for some hundreds of running or waiting tasks of a
 * pool. */
#define ENTRIES 512
/* The estimate of a parsed document's memory: this many times the length of its text. */
#define OPENED    10
#define BYTES_MAX (12 << 20)

struct kept_docs {
    struct cache *docs; /* the values are json_t *, the keys are texts */
    json_t *large;      /* owned: the last document that is too large for the cache, or NULL */
};

static void drop(void *value)
{
    json_decref(*(json_t **)value);
}

static const struct cache_kind opened_docs = {sizeof(json_t *), ENTRIES, BYTES_MAX, drop};

struct kept_docs *kept_docs_new(void)
{
    struct kept_docs *k = xcalloc(1, sizeof *k);
    k->docs = cache_new(&opened_docs);
    return k;
}

void kept_docs_free(struct kept_docs *k)
{
    if (!k)
        return;
    cache_free(k->docs);
    json_decref(k->large);
    free(k);
}

const json_t *kept_docs_open(struct kept_docs *k, const char *doc, struct err *e)
{
    const char *text = doc ? doc : ""; /* "" is not JSON and cannot be parsed */
    size_t len = strlen(text);
    struct opened o;
    json_t **kept = cache_find(k->docs, text, len);
    if (kept)
        return *kept;
    if (spec_open(text, NULL, &o, e) < 0)
        return NULL;
    kept = cache_add(k->docs, text, len, len * OPENED);
    if (!kept) {
        json_decref(k->large);
        kept = &k->large;
    }
    *kept = o.doc;
    return o.doc;
}
