/* SPDX-License-Identifier: MIT */
#include "api/http/form.h"

#include <string.h>

#include "api/http/url.h"
#include "lib/jsontext.h"

const char *form_value(const struct form *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->field[i].name, name) == 0)
            return f->field[i].value;
    return NULL;
}

/* Decodes a form's text. NULL: *why is the reason. */
static const char *decode(struct arena *a, const char *s, size_t n, const char **why)
{
    char *text = url_decode_form(a, s, n);
    *why = !text ? "a malformed percent escape, or one for NUL" : "bytes that are not UTF-8";
    return text && jsontext_is_utf8(text, strlen(text)) ? text : NULL;
}

static int add(struct form *f, const struct form_field *field, struct err *e)
{
    if (f->n == FORM_FIELDS_MAX)
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "The form has more than %d fields, which is the limit.", FORM_FIELDS_MAX);
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->field[i].name, field->name) == 0)
            return err_set(e, ERR_INVALID_CONTENT, NULL,
                           "The form's fields %zu and %zu have the same name; each may be there "
                           "once.",
                           i + 1, f->n + 1);
    f->field[f->n++] = *field;
    return 0;
}

static int take(struct arena *a, const char *s, size_t n, struct form *f, struct err *e)
{
    const char *eq = memchr(s, '=', n), *end = s + n, *why;
    struct form_field field = {.name = decode(a, s, (size_t)((eq ? eq : end) - s), &why),
                               .value = ""};
    if (field.name && eq)
        field.value = decode(a, eq + 1, (size_t)(end - eq - 1), &why);
    if (!field.name || !field.value)
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "The body is not a form (application/x-www-form-urlencoded) of UTF-8 text: "
                       "the %s of field %zu has %s.",
                       field.name ? "value" : "name", f->n + 1, why);
    return add(f, &field, e);
}

int form_decode(struct arena *a, const char *s, size_t n, struct form *out, struct err *e)
{
    out->n = 0;
    if (n == 0)
        return 0;
    if (memchr(s, '\0', n))
        return err_set(e, ERR_INVALID_CONTENT, NULL,
                       "The body is not a form (application/x-www-form-urlencoded): it has a NUL "
                       "byte.");
    for (const char *p = s, *end = s + n; p < end;) {
        const char *amp = memchr(p, '&', (size_t)(end - p)), *stop = amp ? amp : end;
        if (stop > p && take(a, p, (size_t)(stop - p), out, e) < 0)
            return -1;
        p = stop + 1;
    }
    return 0;
}
