/* SPDX-License-Identifier: MIT
 *
 * The input side of the engine: a request body becomes a canonical document and its secrets.
 *
 * The depth of the recursion depends on the tables and never on the body, so a deeply nested body
 * is harmless. Secrets stay in the document until all rules have been applied, and are moved out
 * last.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/jsonread.h"
#include "lib/timefmt.h"
#include "model/home.h"
#include "model/schema_priv.h"
#include "model/schema_rows.h"
#include "model/span.h"
#include "model/spec.h"

struct acceptor {
    enum api_version v;
    unsigned how; /* enum schema_how */
    bool *secret; /* set to true by the first accepted secret */
    struct err *e;
};

/* How many levels of a partial body are merged into the stored document: the top level and
 * "properties". */
enum { MERGED_LEVELS = 2 };

static int accept_object(const struct acceptor *c, const struct schema *s, const json_t *in,
                         const struct doc_place *at, int level, json_t **out);
static int accept_value(const struct acceptor *c, const struct field *f, const json_t *in,
                        const struct doc_place *at, int level, json_t **out);

static void expect_string(const struct field *f, char *out, size_t size)
{
    if (f->max && f->min)
        snprintf(out, size, "a string of %ld to %ld bytes", f->min, f->max);
    else if (f->max)
        snprintf(out, size, "a string of at most %ld bytes", f->max);
    else
        snprintf(out, size, f->min ? "a string that is not empty" : "a string");
}

static void expect_duration(const struct field *f, char *out, size_t size)
{
    char least[SPAN_SIZE], most[SPAN_SIZE];
    span_text(f->min * INT64_C(1000000), least);
    span_text(f->max * INT64_C(1000000), most);
    if (f->min && f->max)
        snprintf(out, size, "an ISO 8601 duration from %s to %s", least, most);
    else if (f->min)
        snprintf(out, size, "an ISO 8601 duration of at least %s", least);
    else if (f->max)
        snprintf(out, size, "an ISO 8601 duration of at most %s, such as PT1H30M or PT0.5S", most);
    else
        snprintf(out, size, "an ISO 8601 duration longer than zero, such as P7D or PT1H30M");
}

/* The expected value, for messages. */
static void expect_text(const struct field *f, char *out, size_t size)
{
    char names[200];
    if (f->expected) {
        snprintf(out, size, "%s", f->expected);
        return;
    }
    switch (f->kind) {
    case FIELD_STRING:
        expect_string(f, out, size);
        return;
    case FIELD_INT:
        snprintf(out, size, "an integer from %ld to %ld", f->min, f->max ? f->max : INT32_MAX);
        return;
    case FIELD_REAL:
        if (f->max)
            snprintf(out, size, "a number from %ld to %ld", f->min, f->max);
        else
            snprintf(out, size, "a number");
        return;
    case FIELD_BOOL:
        snprintf(out, size, "true or false");
        return;
    case FIELD_ENUM:
        enum_list(f->values, names, sizeof names);
        snprintf(out, size, "%s", names);
        return;
    case FIELD_OBJECT:
    case FIELD_FREE:
        snprintf(out, size, f->flags & FIELD_BARE ? "a string or an object" : "an object");
        return;
    case FIELD_ARRAY:
        snprintf(out, size, "an array of objects");
        return;
    case FIELD_STRINGS:
        snprintf(out, size, "an array of strings");
        return;
    case FIELD_MAP:
        snprintf(out, size, "an object whose values are strings");
        return;
    case FIELD_DURATION:
        expect_duration(f, out, size);
        return;
    case FIELD_TIME:
        snprintf(out, size, "an ISO 8601 date and time, such as 2026-01-31T18:00:00Z");
        return;
    }
}

static const char *type_text(const json_t *v)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a number",  [JSON_TRUE] = "a boolean",
        [JSON_FALSE] = "a boolean",    [JSON_NULL] = "null",
    };
    return names[json_typeof(v)];
}

/* True: an error message may contain the value of this property. Of a secret, or of a value where
 * an object or array is expected, which may contain secrets, messages contain only the type. */
static bool showable(const struct field *f)
{
    return !(f->flags & FIELD_SECRET) && f->kind != FIELD_OBJECT && f->kind != FIELD_ARRAY;
}

