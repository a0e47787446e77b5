/* SPDX-License-Identifier: MIT */
#include "api/error.h"

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

/* A message quotes what the client sent, which need not be UTF-8. */
static json_t *text(const char *s)
{
    json_t *t = json_string(s);
    return t ? t : json_string("(the text is not valid UTF-8)");
}

json_t *error_body(const struct err *e)
{
    json_t *inner = json_object();
    json_object_set_new(inner, "code", text(err_code_name(e->code)));
    json_object_set_new(inner, "message", text(e->msg));
    if (e->target[0])
        json_object_set_new(inner, "target", text(e->target));
    return json_pack("{s:o}", "error", inner);
}
