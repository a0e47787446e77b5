/* SPDX-License-Identifier: MIT
 *
 * Blobs: containers, which are folders, over REST. A blob is the file that jobs see; what no file
 * can be called lies aside, in a folder of ours. Block lists, types and metadata are rows of the
 * storage. What is written becomes visible at once and whole, and is on disk before it is
 * acknowledged.
 * https://learn.microsoft.com/rest/api/storageservices/blob-service-rest-api
 */
#ifndef API_PLANE_BLOB_AZBLOB_H
#define API_PLANE_BLOB_AZBLOB_H

#include "api/plane/storage/azstorage.h"

/* Its deps are a struct azstorage. */
extern const struct service azblob_service;

#endif
