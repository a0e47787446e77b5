/* SPDX-License-Identifier: MIT
 *
 * Azure Files as a service: its routes, and the permission that each needs.
 */
#include "api/plane/file/azfiles.h"
#include "api/plane/file/handlers.h"
#include "api/plane/storage/cors.h"
#include "api/plane/storage/service_level.h"

#define ROOT  "/?"
#define SHARE "/{share}?restype=share"
#define TOP   "/{share}?restype=directory"
#define DIR   "/{share}/{path*}?restype=directory"
#define ITEM  "/{share}/{path*}?restype="
#define RANGE ROUTE_BYTES | ROUTE_BODY_KIB(4 * 1024)

/* The routes of a directory, or of the top of a share. */
/* clang-format off */
#define DIRECTORY(X, AT)                                                                           \
    PLANE_READS(X, AT "&comp=", 0, azdirectory_get, "Directory_GetProperties", 'o', "r", "r")      \
    X("GET", AT "&comp=list", 0, azdirectory_list, "Directory_ListFilesAndDirectoriesSegment",     \
      'c', "l", "l")                                                                               \
    PLANE_READS(X, AT "&comp=metadata", 0, azdirectory_get_metadata, "Directory_GetMetadata",      \
                'o', "r", "r")                                                                     \
    X("PUT", AT "&comp=metadata", 0, azdirectory_set_metadata, "Directory_SetMetadata", 'o', "w",  \
      "w")                                                                                         \
    X("PUT", AT "&comp=properties", 0, azdirectory_set_properties, "Directory_SetProperties",      \
      'o', "w", "w")
/* clang-format on */

