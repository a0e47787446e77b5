/* SPDX-License-Identifier: MIT
 *
 * Operations on the account and the service, which the data planes share.
 */
#ifndef API_AZSTORAGE_SERVICE_LEVEL_H
#define API_AZSTORAGE_SERVICE_LEVEL_H

#include "api/azstorage/plane.h"

struct replied *plane_account(struct request *r);
struct replied *plane_service(struct request *r);
struct replied *plane_set_service(struct request *r);
struct replied *plane_delegate(struct request *r);

#define DELEGATION_KEY_BYTES 32
/* The key that a login was given to sign with, from what each signature says of it; nothing is
 * kept. `secret`: the daemon's. */
void delegation_key(const uint8_t secret[32], const struct sas *s,
                    unsigned char out[DELEGATION_KEY_BYTES]);

#endif