static int refuse(const struct acceptor *c, const struct field *f, const struct doc_place *at,
                  const json_t *value)
{
    char path[PLACE_SIZE], shown[VALUE_TEXT_SIZE], expected[260];
    place_text(at, false, path);
    expect_text(f, expected, sizeof expected);
    if (showable(f))
        value_text(value, shown);
    else
        snprintf(shown, sizeof shown, "%s", type_text(value));
    if (f->kind == FIELD_ENUM && !json_is_string(value)) {
        char names[260];
        snprintf(names, sizeof names, "%s", expected);
        snprintf(expected, sizeof expected, "the string %.240s", names);
    }
    if ((f->flags & FIELD_SECRET) && json_is_string(value))
        snprintf(shown, sizeof shown, "too short or too long (its value is not shown)");
    return err_set(c->e, ERR_INVALID_PROPERTY, path, "%s is %s; it must be %s", path, shown,
                   expected);
}

static int refuse_missing(const struct acceptor *c, const struct field *f,
                          const struct doc_place *at)
{
    char path[PLACE_SIZE], expected[260];
    place_text(at, false, path);
    expect_text(f, expected, sizeof expected);
    return err_set(c->e, ERR_MISSING_PROPERTY, path, "%s is missing; it must be %s", path,
                   expected);
}

/* Returns a new reference to a value that is accepted unchanged. */
static json_t *as_given(const json_t *in)
{
    return json_incref((json_t *)(uintptr_t)in); /* json_incref() takes no pointer to const */
}

static json_t *cased_string(const char *s, int (*cased)(int c))
{
    char *copy = xstrdup(s);
    for (char *p = copy; *p; p++)
        *p = (char)cased((unsigned char)*p);
    json_t *v = json_string_nocheck(copy);
    free(copy);
    return v;
}

static int accept_string(const struct acceptor *c, const struct field *f, const json_t *in,
                         const struct doc_place *at, json_t **out)
{
    if (!json_is_string(in))
        return refuse(c, f, at, in);
    size_t len = json_string_length(in);
    if (len < (size_t)f->min || (f->max && len > (size_t)f->max))
        return refuse(c, f, at, in);
    const char *s = json_string_value(in);
    char *id = (f->flags & FIELD_ID) && (c->v & V_FLAT) ? home_long_id(s) : NULL;
    if (id)
        *out = json_string_nocheck(id);
    else if (f->flags & (FIELD_UPPER | FIELD_LOWER))
        *out = cased_string(s, f->flags & FIELD_UPPER ? toupper : tolower);
    else
        *out = as_given(in);
    free(id);
    return 0;
}

/* Reads an integer, or a text such as "3" if c->how permits it. */
static bool read_int(const struct acceptor *c, const json_t *in, json_int_t *out)
{
    const char *text = c->how & SCHEMA_TEXT_NUMBERS ? json_string_value(in) : NULL;
    char *end = NULL;
    errno = 0;
    *out = text ? strtoll(text, &end, 10) : json_integer_value(in);
    return text ? errno == 0 && end != text && !*end : json_is_integer(in);
}

static int accept_int(const struct acceptor *c, const struct field *f, const json_t *in,
                      const struct doc_place *at, json_t **out)
{
    json_int_t max = f->max ? f->max : INT32_MAX, n;
    if (!read_int(c, in, &n) || n < f->min || n > max)
        return refuse(c, f, at, in);
    *out = json_integer(n);
    return 0;
}

static int accept_real(const struct acceptor *c, const struct field *f, const json_t *in,
                       const struct doc_place *at, json_t **out)
{
    double n = json_number_value(in);
    if (!json_is_number(in) || (f->max && !(n >= (double)f->min && n <= (double)f->max)))
        return refuse(c, f, at, in);
    *out = as_given(in);
    return 0;
}

static int accept_time(const struct acceptor *c, const struct field *f, const json_t *in,
                       const struct doc_place *at, json_t **out)
{
    char text[TIMEFMT_SIZE];
    int64_t us;
    if (!json_is_string(in) || timefmt_parse_offset(json_string_value(in), &us) < 0)
        return refuse(c, f, at, in);
    timefmt_exact(us, text);
    *out = json_string_nocheck(text);
    return 0;
}

static int accept_enum(const struct acceptor *c, const struct field *f, const json_t *in,
                       const struct doc_place *at, json_t **out)
{
    int value = json_is_string(in) ? enum_from_name(f->values, json_string_value(in)) : 0;
    if (!value)
        return refuse(c, f, at, in);
    *out = json_string_nocheck(enum_to_name(f->values, value));
    return 0;
}

