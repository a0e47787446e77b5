/* SPDX-License-Identifier: MIT
 *
 * Parsing documents and decoding the common parts of clusters and jobs. schema_accept() checked the
 * documents before they were stored, so the decoders trust their structure, and an absent part is
 * no error.
 */
#include <string.h>

#include "model/schema.h"
#include "model/spec_priv.h"

int spec_open(const char *doc, const char *secrets, struct opened *out, struct err *e)
{
    json_error_t why;
    *out = (struct opened){0};
    json_t *bare = json_loads(doc ? doc : "", 0, &why);
    if (!bare)
        return err_set(e, ERR_INTERNAL, NULL, "a stored document is not JSON: %s", why.text);
    if (secrets && !(out->secrets = json_loads(secrets, 0, &why))) {
        json_decref(bare);
        return err_set(e, ERR_INTERNAL, NULL, "stored secrets are not JSON");
    }
    schema_put_secrets(bare, out->secrets);
    out->doc = bare;
    return 0;
}

void spec_close(struct opened *o)
{
    const char *path;
    json_t *value;
    json_object_foreach(o->secrets, path, value)
        spec_wipe_string(json_string_value(value));
    json_decref(o->doc);
    json_decref(o->secrets);
    *o = (struct opened){0};
}

/* The string is in writable memory (the arena, or a document that is freed next). It is const only
 * so that readers do not change it. */
void spec_wipe_string(const char *s)
{
    if (s)
        explicit_bzero((char *)(uintptr_t)s, strlen(s));
}

void spec_wipe_env(struct kv *env, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (env[i].is_secret)
            spec_wipe_string(env[i].value);
}

void spec_wipe_mounts(struct mount_list *mounts)
{
    for (size_t i = 0; i < mounts->n; i++)
        spec_wipe_string(mounts->items[i].key);
}
