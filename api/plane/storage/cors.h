/* SPDX-License-Identifier: MIT
 *
 * Which pages of other origins a browser lets read an account's data: the CORS rules among the
 * settings of its services. The first rule that fits counts.
 * https://learn.microsoft.com/rest/api/storageservices/cross-origin-resource-sharing--cors--support-for-the-azure-storage-services
 */
#ifndef API_PLANE_STORAGE_CORS_H
#define API_PLANE_STORAGE_CORS_H

#include "api/http/request.h"
#include "api/plane/storage/routes.h"

/* OPTIONS: asked by a browser before the request itself, without any authorization. */
struct replied *plane_preflight(struct request *r);
/* For the reply to a request of a page, after its other headers; nothing if no rule fits. */
void cors_headers(struct request *r);

#endif
