/* SPDX-License-Identifier: MIT
 *
 * The error message of a seed: the place in the seed's text, and the message of the handler that
 * refused the step.
 */
#include <stdio.h>
#include <string.h>

#include "api/testing/seed/steps.h"

/* Adds "properties.mounts[2].name" to the path, as far as there is room. */
static void add_target(struct arena *a, const char *target, struct seed_path *at)
{
    for (const char *p = target; *p && at->n < SEED_STEPS_MAX;) {
        size_t n = strcspn(p, ".[]");
        if (n > 0)
            at->step[at->n++] = arena_strndup(a, p, n);
        p += n;
        p += strspn(p, ".[]");
    }
}

static const char *path_text(struct arena *a, const struct seed_path *at)
{
    const char *text = "";
    for (size_t i = 0; i < at->n; i++)
        text = arena_concat(a, text, i ? "." : "", at->step[i]);
    return text;
}

void seed_say_place(struct request *r, const struct seed_path *of, struct err *e)
{
    struct seed_path at = *of;
    size_t line, column;
    add_target(&r->arena, e->target, &at);
    const char *path = path_text(&r->arena, &at);
    if (seed_doc_place(r->raw.s, r->raw.len, &at, &line, &column))
        err_prefix(e, "line %zu, column %zu (%.400s)", line, column, path);
    else
        err_prefix(e, "%.400s", path);
    snprintf(e->target, sizeof e->target, "%.150s", path);
}

/* Joins the reasons for wrong values. Azure Batch puts them into separate members; its message
 * contains only a general sentence, with the request's id and time on further lines. */
static const char *reasons(struct arena *a, const json_t *values)
{
    const char *text = "";
    size_t i;
    json_t *v;
    json_array_foreach(values, i, v) {
        const char *key = json_string_value(json_object_get(v, "key"));
        const char *value = json_string_value(json_object_get(v, "value"));
        if (key && value)
            text = arena_concat(a, text, "; ", key, ": ", value);
    }
    return text;
}

void seed_answer_read(struct arena *a, const struct request *inner, struct err *e)
{
    const char *text = request_inner_body(inner), *message = NULL, *target = NULL;
    json_t *body = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *error = json_object_get(body, "error");
    const json_t *said = json_object_get(error ? error : body, "message");
    if (json_is_object(said)) /* a message of Azure Batch is an object */
        said = json_object_get(said, "value");
    message = json_string_value(said);
    target = json_string_value(json_object_get(error, "target"));
    int code = inner->status == 409   ? ERR_CONFLICT
               : inner->status == 503 ? ERR_UNAVAILABLE
               : inner->status >= 500 ? ERR_INTERNAL
                                      : ERR_INVALID_PROPERTY;
    if (!message)
        message = "its request was refused";
    err_set(e, code, target, "%.*s%s (status %d)", (int)strcspn(message, "\n"), message,
            reasons(a, json_object_get(body, "values")), inner->status);
    json_decref(body);
}
