/* SPDX-License-Identifier: MIT
 *
 * Reads a seed as JSON or YAML. The library jansson parses JSON. The YAML parser finds lines and
 * columns in both formats, because JSON is YAML except for a few escapes. The id of the
 * subscription replaces SEED_SUBSCRIPTION in texts, and in the state and the files of a step.
 */
#include "api/testing/seed/seed_doc.h"

#include <stdlib.h>
#include <string.h>

#include "api/testing/seed/steps.h"
#include "lib/jsonread.h"
#include "lib/jsontext.h"
#include "lib/yaml.h"
#include "model/schema.h"

static const struct yaml_rules rules = {.depth_max = SEED_DEPTH_MAX};

static int read_yaml(const char *text, size_t n, json_t **out, struct err *e)
{
    struct yaml_doc doc;
    struct yaml_place at;
    if (yaml_doc_read(text, n, &rules, &doc, &at, e) < 0) {
        bool has_path = *e->target;
        err_prefix(e, "line %zu, column %zu%s%s%s", at.line, at.column, has_path ? " (" : "",
                   e->target, has_path ? ")" : "");
        *e->target = '\0';
        return -1;
    }
    *out = doc.tree ? json_incref(doc.tree) : json_object();
    yaml_doc_free(&doc);
    return 0;
}

static int read_json(const char *text, size_t n, json_t **out, struct err *e)
{
    json_error_t je;
    *out = jsonread(text, n, JSON_REJECT_DUPLICATES, &je);
    if (*out)
        return 0;
    return err_set(e, ERR_INVALID_CONTENT, NULL, "line %d, column %d: %s", je.line, je.column,
                   je.text);
}

int seed_doc_read(const char *text, size_t n, json_t **out, struct err *e)
{
    size_t blank = 0;
    while (blank < n && strchr(" \t\r\n", text[blank]))
        blank++;
    bool is_json = blank < n && text[blank] == '{';
    if (!jsontext_is_utf8(text, n))
        return err_set(e, ERR_INVALID_CONTENT, NULL, "The seed is not UTF-8.");
    int rc = (is_json ? read_json : read_yaml)(text, n, out, e);
    if (rc < 0)
        return err_prefix(e, "The seed cannot be read");
    if (json_is_object(*out))
        return 0;
    char shown[VALUE_TEXT_SIZE];
    err_set(e, ERR_INVALID_CONTENT, NULL,
            "The seed is %s; it must be a mapping with groups, roles or subscriptions.",
            value_text(*out, shown));
    json_decref(*out);
    *out = NULL;
    return -1;
}

bool seed_doc_place(const char *text, size_t n, const struct seed_path *path, size_t *line,
                    size_t *column)
{
    struct yaml_doc doc;
    struct yaml_place at;
    if (yaml_doc_read(text, n, &rules, &doc, &at, NULL) < 0)
        return false;
    yaml_doc_place(&doc, path->step, path->n, &at);
    *line = at.line;
    *column = at.column;
    yaml_doc_free(&doc);
    return true;
}

const char *seed_filled(struct arena *a, const char *text, const char *subscription)
{
    struct strbuf out = STRBUF_INIT;
    const char *end = text + strlen(text);
    /* memmem(), because strstr() with AddressSanitizer reads the whole rest of the text at each
     * call, and a large document has many calls. */
    for (const char *at;
         (at = memmem(text, (size_t)(end - text), SEED_SUBSCRIPTION, strlen(SEED_SUBSCRIPTION)));
         text = at + strlen(SEED_SUBSCRIPTION)) {
        strbuf_add(&out, text, (size_t)(at - text));
        strbuf_puts(&out, subscription);
    }
    strbuf_puts(&out, text);
    const char *kept = arena_strdup(a, out.s ? out.s : "");
    strbuf_free(&out);
    return kept;
}

const json_t *seed_state_of(struct request *r, const struct seed_step *s)
{
    const json_t *state = json_object_get(s->given, "state");
    if (!state)
        return NULL;
    char *text = jsontext(state);
    const char *with = seed_filled(&r->arena, text, s->subscription);
    free(text);
    return request_own(r, json_loads(with, JSON_DECODE_ANY, NULL));
}

const json_t *seed_files_of(struct request *r, const struct seed_step *s, const json_t *files)
{
    const char *path;
    if (!json_is_object(files)) /* seed_files_check() reports other types */
        return files;
    json_t *all = json_object(), *v;
    json_object_foreach((json_t *)files, path, v) {
        json_object_set(all, seed_filled(&r->arena, path, s->subscription), v);
    }
    return request_own(r, all);
}
