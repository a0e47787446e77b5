/* SPDX-License-Identifier: MIT
 *
 * What bodies of a dump are made of.
 */
#include <sodium.h>

#include "api/testing/seed/dump.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"

json_t *dump_json(const char *text)
{
    json_t *v = text ? json_loads(text, 0, NULL) : NULL;
    return v ? v : json_object();
}

void dump_put(json_t *into, const char *collection, const char *name, json_t *body)
{
    json_t *named = json_object_get(into, collection);
    if (!named)
        json_object_set_new(into, collection, named = json_object());
    json_object_set_new(named, name, body);
}

json_t *dump_doc(struct dumping *d, const struct dumped_doc *what)
{
    struct dumped_doc *x = arena_alloc(d->a, sizeof *x);
    *x = *what;
    x->into = json_object();
    x->next = d->docs;
    d->docs = x;
    return x->into;
}

static json_t *document(const struct dumped_doc *x)
{
    struct strbuf b = STRBUF_INIT;
    schema_render(
        &b, &(struct rendering){.schema = x->schema, .version = x->version, .stored = x->doc});
    json_t *shown = dump_json(b.s), *secrets = x->secrets ? dump_json(x->secrets) : NULL;
    json_t *all = secrets ? schema_merge_secrets(shown, secrets) : json_incref(shown);
    strbuf_free(&b);
    json_decref(shown);
    json_decref(secrets);
    return all;
}

void dump_docs(struct dumping *d)
{
    for (const struct dumped_doc *x = d->docs; x; x = x->next) {
        json_t *all = document(x);
        if (x->but)
            json_object_del(all, x->but);
        json_object_update(all, x->into);
        json_object_clear(x->into);
        json_object_update(x->into, all);
        json_decref(all);
    }
}

void dump_time(json_t *into, const char *name, int64_t us)
{
    char text[TIMEFMT_SIZE];
    if (us <= 0)
        return;
    timefmt_exact(us, text);
    json_object_set_new(into, name, json_string(text));
}

void dump_keys(json_t *into, const struct account_keys *keys)
{
    char text[sodium_base64_ENCODED_LEN(ACCOUNT_KEY_BYTES, sodium_base64_VARIANT_ORIGINAL)];
    json_t *list = json_array();
    for (int i = 0; i < 2; i++)
        json_array_append_new(
            list, json_string(sodium_bin2base64(text, sizeof text, keys->key[i], ACCOUNT_KEY_BYTES,
                                                sodium_base64_VARIANT_ORIGINAL)));
    json_object_set_new(into, "keys", list);
    sodium_memzero(text, sizeof text);
}

/* {"location", "tags"} of a row, over what there is. */
void dump_tracked(json_t *into, const char *location, const char *tags)
{
    json_object_set_new(into, "location", jsontext_string(location ? location : ""));
    if (tags)
        json_object_set_new(into, "tags", dump_json(tags));
}
