/* SPDX-License-Identifier: MIT */
#include "api/arm/batch/errors.h"

#include "lib/jsontext.h"
#include "lib/timefmt.h"

#define ALL_OWN(X) ARM_OWN(X) BATCHRM_OWN(X)
static ERROR_TABLE(table_words, ARM_ERRORS, ALL_OWN)

    /* Errors about properties of a body have other codes here than in other providers. */
    struct error_words batchrm_words(int kind)
{
    return table_words(kind == ERR_INVALID_PROPERTY   ? BATCHRM_INVALID_VALUE
                       : kind == ERR_MISSING_PROPERTY ? BATCHRM_INVALID_BODY
                                                      : kind);
}

static json_t *detail(const char *code, const char *message)
{
    return json_pack("{s:s, s:o}", "code", code, "message", jsontext_string(message));
}

struct replied *batchrm_error(struct request *r, struct error_words words, const struct err *e)
{
    char when[TIMEFMT_SIZE];
    json_t *body = error_body(words, e), *inner = json_object_get(body, "error");
    if (r->gateway_error || (words.adds & ADDS_GATEWAY_CAUSE))
        return reply_json(r, words.status, body);
    timefmt_fixed(r->now_us, when);
    json_object_set_new(inner, "message",
                        jsontext_string(arena_printf(&r->arena, "%s\nRequestId:%s\nTime:%s", e->msg,
                                                     r->request_id, when)));
    if (e->target[0])
        json_object_set_new(
            inner, "details",
            json_pack("[o, o]", detail("PropertyName", e->target), detail("Reason", e->msg)));
    return reply_json(r, words.status, body);
}
