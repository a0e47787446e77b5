/* SPDX-License-Identifier: MIT
 *
 * The certificate of a TLS handshake: by the name that the client asks for.
 */
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

#include "api/http/http_priv.h"

void server_pick_certificate(const struct api *api, gnutls_session_t tls, gnutls_pcert_st **chain,
                             unsigned *n, gnutls_privkey_t *key)
{
    char name[256];
    size_t size = sizeof name;
    unsigned type;
    if (gnutls_server_name_get(tls, name, &size, &type, 0) < 0 || type != GNUTLS_NAME_DNS)
        name[0] = '\0';
    api->config.certs.pick(api->config.certs.ctx, name, chain, n, key);
}
