/* SPDX-License-Identifier: MIT
 *
 * Blobs as a service: its routes, and the permission that each needs.
 */
#include "api/plane/blob/azblob.h"
#include "api/plane/blob/handlers.h"
#include "api/plane/storage/cors.h"
#include "api/plane/storage/service_level.h"

#define ANY          "/{container}?restype=container"
#define BLOB         "/{container}/{path*}?restype="
#define ANY_ACCOUNT  "/{container}?restype=account&comp=properties"
#define BLOB_ACCOUNT "/{container}/{path*}?restype=account&comp=properties"
#define BLOCKLIST    ROUTE_XML | ROUTE_BODY_KIB(8 * 1024)

#define BATCH        ROUTE_BYTES | ROUTE_BODY_KIB(4 * 1024)
#define ANY_OF_BLOBS "rlacwdtx" /* each request of a batch needs its own permission */

#define ROWS(X)                                                                                    \
    X("PUT", BLOB "&comp=copy", 0, azblob_copy_abort, "Blob_AbortCopyFromURL", 'o', "w", "w")      \
    PLANE_READS(X, "/?restype=account&comp=properties", 0, plane_account,                          \
                "Service_GetAccountInfo", 's', "rlwd", NULL)                                       \
    PLANE_READS(X, ANY_ACCOUNT, 0, plane_account, "Container_GetAccountInfo", 'c', "rlwd", "rlwd") \
    PLANE_READS(X, BLOB_ACCOUNT, 0, plane_account, "Blob_GetAccountInfo", 'o', "rlwd", "rlwd")     \
    X("GET", "/?restype=service&comp=properties", 0, plane_service, "Service_GetProperties", 's',  \
      "r", NULL)                                                                                   \
    X("OPTIONS", "/", ROUTE_OPEN, plane_preflight, "Service_Preflight", 's', NULL, NULL)           \
    X("OPTIONS", "/{container}", ROUTE_OPEN, plane_preflight, "Service_Preflight", 's', NULL,      \
      NULL)                                                                                        \
    X("OPTIONS", "/{container}/{path*}", ROUTE_OPEN, plane_preflight, "Service_Preflight", 's',    \
      NULL, NULL)                                                                                  \
    X("PUT", "/?restype=service&comp=properties", ROUTE_XML, plane_set_service,                    \
      "Service_SetProperties", 's', "w", NULL)                                                     \
    X("POST", "/?restype=service&comp=userdelegationkey", ROUTE_XML, plane_delegate,               \
      "Service_GetUserDelegationKey", 's', NULL, NULL)                                             \
    X("POST", "/?comp=batch", BATCH, azblob_batch, "Service_SubmitBatch", 's', ANY_OF_BLOBS, NULL) \
    X("POST", ANY "&comp=batch", BATCH, azblob_batch, "Container_SubmitBatch", 'c', ANY_OF_BLOBS,  \
      ANY_OF_BLOBS)                                                                                \
    X("GET", "/?comp=blobs", 0, azblobs_find, "Service_FilterBlobs", 's', "f", NULL)               \
    X("GET", ANY "&comp=blobs", 0, azblobs_find, "Container_FilterBlobs", 'c', "f", "f")           \
    X("PUT", BLOB "&comp=tags", ROUTE_XML, azblob_set_tags, "Blob_SetTags", 'o', "t", "t")         \
    X("GET", BLOB "&comp=tags", 0, azblob_get_tags, "Blob_GetTags", 'o', "t", "t")                 \
    X("PUT", BLOB "&comp=tier", 0, azblob_set_tier, "Blob_SetTier", 'o', "w", "w")                 \
    X("GET", "/?comp=list", 0, azcontainers_list, "Service_ListContainers", 's', "l", NULL)        \
    X("GET", ANY "&comp=list", 0, azblobs_list, "Container_ListBlobs", 'c', "l", "l")              \
    X("PUT", ANY "&comp=", 0, azcontainer_create, "Container_Create", 'c', "cw", NULL)             \
    PLANE_READS(X, ANY "&comp=", 0, azcontainer_get, "Container_GetProperties", 'c', "r", NULL)    \
    X("DELETE", ANY "&comp=", 0, azcontainer_delete, "Container_Delete", 'c', "d", NULL)           \
    X("PUT", ANY "&comp=metadata", 0, azcontainer_set_metadata, "Container_SetMetadata", 'c', "w", \
      NULL)                                                                                        \
    PLANE_READS(X, ANY "&comp=metadata", 0, azcontainer_get, "Container_GetMetadata", 'c', "r",    \
                NULL)                                                                              \
    PLANE_READS(X, ANY "&comp=acl", 0, azcontainer_get_acl, "Container_GetAccessPolicy", 'c',      \
                NULL, NULL)                                                                        \
    X("PUT", ANY "&comp=acl", ROUTE_XML_OPTIONAL, azcontainer_set_acl,                             \
      "Container_SetAccessPolicy", 'c', NULL, NULL)                                                \
    X("PUT", BLOB "&comp=", ROUTE_STREAM, azblob_put, "BlockBlob_Upload", 'o', "cw", "cw")         \
    X("GET", BLOB "&comp=", ROUTE_USERS_BYTES, azblob_get, "Blob_Download", 'o', "r", "r")         \
    X("HEAD", BLOB "&comp=", ROUTE_USERS_BYTES, azblob_head, "Blob_GetProperties", 'o', "r", "r")  \
    X("DELETE", BLOB "&comp=", 0, azblob_delete, "Blob_Delete", 'o', "d", "d")                     \
    X("PUT", BLOB "&comp=metadata", 0, azblob_set_metadata, "Blob_SetMetadata", 'o', "w", "w")     \
    PLANE_READS(X, BLOB "&comp=metadata", ROUTE_USERS_BYTES, azblob_head, "Blob_GetMetadata", 'o', \
                "r", "r")                                                                          \
    X("PUT", BLOB "&comp=block", ROUTE_STREAM, azblock_put, "BlockBlob_StageBlock", 'o', "w", "w") \
    X("PUT", BLOB "&comp=blocklist", BLOCKLIST, azblocks_commit, "BlockBlob_CommitBlockList", 'o', \
      "w", "w")                                                                                    \
    X("GET", BLOB "&comp=blocklist", 0, azblocks_get, "BlockBlob_GetBlockList", 'o', "r", "r")     \
    X("PUT", BLOB "&comp=appendblock", ROUTE_BYTES | ROUTE_BODY_KIB(100 * 1024), azblob_append,    \
      "AppendBlob_AppendBlock", 'o', "aw", "aw")                                                   \
    X("PUT", BLOB "&comp=seal", 0, azblob_seal, "AppendBlob_Seal", 'o', "w", "w")                  \
    X("PUT", BLOB "&comp=snapshot", 0, azblob_snapshot, "Blob_CreateSnapshot", 'o', "cw", "cw")    \
    X("PUT", BLOB "&comp=undelete", 0, azblob_undelete, "Blob_Undelete", 'o', "w", "w")            \
    X("PUT", BLOB "&comp=lease", 0, azblob_lease, "Blob_AcquireLease", 'o', "wd", "wd")            \
    X("PUT", ANY "&comp=lease", 0, azcontainer_lease, "Container_AcquireLease", 'c', "wd", NULL)   \
    X("PUT", BLOB "&comp=properties", 0, azblob_set_properties, "Blob_SetHttpHeaders", 'o', "w",   \
      "w")

static const struct route routes[] = {ROWS(PLANE_ROUTE)};
static const struct storage_need needs[] = {ROWS(PLANE_NEED)};

static const struct plane plane = {.service = SAS_BLOB,
                                   .kind = SHARE_BLOBS,
                                   .server = "Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0",
                                   .share = "container",
                                   .no_share = AZSTORAGE_CONTAINER_NOT_FOUND,
                                   .share_exists = AZSTORAGE_CONTAINER_EXISTS,
                                   .share_going = AZSTORAGE_CONTAINER_GOING,
                                   .needs = needs};

PLANE_SERVICE(azblob);
