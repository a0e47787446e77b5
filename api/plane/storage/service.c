/* SPDX-License-Identifier: MIT
 *
 * Download links as a service: its paths, its routes and its struct service.
 */
#include "api/plane/storage/azstorage.h"
#include "api/plane/storage/errors.h"
#include "api/plane/storage/link.h"

static const struct route routes[] = {
    {"GET", "/files/{account}/{share}/{path*}", 0, ROUTE_USERS_BYTES, files_download, "Files_Get"},
    {"HEAD", "/files/{account}/{share}/{path*}", 0, ROUTE_USERS_BYTES, files_download,
     "Files_Head"},
    {"GET", "/blobs/{account}/{share}/{path*}", 0, ROUTE_USERS_BYTES, blobs_download, "Blobs_Get"},
    {"HEAD", "/blobs/{account}/{share}/{path*}", 0, ROUTE_USERS_BYTES, blobs_download,
     "Blobs_Head"},
    {"GET", "/nodes/{job}/{rank}/{directory}/{path*}", 0, ROUTE_USERS_BYTES, nodes_download,
     "NodeFiles_Get"},
    {"HEAD", "/nodes/{job}/{rank}/{directory}/{path*}", 0, ROUTE_USERS_BYTES, nodes_download,
     "NodeFiles_Head"},
};

static const char *const paths[] = {"/files/{rest*}", "/blobs/{rest*}", "/nodes/{rest*}", NULL};

const struct service azstorage_service = {
    .name = "azstorage",
    .deps = "azstorage",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .words = azstorage_words,
    .error = azstorage_error,
};
