/* SPDX-License-Identifier: MIT
 *
 * Documents for tests: JSON written with ' for ", and one-property changes by path.
 */
#ifndef TEST_MODEL_DOC_H
#define TEST_MODEL_DOC_H

#include <jansson.h>

#include "model/schema.h"
#include "test/unit/support/says.h"

static inline json_t *doc_parse(const char *text)
{
    FREED char *copy = strdup(text);
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    json_error_t why;
    json_t *v = json_loads(copy, JSON_DECODE_ANY, &why);
    if (!v)
        fail_msg("bad JSON in test: %s: %s", why.text, copy);
    return v;
}

/* A tree as the members that lie on top of a document. Texts of lists are the arena's. */
static inline size_t doc_over(struct arena *a, const json_t *tree, struct over **out)
{
    const char *name;
    json_t *v;
    size_t n = 0;
    struct over *list = arena_alloc(a, (json_object_size(tree) + 1) * sizeof *list), *inner;
    json_object_foreach((json_t *)(uintptr_t)tree, name, v) {
        FREED char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
        if (json_is_string(v)) {
            list[n++] = SHOW_TEXT(name, json_string_value(v));
        } else if (json_is_integer(v)) {
            list[n++] = SHOW_INT(name, json_integer_value(v));
        } else if (json_is_boolean(v)) {
            list[n++] = SHOW_BOOL(name, json_is_true(v));
        } else if (json_is_object(v)) {
            size_t k = doc_over(a, v, &inner);
            list[n++] = SHOW_OBJECT_OF(name, inner, k);
        } else {
            list[n++] = SHOW_DOC(name, arena_strdup(a, text));
        }
    }
    *out = list;
    return n;
}

/* What schema_render() shows of a document, which it reads as it is stored; of its properties on
 * top of nothing it must show the same. */
static inline json_t *doc_render(const struct schema *s, enum api_version v, const json_t *doc)
{
    struct strbuf of_text = STRBUF_INIT, on_top = STRBUF_INIT;
    struct arena a;
    struct over *list;
    arena_init(&a);
    const char *name;
    json_t *value;
    size_t n = 0;
    list = arena_alloc(&a, (json_object_size(doc) + 1) * sizeof *list);
    json_object_foreach((json_t *)(uintptr_t)doc, name, value) {
        FREED char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        list[n++] = SHOW_DOC(name, arena_strdup(&a, text));
    }
    schema_render_tree(&of_text, s, v, doc);
    schema_render(&on_top, &(struct rendering){.schema = s, .version = v, .over = list, .n = n});
    assert_string_equal(of_text.s, on_top.s);
    json_t *out = json_loads(of_text.s, 0, NULL);
    assert_non_null(out);
    arena_free(&a);
    strbuf_free(&of_text);
    strbuf_free(&on_top);
    return out;
}

/* The container of the last step of "a.b[0].c", made where missing; *last is that step. */
static inline json_t *doc_walk(json_t *at, char *path, char **last)
{
    char *save = NULL, *step = strtok_r(path, ".[]", &save);
    for (char *next; (next = strtok_r(NULL, ".[]", &save)); step = next) {
        json_t *child =
            json_is_array(at) ? json_array_get(at, (size_t)atoi(step)) : json_object_get(at, step);
        if (!child) {
            child = json_object();
            json_object_set_new(at, step, child);
        }
        at = child;
    }
    *last = step;
    return at;
}

/* Sets (or, with text NULL, removes) the property at `path`. */
static inline void doc_set(json_t *doc, const char *path, const char *text)
{
    char *copy = strdup(path), *last;
    json_t *at = doc_walk(doc, copy, &last);
    if (!text)
        json_object_del(at, last);
    else if (json_is_array(at))
        json_array_set_new(at, (size_t)atoi(last), doc_parse(text));
    else
        json_object_set_new(at, last, doc_parse(text));
    free(copy);
}

/* Borrowed; NULL if not there. */
static inline json_t *doc_get(json_t *doc, const char *path)
{
    char *copy = strdup(path), *save = NULL;
    json_t *at = doc;
    for (char *s = strtok_r(copy, ".[]", &save); s; s = strtok_r(NULL, ".[]", &save))
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(s)) : json_object_get(at, s);
    free(copy);
    return at;
}

static inline void doc_assert_text(const json_t *doc, const char *expected)
{
    json_auto_t *want = doc_parse(expected);
    FREED char *got_text = json_dumps(doc, JSON_COMPACT | JSON_ENCODE_ANY);
    FREED char *want_text = json_dumps(want, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_string_equal(got_text, want_text);
}

#define BASE_JOB                                                                                   \
    "{'properties': {"                                                                             \
    " 'cluster': {'id': '/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/"           \
    "workspaces/w/clusters/c'},"                                                                   \
    " 'nodeCount': 2,"                                                                             \
    " 'customToolkitSettings': {'commandLine': 'true'},"                                           \
    " 'stdOutErrPathPrefix': '$AZ_BATCHAI_MOUNT_ROOT/share'}}"

#define BASE_CLUSTER                                                                               \
    "{'properties': {"                                                                             \
    " 'vmSize': 'Standard_D1',"                                                                    \
    " 'scaleSettings': {'manual': {'targetNodeCount': 1}},"                                        \
    " 'userAccountSettings': {'adminUserName': 'demo', 'adminUserPassword': 'hunter2'}}}"

#define BASE_SHARE                                                                                 \
    "{'accountName': 'acct', 'azureFileUrl': 'https://acct.file.core.windows.net/share',"          \
    " 'credentials': {'accountKey': 'k3y'}, 'relativeMountPath': 'share'}"

#endif
