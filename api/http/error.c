/* SPDX-License-Identifier: MIT */
#include "api/http/error.h"

#include "lib/jsontext.h"

const struct error_words error_fault = {500, "InternalServerError", ADDS_SERVICE_CAUSE};

struct error_words error_own(const struct error_words *own, size_t n, int kind)
{
    size_t i = (size_t)(kind - ERR_OWN);
    return i < n ? own[i] : error_fault;
}

#define HTTP_ALONE(X) HTTP_ERRORS(X) NO_CORE_ERRORS(X)
ERROR_TABLE(http_words, HTTP_ALONE, NO_OWN_ERRORS)

struct error_words error_words(const struct service *s, int kind)
{
    return s && s->words ? s->words(kind) : http_words(kind);
}

/* The message is made valid UTF-8: it may quote the client's input or be cut inside a character. */
json_t *error_body(struct error_words words, const struct err *e)
{
    json_t *inner = json_object();
    json_object_set_new(inner, "code", jsontext_string(words.code));
    json_object_set_new(inner, "message", jsontext_string(e->msg));
    if (e->target[0])
        json_object_set_new(inner, "target", jsontext_string(e->target));
    return json_pack("{s:o}", "error", inner);
}
