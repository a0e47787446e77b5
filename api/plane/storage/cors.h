/* SPDX-License-Identifier: MIT
 *
 * CORS rules in the settings of an account's services: they list the origins whose pages may read
 * the account's data in a browser. The first rule that matches is applied.
 * https://learn.microsoft.com/rest/api/storageservices/cross-origin-resource-sharing--cors--support-for-the-azure-storage-services
 */
#ifndef API_PLANE_STORAGE_CORS_H
#define API_PLANE_STORAGE_CORS_H

#include "api/http/request.h"
#include "api/plane/storage/routes.h"

/* Handles OPTIONS, which a browser sends before the real request, without credentials. */
struct replied *plane_preflight(struct request *r);
/* Adds CORS headers to a reply that has all other headers; adds no headers if no rule matches. */
void cors_headers(struct request *r);

#endif
