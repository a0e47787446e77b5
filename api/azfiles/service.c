/* SPDX-License-Identifier: MIT
 *
 * Azure Files as a service: its rows, and what each needs of whoever asks.
 */
#include "api/azfiles/azfiles.h"
#include "api/azfiles/handlers.h"

#define SHARE "/{share}?restype=share"
#define DIR   "/{share}/{path*}?restype=directory"
#define ITEM  "/{share}/{path*}?restype="
#define RANGE ROUTE_BYTES | ROUTE_BODY_KIB(4 * 1024)

#define ROWS(X)                                                                                    \
    X("PUT", SHARE "&comp=", 0, azshare_create, "Share_Create", 'c', "cw", NULL)                   \
    X("GET", SHARE "&comp=", 0, azshare_get, "Share_GetProperties", 'c', "r", NULL)                \
    X("HEAD", SHARE "&comp=", 0, azshare_get, "Share_GetProperties", 'c', "r", NULL)               \
    X("DELETE", SHARE "&comp=", 0, azshare_delete, "Share_Delete", 'c', "d", NULL)                 \
    X("PUT", DIR "&comp=", 0, azdirectory_create, "Directory_Create", 'o', "cw", "cw")             \
    X("GET", DIR "&comp=", 0, azdirectory_get, "Directory_GetProperties", 'o', "r", "r")           \
    X("HEAD", DIR "&comp=", 0, azdirectory_get, "Directory_GetProperties", 'o', "r", "r")          \
    X("PUT", ITEM "&comp=", 0, azfile_create, "File_Create", 'o', "cw", "cw")                      \
    X("PUT", ITEM "&comp=range", RANGE, azrange_put, "File_UploadRange", 'o', "w", "w")            \
    X("GET", ITEM "&comp=", 0, azfile_get, "File_Download", 'o', "r", "r")                         \
    X("HEAD", ITEM "&comp=", 0, azfile_head, "File_GetProperties", 'o', "r", "r")

static const struct route routes[] = {ROWS(PLANE_ROUTE)};
static const struct storage_need needs[] = {ROWS(PLANE_NEED)};

static const struct plane plane = {.service = SAS_FILE,
                                   .kind = SHARE_FILES,
                                   .server = "Windows-Azure-File/1.0 Microsoft-HTTPAPI/2.0",
                                   .share = "share",
                                   .no_share = AZSTORAGE_SHARE_NOT_FOUND,
                                   .needs = needs};

static int may(struct request *r, struct err *e)
{
    return plane_may(r, &plane, e);
}

const struct service azfiles_service = {
    .name = "azfiles",
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .may = may,
    .audiences = AUDIENCE_STORAGE,
    .body_max = REQUEST_BODY_MAX,
    .words = plane_words,
    .error = plane_error,
    .headers = plane_headers,
    .own_headers = true,
};
