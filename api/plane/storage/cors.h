/* SPDX-License-Identifier: MIT
 *
 * CORS rules in the settings of an account's services: they list the origins whose pages may read
 * the account's data in a browser. The first matching rule counts.
 * https://learn.microsoft.com/rest/api/storageservices/cross-origin-resource-sharing--cors--support-for-the-azure-storage-services
 */
#ifndef API_PLANE_STORAGE_CORS_H
#define API_PLANE_STORAGE_CORS_H

#include "api/http/request.h"
#include "api/plane/storage/routes.h"

/* OPTIONS: a browser sends it before the real request, without any authorization. */
struct replied *plane_preflight(struct request *r);
/* Adds headers to the reply for a page, after its other headers; none if no rule matches. */
void cors_headers(struct request *r);

#endif
