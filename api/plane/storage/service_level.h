/* SPDX-License-Identifier: MIT
 *
 * Operations on the account and the service, which the data planes share.
 */
#ifndef API_PLANE_STORAGE_SERVICE_LEVEL_H
#define API_PLANE_STORAGE_SERVICE_LEVEL_H

#include "api/plane/storage/data_plane.h"
#include "api/plane/storage/routes.h"

struct replied *plane_account(struct request *r);
struct replied *plane_service(struct request *r);
struct replied *plane_set_service(struct request *r);
struct replied *plane_delegate(struct request *r);

#endif
