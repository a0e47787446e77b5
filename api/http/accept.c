/* SPDX-License-Identifier: MIT */
#include "api/http/accept.h"

#include "lib/jsontext.h"

int request_accept_json(struct request *r, const struct schema *s, enum api_version v, unsigned how,
                        const json_t *given, struct accepted *out, struct err *e)
{
    *out = (struct accepted){0};
    if (schema_accept_as(s, v, how, given, &out->doc, &out->secrets, e) < 0)
        return -1;
    request_own(r, out->doc);
    request_own(r, out->secrets);
    if (out->secrets)
        out->secrets_text = request_own_secret(r, jsontext(out->secrets));
    return 0;
}

int request_accept(struct request *r, const struct schema *s, unsigned how, struct accepted *out,
                   struct err *e)
{
    enum api_version v = r->version ? (enum api_version)r->version : V_ALL;
    const json_t *given = r->body ? r->body : request_own(r, json_object());
    return request_accept_json(r, s, v, how, given, out, e);
}

int request_read_body(struct request *r, const struct schema *s, void *into, struct err *e)
{
    return schema_read(s, r->body, &r->arena, into, e);
}
