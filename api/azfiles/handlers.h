/* SPDX-License-Identifier: MIT
 *
 * The handlers of Azure Files and what they share.
 */
#ifndef API_AZFILES_HANDLERS_H
#define API_AZFILES_HANDLERS_H

#include "api/azstorage/items.h"
#include "files/change.h"

/* What a request is about. */
struct azfile {
    const char *folder; /* the share's */
    const char *path;   /* below it; "": the folder itself */
};
/* Errors: there is no such share; the path is none. */
int azfile_of(struct request *r, struct azfile *out, struct err *e) MUST_CHECK;

/* A change that a handler has asked files/ for: kept with the request. */
struct azfile_change {
    struct request *r;
    struct azfile at;
    struct share_item item; /* what is to be noted afterwards */
};
struct azfile_change *azfile_change(struct request *r, const struct azfile *at);

/* The service's error for what went wrong with a file. */
int azfile_fault(const struct err *why, enum file_fault fault, struct err *e);

/* ETag, Last-Modified and what is particular to files: attributes, times, ids. */
void azfile_state(struct request *r, const struct file_facts *f, const struct share_item *i);

struct replied *azshare_create(struct request *r);
struct replied *azshare_get(struct request *r);
struct replied *azshare_delete(struct request *r);
struct replied *azdirectory_create(struct request *r);
struct replied *azdirectory_get(struct request *r);
struct replied *azfile_create(struct request *r);
struct replied *azfile_get(struct request *r);
struct replied *azfile_head(struct request *r);
struct replied *azrange_put(struct request *r);

#endif
