/* SPDX-License-Identifier: MIT
 *
 * Handles the requests of tests that read the log, and masks secrets in it.
 */
#include "api/testing/log.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/testing/routes.h"
#include "api/testing/select.h"
#include "api/testing/testing.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"

/* --- noting requests -------------------------------------------------------------------------- */

/* The text of a body for the log; NULL: there is no body, or it is too long. */
static char *shown(json_t *body)
{
    if (!body)
        return NULL;
    mask_secrets(body);
    char *text = jsontext(body);
    if (text && strlen(text) > SEEN_BODY_MAX) {
        free(text);
        text = NULL;
    }
    json_decref(body);
    return text;
}

static json_t *parsed(const char *text)
{
    return text && strlen(text) <= SEEN_BODY_MAX ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
}

void testing_end(void *ctx, const struct request *r)
{
    const struct testing *t = ctx;
    struct testing_log *log = t->log;
    if (r->injected)
        testing_faults_forget(t->faults, r);
    struct arena a;
    arena_init(&a);
    const struct request_facts told = told_of(r, whose_account_is(t->arm.storage, &a, r, r->label));
    if (!r->route)
        unknown_note(&log->unknown, r, told.subscription);
    char *asked = shown(r->body ? json_deep_copy(r->body) : NULL);
    char *answered = shown(parsed(r->shown));
    const struct seeing what = {
        .kind = {.method = r->method,
                 .operation = told.operation,
                 .service = r->service ? r->service->name : NULL,
                 .subscription = told.subscription,
                 .by = r->who ? r->who->name : NULL,
                 .fault = r->injected ? *(const int64_t *)r->injected->ctx : 0},
        .target = r->target,
        .asked = asked,
        .answered = answered,
        .time_us = r->now_us,
        .took_us = clock_now(&r->config->clock) - r->now_us,
        .status = r->status};
    seen_add(log, &what);
    free(asked);
    free(answered);
    arena_free(&a);
    expecting_hear(log);
}

/* --- asking for requests ---------------------------------------------------------------------- */

/* Handles ?after=N&max=M&method=&operation=&path=&subscription=&status= */
struct replied *seen_list(struct request *r)
{
    struct err e;
    struct selector match = {.method = request_query(r, "method"),
                             .operation = request_query(r, "operation"),
                             .path = request_query(r, "path"),
                             .subscription = request_query(r, "subscription")};
    long after, max, status;
    const struct testing_log *log = testing_of(r)->log;
    if (request_query_int(r, "after", (struct query_bounds){0, LONG_MAX, 0}, &after, &e) < 0 ||
        request_query_int(r, "max", (struct query_bounds){1, SEEN_MAX, 100}, &max, &e) < 0 ||
        request_query_int(r, "status", (struct query_bounds){100, 599, 0}, &status, &e) < 0 ||
        selector_check(r, &match, &e) < 0)
        return reply_err(r, &e);
    match.status = (int)status;
    json_t *value = seen_fitting(log, &match, after, (size_t)max);
    return reply_json(r, 200,
                      json_pack("{s:o, s:I}", "value", value, "last", (json_int_t)log->last));
}

/* ?subscription=ID: only requests in this subscription. */
struct replied *seen_forget(struct request *r)
{
    seen_drop(testing_of(r)->log, request_query(r, "subscription"));
    return reply_empty(r, 204);
}

/* --- secrets --------------------------------------------------------------------------------- */

#define MASK "..."

/* Parts of member names whose values are masked, in lower case. */
static const char *const secret_words[] = {"password",  "secret",          "accountkey",
                                           "accesskey", "privatekey",      "token",
                                           "signature", "connectionstring"};
/* Whole member names whose values are masked. */
static const char *const secret_names[] = {"key", "primary", "secondary", "sas", "accountSasToken"};

static bool has_word(const char *name)
{
    for (size_t i = 0; i < sizeof secret_words / sizeof secret_words[0]; i++)
        if (strcasestr(name, secret_words[i]))
            return true;
    return false;
}

/* Whether the member "value" of an object is secret. It is in a key, {"keyName", "value"}; in a
 * secret of a vault, {"value"} alone or with some of its attributes, contentType and tags; and in
 * the secrets of a job or cluster, {"secrets": [{"name", "value"}]}. */
static bool is_secret_value(const json_t *in, bool within_secrets)
{
    static const char *const beside[] = {"keyName", "attributes", "contentType", "tags"};
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++)
        if (json_object_get(in, beside[i]))
            return true;
    return within_secrets || json_object_size(in) == 1;
}

static bool is_secret(const json_t *in, const char *name, bool within_secrets)
{
    for (size_t i = 0; i < sizeof secret_names / sizeof secret_names[0]; i++)
        if (strcasecmp(name, secret_names[i]) == 0)
            return true;
    return has_word(name) || (strcmp(name, "value") == 0 && is_secret_value(in, within_secrets));
}

/* within_secrets: `o` is the value of a member "secrets", or inside of the value. */
static void mask(json_t *o, bool within_secrets)
{
    const char *name;
    size_t i;
    void *next;
    json_t *v;
    json_array_foreach(o, i, v)
        mask(v, within_secrets);
    json_object_foreach_safe(o, next, name, v) {
        if (json_is_string(v) && is_secret(o, name, within_secrets))
            json_object_set_new(o, name, json_string(MASK));
        else
            mask(v, within_secrets || strcasecmp(name, "secrets") == 0);
    }
}

void mask_secrets(json_t *o)
{
    mask(o, false);
}
