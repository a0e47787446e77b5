/* SPDX-License-Identifier: MIT
 *
 * OpenID discovery: where a client finds the token endpoint and the signing keys.
 */
#include "api/http/request.h"
#include "api/login/routes.h"

struct replied *openid_configuration(struct request *r)
{
    const char *base = request_base(r);
    return reply_json(
        r, 200,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:[s, s], s:[s, s, s, s, s], s:[s, s], "
                  "s:[s], s:[s]}",
                  "issuer", json_sprintf("%s/adfs", base), "authorization_endpoint",
                  json_sprintf("%s/adfs/oauth2/authorize", base), "token_endpoint",
                  json_sprintf("%s/adfs/oauth2/token", base), "jwks_uri",
                  json_sprintf("%s/adfs/discovery/keys", base), "device_authorization_endpoint",
                  json_sprintf("%s/adfs/oauth2/devicecode", base),
                  "token_endpoint_auth_methods_supported", "client_secret_post",
                  "client_secret_basic", "grant_types_supported", "client_credentials", "password",
                  "refresh_token", "authorization_code",
                  "urn:ietf:params:oauth:grant-type:device_code", "response_types_supported",
                  "token", "code", "subject_types_supported", "public",
                  "id_token_signing_alg_values_supported", "HS256"));
}

/* Tokens are signed with a symmetric key that nobody else has, so there is no public key to show.
 */
struct replied *signing_keys(struct request *r)
{
    return reply_json(r, 200, json_pack("{s:[]}", "keys"));
}