static int accept_span(const struct acceptor *c, const struct field *f, const json_t *in,
                       const struct doc_place *at, json_t **out)
{
    char text[SPAN_SIZE];
    int64_t us, least = f->min * INT64_C(1000000), most = f->max * INT64_C(1000000);
    if (!json_is_string(in) || span_parse(json_string_value(in), &us) < 0 || us < least ||
        (most > 0 && us > most))
        return refuse(c, f, at, in);
    span_text(us, text);
    *out = json_string_nocheck(text);
    return 0;
}

static int accept_duration(const struct acceptor *c, const struct field *f, const json_t *in,
                           const struct doc_place *at, json_t **out)
{
    int64_t us;
    if (c->how & SCHEMA_SPANS)
        return accept_span(c, f, in, at, out);
    if (!json_is_string(in) || duration_parse(json_string_value(in), &us) < 0 || us <= 0)
        return refuse(c, f, at, in);
    *out = as_given(in);
    return 0;
}

static int too_many(const struct acceptor *c, const struct field *f, const struct doc_place *at,
                    size_t n)
{
    char path[PLACE_SIZE];
    place_text(at, false, path);
    return err_set(c->e, ERR_INVALID_PROPERTY, path, "%s has %zu items; at most %ld are allowed",
                   path, n, f->max);
}

static int accept_array(const struct acceptor *c, const struct field *f, const json_t *in,
                        const struct doc_place *at, int level, json_t **out)
{
    if (!json_is_array(in))
        return refuse(c, f, at, in);
    size_t n = json_array_size(in);
    if (f->max && n > (size_t)f->max)
        return too_many(c, f, at, n);
    const struct field item_field = {.name = f->name,
                                     .kind = f->kind == FIELD_ARRAY ? FIELD_OBJECT
                                             : f->values            ? FIELD_ENUM
                                                                    : FIELD_STRING,
                                     .flags = f->flags & FIELD_BARE,
                                     .sub = f->sub,
                                     .values = f->values,
                                     .min = 1};
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct doc_place item_at = {.up = at, .index = i};
        json_t *item = NULL;
        if (accept_value(c, &item_field, json_array_get(in, i), &item_at, level, &item) < 0) {
            json_decref(list);
            return -1;
        }
        json_array_append_new(list, item);
    }
    *out = list;
    return 0;
}

/* Accepts an object. With FIELD_BARE, a string is accepted in its place, as the value of the
 * object's first property. */
static int accept_nested(const struct acceptor *c, const struct field *f, const json_t *in,
                         const struct doc_place *at, int level, json_t **out)
{
    json_auto_t *bare = f->flags & FIELD_BARE && json_is_string(in)
                            ? json_pack("{s:O}", f->sub->fields[0].name, in)
                            : NULL;
    if (!bare && !json_is_object(in))
        return refuse(c, f, at, in);
    return accept_object(c, f->sub, bare ? bare : in, at, level + 1, out);
}

/* Accepts an object of strings, such as tags. The two limits are those of Azure Resource
 * Manager. */
static int accept_map(const struct acceptor *c, const struct field *f, const json_t *in,
                      const struct doc_place *at, json_t **out)
{
    enum { MAX_KEY = 512, MAX_VALUE = 256 };
    const bool own = c->how & SCHEMA_OWN;
    const struct field value_field = TEXT(NULL, .max = own ? 0 : MAX_VALUE);
    if (!json_is_object(in))
        return refuse(c, f, at, in);
    if (f->max && json_object_size(in) > (size_t)f->max)
        return too_many(c, f, at, json_object_size(in));
    json_t *map = json_object();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)in, key, value) {
        const struct doc_place entry_at = {.up = at, .name = key, .canon = key};
        json_t *copy = NULL;
        int rc = 0;
        if (json_is_null(value) && !own)
            continue;
        if (!own && (!*key || strlen(key) > MAX_KEY))
            rc = err_set(c->e, ERR_INVALID_PROPERTY, f->name,
                         "%s has a name of %zu bytes; names must have 1 to %d bytes", f->name,
                         strlen(key), MAX_KEY);
        else
            rc = accept_string(c, &value_field, value, &entry_at, &copy);
        if (rc < 0) {
            json_decref(map);
            return -1;
        }
        json_object_set_new_nocheck(map, key, copy);
    }
    *out = map;
    return 0;
}

