/* SPDX-License-Identifier: MIT
 *
 * Download links: signed, expiring URLs to one file of a share or container, in the form of the
 * service's SAS URLs (sv, sr, sig, se, sp), path-style so that they need no host names.
 */
#ifndef API_STORAGE_LINK_H
#define API_STORAGE_LINK_H

#include "api/request.h"
#include "model/spec.h"

struct file_ref {
    enum mount_kind kind;               /* MOUNT_AZURE_FILE_SHARE or MOUNT_AZURE_BLOB */
    const char *account, *share, *path; /* path: below the share */
};

/* https://HOST/files/{account}/{share}/{path}?sv=...; arena-owned. */
const char *link_create(struct request *r, const struct file_ref *f, int64_t expires_us);
/* ERR_LINK_EXPIRED unless the request's query holds a signature that is ours and not past. */
int link_check(struct request *r, const struct file_ref *f, struct err *e) MUST_CHECK;

/* What `error`, set by fs_open_beneath() of a share, means to a client. */
const char *share_error(int error);

/* GET and HEAD of such a link, with byte ranges. */
struct replied *files_download(struct request *r);
struct replied *blobs_download(struct request *r);

#endif
