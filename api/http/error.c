/* SPDX-License-Identifier: MIT */
#include "api/http/error.h"

#include "lib/jsontext.h"

#define STATUS(symbol, status, code) [symbol] = status,
static const int statuses[ERR_CODES] = {ERR_TABLE(STATUS)};
#undef STATUS

int error_status(enum err_code code)
{
    return code < ERR_CODES ? statuses[code] : 500;
}

int error_is_gateway(enum err_code code)
{
    static const enum err_code gateway[] = {
        ERR_SUBSCRIPTION_NOT_FOUND, ERR_GROUP_NOT_FOUND,    ERR_RESOURCE_NOT_FOUND,
        ERR_ROUTE_NOT_FOUND,        ERR_METHOD_NOT_ALLOWED, ERR_MISSING_API_VERSION,
        ERR_UNKNOWN_API_VERSION,    ERR_NO_TOKEN,           ERR_INVALID_TOKEN,
        ERR_EXPIRED_TOKEN,          ERR_BODY_TOO_LARGE,     ERR_PROVIDER_NOT_FOUND,
    };
    for (size_t i = 0; i < sizeof gateway / sizeof gateway[0]; i++)
        if (gateway[i] == code)
            return 1;
    return 0;
}

/* A message quotes what the client sent, which need not be UTF-8, and may be cut inside a
 * character.
 */
json_t *error_body(struct error_words words, const struct err *e)
{
    json_t *inner = json_object();
    json_object_set_new(inner, "code", jsontext_string(words.code));
    json_object_set_new(inner, "message", jsontext_string(e->msg));
    if (e->target[0])
        json_object_set_new(inner, "target", jsontext_string(e->target));
    return json_pack("{s:o}", "error", inner);
}
