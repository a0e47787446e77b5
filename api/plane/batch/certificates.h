/* SPDX-License-Identifier: MIT
 *
 * Certificates of an account: kept, shown by their public part, and deleted unless a pool has them.
 */
#ifndef API_PLANE_BATCH_CERTIFICATES_H
#define API_PLANE_BATCH_CERTIFICATES_H

#include "api/plane/batch/batch.h"

struct replied *certificates_add(struct request *r);
struct replied *certificates_list(struct request *r);
struct replied *certificates_get(struct request *r);
struct replied *certificates_delete(struct request *r);
struct replied *certificates_cancel(struct request *r);

#define BATCH_CERTIFICATE_ROUTES                                                                     \
    {"POST", "/certificates", BATCH_ALL, ROUTE_JSON, certificates_add, "Certificate_Add"},           \
        {"GET", "/certificates", BATCH_ALL, 0, certificates_list, "Certificate_List"},               \
        {"GET", "/certificates({key})", BATCH_ALL, 0, certificates_get, "Certificate_Get"},          \
        {"DELETE", "/certificates({key})", BATCH_ALL, 0, certificates_delete, "Certificate_Delete"}, \
        {"POST",                                                                                     \
         "/certificates({key})/canceldelete",                                                        \
         BATCH_ALL,                                                                                  \
         0,                                                                                          \
         certificates_cancel,                                                                        \
         "Certificate_CancelDeletion"},

#endif
