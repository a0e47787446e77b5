/* SPDX-License-Identifier: MIT
 *
 * One-line cases for the engine: a valid body, one property changed, and what that gets.
 */
#ifndef TEST_MODEL_ACCEPT_H
#define TEST_MODEL_ACCEPT_H

#include "model/schema.h"
#include "test/unit/model/doc.h"

struct accept_case {
    const char *path, *value; /* value NULL: removed */
    enum err_code code;       /* ERR_NONE: accepted */
    const char *target;       /* NULL: the path */
    const char *says;         /* part of the message */
};

static inline void check_case(const struct schema *s, const char *base, const struct accept_case *c)
{
    json_auto_t *body = doc_parse(base), *doc = NULL, *secrets = NULL;
    struct err e = {0};
    doc_set(body, c->path, c->value);
    int rc = schema_accept(s, V_2018_05_01, body, &doc, &secrets, &e);
    const char *value = c->value ? c->value : "(removed)";
    if (c->code == ERR_NONE && rc != 0)
        fail_msg("%s = %s was refused: %s", c->path, value, e.msg);
    if (c->code != ERR_NONE) {
        const char *target = c->target ? c->target : c->path;
        if (rc == 0)
            fail_msg("%s = %s was accepted", c->path, value);
        if (e.code != (int)c->code || strcmp(e.target, target) != 0 || !strstr(e.msg, c->says))
            fail_msg("%s = %s: got code %s, target %s, message %s", c->path, value,
                     err_code_name(e.code), e.target, e.msg);
        assert_null(doc);
        assert_null(secrets);
    }
}

#define CHECK_CASES(schema, base, cases)                                                           \
    for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++)                                   \
    check_case((schema), (base), &(cases)[i])

#define OK                  ERR_NONE, NULL, NULL
#define BAD(msg)            ERR_INVALID_PROPERTY, NULL, (msg)
#define BAD_AT(at, msg)     ERR_INVALID_PROPERTY, at, msg
#define MISSING_AT(at, msg) ERR_MISSING_PROPERTY, at, msg
#define MISSING             ERR_MISSING_PROPERTY, NULL, "is missing"

#endif
