/* SPDX-License-Identifier: MIT
 *
 * Azure Files over REST: a share is a folder. Each request waits for the share's workers
 * (storage/folders/); its changes are on disk before it is acknowledged. Notes about a file (its
 * type, its metadata) are rows of the storage.
 * https://learn.microsoft.com/rest/api/storageservices/file-service-rest-api
 */
#ifndef API_PLANE_FILE_AZFILES_H
#define API_PLANE_FILE_AZFILES_H

#include "api/plane/storage/azstorage.h"

/* Its handlers' data (deps) is a struct azstorage. */
extern const struct service azfiles_service;

#endif
