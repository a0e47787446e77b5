/* SPDX-License-Identifier: MIT
 *
 * Request bodies through the schemas. First byte: which schema, version, whole or partial; the rest
 * is the body. What is accepted can be rendered, decoded, and is the same when it is accepted
 * again.
 */
#include <jansson.h>

#include "lib/arena.h"
#include "lib/jsonread.h"
#include "lib/jsontext.h"
#include "model/schema.h"
#include "model/spec.h"
#include "test/fuzz/fuzz.h"

static const struct schema *const schemas[] = {
    &schema_cluster,        &schema_job,   &schema_file_server,      &schema_workspace,
    &schema_cluster_update, &schema_group, &schema_workspace_update, &schema_experiment,
};
static const enum api_version versions[] = {V_2017_09_01_PREVIEW, V_2018_03_01, V_2018_05_01};

static void decode(const struct schema *s, const json_t *doc)
{
    struct arena a;
    arena_init(&a);
    if (s->size) {
        void *into = calloc(1, s->size);
        schema_decode(s, &a, doc, into);
        free(into);
    }
    arena_free(&a);
}

static void decode_job(const json_t *doc, const json_t *secrets)
{
    struct arena a;
    struct err e;
    struct run_spec spec = {0};
    char *text = json_dumps(doc, JSON_COMPACT);
    char *secret = secrets ? json_dumps(secrets, JSON_COMPACT) : NULL;
    struct job job = {.doc = text};
    arena_init(&a);
    int rc = job_spec_decode(&a, &job, secret, &spec, &e);
    tell("job_spec", rc, e.msg);
    if (rc == 0)
        run_spec_wipe(&spec);
    arena_free(&a);
    free(text);
    free(secret);
}

/* The same whether it is read as it is stored or lies in memory; and JSON. */
static void render(const struct schema *s, enum api_version v, const json_t *doc)
{
    struct strbuf of_text = STRBUF_INIT, of_tree = STRBUF_INIT;
    char *stored = jsontext(doc);
    schema_render(&of_text, &(struct rendering){.schema = s, .version = v, .stored = stored});
    schema_render_tree(&of_tree, s, v, doc);
    CLAIM(strcmp(of_text.s, of_tree.s) == 0);
    json_t *shown = json_loads(of_text.s, 0, NULL);
    CLAIM(shown);
    json_decref(shown);
    free(stored);
    strbuf_free(&of_text);
    strbuf_free(&of_tree);
}

/* Accepted once, accepted always: a stored document is what it was when it is looked at again. */
static void look_at(const struct schema *s, enum api_version v, const json_t *doc,
                    const json_t *secrets)
{
    char list[500];
    render(s, v, doc);
    CLAIM(schema_immutable_changes(s, v, doc, doc, list, sizeof list) == 0);
    decode(s, doc);
    if (s == &schema_job)
        decode_job(doc, secrets);
}

/* The tree that jansson reads, or its error. */
static json_t *read_body(const char *text, size_t n)
{
    json_error_t why, expected;
    json_t *body = jsonread(text, n, JSON_REJECT_DUPLICATES, &why);
    json_t *same = json_loadb(text, n, JSON_REJECT_DUPLICATES, &expected);
    CLAIM(body ? same && json_equal(body, same) : !same && strcmp(why.text, expected.text) == 0);
    json_decref(same);
    return body;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const struct schema *s = schemas[data[0] & 7];
    enum api_version v = versions[(data[0] >> 3) % 3];
    json_t *body = read_body((const char *)data + 1, size - 1);
    json_t *doc = NULL, *secrets = NULL;
    struct err e = {0};
    if (json_is_object(body)) {
        int rc = data[0] & 0x80 ? schema_accept_partial(s, v, body, &doc, &secrets, &e)
                                : schema_accept(s, v, body, &doc, &secrets, &e);
        tell(s->name, rc, e.msg);
        CLAIM(rc == 0 ? doc != NULL : doc == NULL && secrets == NULL && e.msg[0]);
        if (rc == 0)
            look_at(s, v, doc, secrets);
    }
    json_decref(body);
    json_decref(doc);
    json_decref(secrets);
    return 0;
}