#define ROWS(X)                                                                                    \
    X("GET", "/?restype=service&comp=properties", 0, plane_service, "Service_GetProperties", 's',  \
      "r", NULL)                                                                                   \
    X("OPTIONS", "/", ROUTE_OPEN, plane_preflight, "Service_Preflight", 's', NULL, NULL)           \
    X("OPTIONS", "/{share}", ROUTE_OPEN, plane_preflight, "Service_Preflight", 's', NULL, NULL)    \
    X("OPTIONS", "/{share}/{path*}", ROUTE_OPEN, plane_preflight, "Service_Preflight", 's', NULL,  \
      NULL)                                                                                        \
    X("PUT", "/?restype=service&comp=properties", ROUTE_XML, plane_set_service,                    \
      "Service_SetProperties", 's', "w", NULL)                                                     \
    X("GET", ROOT "comp=list", 0, azshares_list, "Service_ListSharesSegment", 's', "l", NULL)      \
    X("PUT", SHARE "&comp=", 0, azshare_create, "Share_Create", 'c', "cw", NULL)                   \
    PLANE_READS(X, SHARE "&comp=", 0, azshare_get, "Share_GetProperties", 'c', "r", NULL)          \
    X("DELETE", SHARE "&comp=", 0, azshare_delete, "Share_Delete", 'c', "d", NULL)                 \
    X("PUT", SHARE "&comp=properties", 0, azshare_set_properties, "Share_SetProperties", 'c', "w", \
      NULL)                                                                                        \
    X("PUT", SHARE "&comp=metadata", 0, azshare_set_metadata, "Share_SetMetadata", 'c', "w", NULL) \
    PLANE_READS(X, SHARE "&comp=metadata", 0, azshare_get, "Share_GetMetadata", 'c', "r", NULL)    \
    PLANE_READS(X, SHARE "&comp=acl", 0, azshare_get_acl, "Share_GetAccessPolicy", 'c', NULL,      \
                NULL)                                                                              \
    X("PUT", SHARE "&comp=acl", ROUTE_XML_OPTIONAL, azshare_set_acl, "Share_SetAccessPolicy", 'c', \
      NULL, NULL)                                                                                  \
    X("GET", SHARE "&comp=stats", 0, azshare_stats, "Share_GetStatistics", 'c', "r", NULL)         \
    X("PUT", SHARE "&comp=lease", 0, azshare_lease, "Share_Lease", 'c', "wd", NULL)                \
    X("PUT", SHARE "&comp=snapshot", 0, azshare_snapshot, "Share_CreateSnapshot", 'c', "cw", NULL) \
    X("PUT", SHARE "&comp=filepermission", ROUTE_JSON, azshare_put_permission,                     \
      "Share_CreatePermission", 'c', "cw", NULL)                                                   \
    X("GET", SHARE "&comp=filepermission", 0, azshare_get_permission, "Share_GetPermission", 'c',  \
      "r", NULL)                                                                                   \
    DIRECTORY(X, TOP)                                                                              \
    DIRECTORY(X, DIR)                                                                              \
    X("PUT", DIR "&comp=", 0, azdirectory_create, "Directory_Create", 'o', "cw", "cw")             \
    X("DELETE", DIR "&comp=", 0, azdirectory_delete, "Directory_Delete", 'o', "d", "d")            \
    X("PUT", DIR "&comp=rename", 0, azdirectory_rename, "Directory_Rename", 'o', "w", "w")         \
    X("PUT", ITEM "&comp=", 0, azfile_create, "File_Create", 'o', "cw", "cw")                      \
    X("GET", ITEM "&comp=", ROUTE_USERS_BYTES, azfile_get, "File_Download", 'o', "r", "r")         \
    X("HEAD", ITEM "&comp=", ROUTE_USERS_BYTES, azfile_head, "File_GetProperties", 'o', "r", "r")  \
    X("DELETE", ITEM "&comp=", 0, azfile_delete, "File_Delete", 'o', "d", "d")                     \
    X("PUT", ITEM "&comp=range", RANGE, azrange_put, "File_UploadRange", 'o', "w", "w")            \
    X("GET", ITEM "&comp=rangelist", 0, azranges_list, "File_GetRangeList", 'o', "r", "r")         \
    PLANE_READS(X, ITEM "&comp=metadata", 0, azfile_get_metadata, "File_GetMetadata", 'o', "r",    \
                "r")                                                                               \
    X("PUT", ITEM "&comp=metadata", 0, azfile_set_metadata, "File_SetMetadata", 'o', "w", "w")     \
    X("PUT", ITEM "&comp=properties", 0, azfile_set_properties, "File_SetHttpHeaders", 'o', "w",   \
      "w")                                                                                         \
    X("PUT", ITEM "&comp=lease", 0, azfile_lease, "File_Lease", 'o', "wd", "wd")                   \
    X("PUT", ITEM "&comp=copy", 0, azfile_copy_abort, "File_AbortCopy", 'o', "w", "w")             \
    X("PUT", ITEM "&comp=rename", 0, azfile_rename, "File_Rename", 'o', "w", "w")                  \
    X("GET", "/{share}?comp=listhandles", 0, azfile_handles, "Directory_ListHandles", 'o', "l",    \
      "l")                                                                                         \
    X("PUT", "/{share}?comp=forceclosehandles", 0, azfile_close_handles,                           \
      "Directory_ForceCloseHandles", 'o', "d", "d")                                                \
    X("GET", "/{share}/{path*}?comp=listhandles", 0, azfile_handles, "Directory_ListHandles", 'o', \
      "l", "l")                                                                                    \
    X("PUT", "/{share}/{path*}?comp=forceclosehandles", 0, azfile_close_handles,                   \
      "Directory_ForceCloseHandles", 'o', "d", "d")

static const struct route routes[] = {ROWS(PLANE_ROUTE)};
static const struct storage_need needs[] = {ROWS(PLANE_NEED)};

static const struct plane plane = {.service = SAS_FILE,
                                   .kind = SHARE_FILES,
                                   .server = "Windows-Azure-File/1.0 Microsoft-HTTPAPI/2.0",
                                   .share = "share",
                                   .no_share = AZSTORAGE_SHARE_NOT_FOUND,
                                   .share_exists = AZSTORAGE_SHARE_EXISTS,
                                   .share_going = AZSTORAGE_SHARE_GOING,
                                   .needs = needs};

PLANE_SERVICE(azfiles);
