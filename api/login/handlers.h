/* SPDX-License-Identifier: MIT
 *
 * The login service, in the shape of ADFS, which is what client libraries trust without asking the
 * public cloud: OpenID discovery, tokens, and a page for those who log in with a browser.
 */
#ifndef API_LOGIN_HANDLERS_H
#define API_LOGIN_HANDLERS_H

#include "api/http/request.h"

struct replied *openid_configuration(struct request *r);
struct replied *signing_keys(struct request *r);
struct replied *token_create(struct request *r);
struct replied *device_create(struct request *r);
struct replied *device_page(struct request *r);
struct replied *device_confirm(struct request *r);
struct replied *authorize_page(struct request *r);
struct replied *authorize_confirm(struct request *r);

#endif