static int accept_kind(const struct acceptor *c, const struct field *f, const json_t *in,
                       const struct doc_place *at, int level, json_t **out)
{
    switch (f->kind) {
    case FIELD_STRING:
        return accept_string(c, f, in, at, out);
    case FIELD_INT:
        return accept_int(c, f, in, at, out);
    case FIELD_BOOL:
        if (!json_is_boolean(in))
            return refuse(c, f, at, in);
        *out = json_boolean(json_is_true(in));
        return 0;
    case FIELD_ENUM:
        return accept_enum(c, f, in, at, out);
    case FIELD_OBJECT:
        return accept_nested(c, f, in, at, level, out);
    case FIELD_ARRAY:
    case FIELD_STRINGS:
        return accept_array(c, f, in, at, level + 1, out);
    case FIELD_MAP:
        return accept_map(c, f, in, at, out);
    case FIELD_DURATION:
        return accept_duration(c, f, in, at, out);
    case FIELD_TIME:
        return accept_time(c, f, in, at, out);
    case FIELD_REAL:
        return accept_real(c, f, in, at, out);
    case FIELD_FREE:
        if (!json_is_object(in))
            break;
        *out = as_given(in);
        return 0;
    }
    return refuse(c, f, at, in);
}

static int accept_value(const struct acceptor *c, const struct field *f, const json_t *in,
                        const struct doc_place *at, int level, json_t **out)
{
    *out = NULL;
    if (accept_kind(c, f, in, at, level, out) < 0)
        return -1;
    assert(*out);
    if (!f->check)
        return 0;
    /* Most checks succeed, so the place is converted to text, for a second call, only after a
     * failure. */
    struct err unplaced;
    if (f->check(*out, "", &unplaced) == 0)
        return 0;
    char path[PLACE_SIZE];
    place_text(at, false, path);
    if (f->check(*out, path, c->e) == 0)
        return 0;
    json_decref(*out);
    *out = NULL;
    return -1;
}

/* True: the value counts as absent and is not stored. This applies to an empty object, list or
 * secret whose row lacks FIELD_KEEP_EMPTY. Without such values, documents can be compared. */
static bool is_nothing(const struct field *f, const json_t *v)
{
    if (f->flags & FIELD_KEEP_EMPTY)
        return false;
    if (f->flags & FIELD_SECRET)
        return json_string_length(v) == 0;
    return (json_is_object(v) && json_object_size(v) == 0) ||
           (json_is_array(v) && json_array_size(v) == 0);
}

/* True: the client sent an empty text for the value of an enum, as Terraform's azurerm does for a
 * missing value. The resource manager of Azure Batch treats it as absent; the data plane refuses
 * it. */
static bool is_blank(const struct acceptor *c, const struct field *f, const json_t *given)
{
    unsigned kinds = c->how & (SCHEMA_TEXT_NUMBERS | SCHEMA_KNOWN);
    return kinds == SCHEMA_TEXT_NUMBERS && f->kind == FIELD_ENUM && json_is_string(given) &&
           json_string_length(given) == 0;
}

/* Accepts one property. An absent property gets its default; if it has none and is required, it is
 * an error. A default is accepted like a value from the user, so that defaults inside it are set
 * too. */
static int accept_field(const struct acceptor *c, const struct field *f, const json_t *in,
                        const struct doc_place *up, int level, json_t *out)
{
    const char *canon = field_canon(f);
    const struct doc_place at = {.up = up, .name = f->name, .canon = canon};
    const json_t *given = json_object_get(in, f->name);
    json_t *fallback = NULL, *value = NULL;
    if (!given || (json_is_null(given) && !(c->how & SCHEMA_OWN)) || is_blank(c, f, given)) {
        if (!f->fallback && !(f->flags & FIELD_REQUIRED))
            return 0;
        bool merged = (c->how & SCHEMA_PARTIAL) && level < MERGED_LEVELS;
        if (merged || json_object_get(out, canon))
            return 0;
        if (!f->fallback)
            return refuse_missing(c, f, &at);
        given = fallback = jsonread_text(f->fallback, JSON_DECODE_ANY, NULL);
        assert(given); /* defaults in the tables are valid JSON */
    }
    int rc = accept_value(c, f, given, &at, level, &value);
    json_decref(fallback);
    if (rc < 0)
        return -1;
    if (f->flags & FIELD_SECRET)
        *c->secret = true;
    if ((f->flags & FIELD_DISCARD) || is_nothing(f, value))
        json_decref(value);
    else
        json_object_set_new_nocheck(out, canon, value);
    return 0;
}

