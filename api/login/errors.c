/* SPDX-License-Identifier: MIT */
#include "api/login/errors.h"

#include "api/http/request.h"
#include "lib/jsontext.h"

#define AAD_ERRORS(X) HTTP_ERRORS(X) NO_CORE_ERRORS(X)
ERROR_TABLE(aad_words, AAD_ERRORS, AAD_OWN)

struct replied *oauth_error(struct request *r, int status, const char *error,
                            const char *description)
{
    return reply_json(r, status,
                      json_pack("{s:s, s:o, s:s}", "error", error, "error_description",
                                jsontext_string(description), "correlation_id", r->correlation_id));
}

/* All bodies are forms. The error of a malformed form (ERR_INVALID_CONTENT) has the shape of OAuth,
 * as clients of the token endpoint expect. */
struct replied *aad_error(struct request *r, struct error_words words, const struct err *e)
{
    if (e->code == ERR_INVALID_CONTENT)
        return oauth_error(r, words.status, "invalid_request", e->msg);
    return reply_json(r, words.status, error_body(words, e));
}
