/* SPDX-License-Identifier: MIT
 *
 * URLs of files and blobs of this daemon's accounts, as others give them: a source to copy from, a
 * resource file of a task. Knows no request.
 */
#ifndef API_AZSTORAGE_STORAGE_URL_H
#define API_AZSTORAGE_STORAGE_URL_H

#include "api/azstorage/azstorage.h"
#include "api/azstorage/sas.h"
#include "files/files.h"
#include "lib/named_value.h"
#include "model/resource.h"

#define STORAGE_URL_PARAMETERS 64

struct storage_url {
    const char *authority; /* in lower case */
    const char *path;      /* decoded, behind the account; "/share/dir/file" */
    const char *account;
    enum share_kind kind;
    struct named_value query[STORAGE_URL_PARAMETERS]; /* decoded */
    size_t n_query;
    bool https;
};

/* ACCOUNT.file.core.HOST, or an address with the account first in the path: then a service has a
 * port of its own, and `own` (in any case; NULL: none is known) is that of `kind`. -1: it is no URL
 * of a file or blob. Texts are the arena's. */
int storage_url_split(struct arena *a, const char *text, const char *own, enum share_kind kind,
                      struct storage_url *out) MUST_CHECK;
/* Whether a signature was made with a key of the account; `dev`: with the well-known one. */
bool storage_url_is_signed(struct storage *st, struct arena *a, const struct storage_url *u,
                           const struct sas *s, const struct storage_account *account, bool dev,
                           struct err *e);

/* The blob that a URL names, to be read by those who have that URL alone: it has a signature, or
 * its container is open to all. 1: *out is where its bytes are; 0: it is of no account of this
 * daemon; -1: ERR_FILE_NOT_FOUND, or it may not be read (ERR_FORBIDDEN). Messages have no
 * signatures in them. */
int storage_url_open(const struct azstorage *z, struct arena *a, const char *url, int64_t now_us,
                     struct file_place *out, struct err *e) MUST_CHECK;

#endif