static bool is_property(const struct acceptor *c, const struct schema *s, const char *name)
{
    for (size_t i = 0; i < s->n_fields; i++)
        if (field_known(&s->fields[i], c->v) && strcmp(s->fields[i].name, name) == 0)
            return true;
    return false;
}

static int refuse_unknown(const struct acceptor *c, const struct schema *s, const char *path)
{
    struct strbuf names = STRBUF_INIT;
    for (size_t i = 0; i < s->n_fields; i++)
        strbuf_concat(&names, i ? ", " : "", s->fields[i].name);
    int rc =
        err_set(c->e, ERR_INVALID_PROPERTY, path, "%s is not known; there are: %s", path, names.s);
    strbuf_free(&names);
    return rc;
}

/* Refuses unknown properties. Without SCHEMA_OWN, names of OData, such as odata.type, are
 * permitted, although they are not properties. */
static int check_names(const struct acceptor *c, const struct schema *s, const json_t *in,
                       const struct doc_place *up)
{
    const char *name;
    json_t *value;
    char path[PLACE_SIZE];
    json_object_foreach((json_t *)(uintptr_t)in, name, value) {
        const struct doc_place at = {.up = up, .name = name, .canon = name};
        if (is_property(c, s, name))
            continue;
        place_text(&at, false, path);
        if (c->how & SCHEMA_OWN)
            return refuse_unknown(c, s, path);
        if (strncmp(name, "odata.", 6) == 0 || strchr(name, '@'))
            continue;
        return err_set(c->e, ERR_INVALID_CONTENT, path,
                       "The property '%.100s' does not exist on type '%s'. Make sure to only use "
                       "property names that are defined by the type.",
                       name, s->name);
    }
    return 0;
}

static int accept_object(const struct acceptor *c, const struct schema *s, const json_t *in,
                         const struct doc_place *at, int level, json_t **out)
{
    json_t *obj = json_object();
    int rc = (c->how & (SCHEMA_KNOWN | SCHEMA_OWN)) != 0 ? check_names(c, s, in, at) : 0;
    for (size_t i = 0; i < s->n_fields && rc == 0; i++) {
        const struct field *f = &s->fields[i];
        if (!(f->flags & FIELD_READONLY) && field_known(f, c->v))
            rc = accept_field(c, f, in, at, level, obj);
    }
    if (rc == 0 && s->check && !((c->how & SCHEMA_PARTIAL) && level < MERGED_LEVELS)) {
        char path[PLACE_SIZE];
        place_text(at, false, path);
        rc = s->check(obj, path, c->e);
    }
    if (rc < 0) {
        json_decref(obj);
        return -1;
    }
    *out = obj;
    return 0;
}

static int accept(const struct schema *s, struct acceptor c, const json_t *body, json_t **doc,
                  json_t **secrets)
{
    bool secret = false;
    c.secret = &secret;
    *doc = *secrets = NULL;
    if (!json_is_object(body))
        return err_set(c.e, ERR_INVALID_PROPERTY, "", "the body is %s; it must be an object",
                       body ? type_text(body) : "empty");
    if (accept_object(&c, s, body, NULL, 0, doc) < 0)
        return -1;
    if (secret)
        schema_take_secrets(s, *doc, NULL, secrets);
    return 0;
}

int schema_accept(const struct schema *s, enum api_version v, const json_t *body, json_t **doc,
                  json_t **secrets, struct err *e)
{
    return accept(s, (struct acceptor){.v = v, .e = e}, body, doc, secrets);
}

int schema_accept_partial(const struct schema *s, enum api_version v, const json_t *body,
                          json_t **doc, json_t **secrets, struct err *e)
{
    return schema_accept_as(s, v, SCHEMA_PARTIAL, body, doc, secrets, e);
}

int schema_accept_as(const struct schema *s, enum api_version v, unsigned how, const json_t *body,
                     json_t **doc, json_t **secrets, struct err *e)
{
    return accept(s, (struct acceptor){.v = v, .how = how, .e = e}, body, doc, secrets);
}

int schema_read(const struct schema *s, const json_t *body, struct arena *a, void *into,
                struct err *e)
{
    const struct acceptor c = {.v = V_ALL, .how = SCHEMA_OWN | SCHEMA_SPANS, .e = e};
    json_auto_t *none = json_object(), *doc = NULL, *secrets = NULL;
    if (accept(s, c, body ? body : none, &doc, &secrets) < 0)
        return -1;
    schema_put_secrets(doc, secrets);
    schema_decode(s, a, doc, into);
    return 0;
}
