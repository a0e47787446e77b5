/* SPDX-License-Identifier: MIT
 *
 * Looks each member of the object up in the table and reads it by the pointer that its row has.
 * Errors name the member with the place of its object. Pure; nothing is kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/json_members.h"
#include "lib/jsontext.h"
#include "lib/strbuf.h"
#include "model/span.h"

#define NAME_SIZE 160

/* The member that is read, and its name with where it stands. */
struct member_place {
    const struct member *member;
    char name[NAME_SIZE];
    struct err *e;
};

const char *member_value(const json_t *value, char out[MEMBER_VALUE_SIZE])
{
    char *text = NULL;
    if (!json_is_array(value) && !json_is_object(value))
        text = jsontext(value);
    snprintf(out, MEMBER_VALUE_SIZE, "%.60s%s",
             text                   ? text
             : json_is_array(value) ? "a list"
                                    : "an object",
             text && strlen(text) > 60 ? "..." : "");
    free(text);
    return out;
}

static int refuse(const struct member_place *p, const json_t *value, const char *right)
{
    char shown[MEMBER_VALUE_SIZE];
    return err_set(p->e, ERR_INVALID_PROPERTY, p->name, "%s is %s; it must be %s.", p->name,
                   member_value(value, shown), right);
}

static int read_number(const struct member_place *p, const json_t *value, int64_t *out)
{
    const struct member *m = p->member;
    char right[80];
    snprintf(right, sizeof right, "a whole number from %lld to %lld", (long long)m->min,
             (long long)m->max);
    int64_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < m->min || n > m->max)
        return refuse(p, value, right);
    *out = n;
    return 0;
}

static int read_text(const struct member_place *p, const json_t *value)
{
    const struct member *m = p->member;
    const char *text = json_string_value(value);
    if (!text)
        return refuse(p, value, m->right ? m->right : "a text");
    if (m->max > 0 && strlen(text) > (size_t)m->max)
        return err_set(p->e, ERR_INVALID_PROPERTY, p->name,
                       "%s has %zu bytes; it must have at most %lld.", p->name, strlen(text),
                       (long long)m->max);
    *m->text = text;
    return 0;
}

static int read_seconds(const struct member_place *p, const json_t *value)
{
    const struct member *m = p->member;
    char right[80];
    snprintf(right, sizeof right, "a number of seconds from %lld to %lld", (long long)m->min,
             (long long)m->max);
    double s = json_number_value(value);
    if (!json_is_number(value) || !(s >= (double)m->min && s <= (double)m->max))
        return refuse(p, value, right);
    *m->ms = (int64_t)(s * 1000);
    return 0;
}

static int read_span(const struct member_place *p, const json_t *value)
{
    const struct member *m = p->member;
    const char *text = json_string_value(value);
    int64_t us;
    char most[SPAN_SIZE], right[SPAN_SIZE + 80];
    span_text(m->max, most);
    snprintf(right, sizeof right,
             "a duration of ISO 8601, such as PT1H30M or PT0.5S, of at most %s", most);
    if (!text || span_parse(text, &us) < 0 || us < 0 || us > m->max)
        return refuse(p, value, right);
    *m->span_us = us;
    return 0;
}

static int read_one(const struct member_place *p, const json_t *value)
{
    const struct member *m = p->member;
    int64_t n = 0;
    if (m->text)
        return read_text(p, value);
    if ((m->big || m->number) && read_number(p, value, &n) < 0)
        return -1;
    if (m->big)
        *m->big = n;
    if (m->number)
        *m->number = (int)n;
    if (m->ms)
        return read_seconds(p, value);
    if (m->span_us)
        return read_span(p, value);
    if (m->flag && !json_is_boolean(value))
        return refuse(p, value, "true or false");
    if (m->flag)
        *m->flag = json_is_true(value);
    if (m->any)
        *m->any = value;
    return 0;
}

static const struct member *find(const struct member *members, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(members[i].name, name) == 0)
            return &members[i];
    return NULL;
}

static struct member_place place_of(const char *where, const char *name, struct err *e)
{
    struct member_place p = {.e = e};
    snprintf(p.name, sizeof p.name, "%.80s%s%.70s", where, *where ? "." : "", name);
    return p;
}

static int not_known(const struct member_place *p, const struct member *members, size_t n)
{
    struct strbuf all = STRBUF_INIT;
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&all, "%s%s", i ? ", " : "", members[i].name);
    int rc = err_set(p->e, ERR_INVALID_PROPERTY, p->name, "%s is not known; there are: %s.",
                     p->name, all.s);
    strbuf_free(&all);
    return rc;
}

int members_read(const json_t *o, const char *where, const struct member *members, size_t n,
                 struct err *e)
{
    const char *name;
    json_t *value;
    char shown[MEMBER_VALUE_SIZE];
    if (o && !json_is_object(o))
        return err_set(e, ERR_INVALID_PROPERTY, where, "%s is %s; it must be an object.",
                       *where ? where : "The body", member_value(o, shown));
    json_object_foreach((json_t *)(uintptr_t)o, name, value) {
        struct member_place p = place_of(where, name, e);
        p.member = find(members, n, name);
        if (!p.member)
            return not_known(&p, members, n);
        if (read_one(&p, value) < 0)
            return -1;
    }
    for (size_t i = 0; i < n; i++) {
        const struct member_place p = place_of(where, members[i].name, e);
        if (members[i].needed && !json_object_get(o, members[i].name))
            return err_set(e, ERR_MISSING_PROPERTY, p.name, "%s is missing.", p.name);
    }
    return 0;
}
