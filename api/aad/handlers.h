/* SPDX-License-Identifier: MIT
 *
 * The login service, in the shape of ADFS, which is what client libraries trust without asking the
 * public cloud: OpenID discovery and the client-credentials grant for the one service principal.
 */
#ifndef API_AAD_HANDLERS_H
#define API_AAD_HANDLERS_H

#include "api/http/request.h"

struct replied *openid_configuration(struct request *r);
struct replied *signing_keys(struct request *r);
struct replied *token_create(struct request *r);

#endif
