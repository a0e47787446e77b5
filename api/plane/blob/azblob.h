/* SPDX-License-Identifier: MIT
 *
 * Blobs over REST: a container is a folder, and a blob is the file that jobs see. A blob whose name
 * cannot be a file's name has its file in a hidden folder ("aside"). Block lists, types and
 * metadata are rows of the storage. A write becomes visible as a whole, in one step, and is on disk
 * before the reply. https://learn.microsoft.com/rest/api/storageservices/blob-service-rest-api
 */
#ifndef API_PLANE_BLOB_AZBLOB_H
#define API_PLANE_BLOB_AZBLOB_H

#include "api/plane/storage/azstorage.h"

/* Its handlers' data (deps) is a struct azstorage. */
extern const struct service azblob_service;

#endif
