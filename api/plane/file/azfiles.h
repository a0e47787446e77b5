/* SPDX-License-Identifier: MIT
 *
 * Azure Files over REST: a share is a folder. The workers of the share (storage/folders/) do the
 * work of a request; its changes are on disk before the reply. Notes about a file (its type, its
 * metadata) are rows of the storage.
 * https://learn.microsoft.com/rest/api/storageservices/file-service-rest-api
 */
#ifndef API_PLANE_FILE_AZFILES_H
#define API_PLANE_FILE_AZFILES_H

#include "api/plane/storage/azstorage.h"

/* Its handlers' data (deps) is a struct azstorage. */
extern const struct service azfiles_service;

#endif
