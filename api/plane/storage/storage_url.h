/* SPDX-License-Identifier: MIT
 *
 * URLs of files and blobs of this daemon's accounts, as others give them: a source to copy from, a
 * resource file of a task. Knows no request.
 */
#ifndef API_PLANE_STORAGE_STORAGE_URL_H
#define API_PLANE_STORAGE_STORAGE_URL_H

#include "api/plane/storage/azstorage.h"
#include "api/plane/storage/sas.h"
#include "lib/named_value.h"
#include "model/resource.h"
#include "storage/folders/files.h"

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
 * its container is open to all. `owner`: the account whose own rights count besides, or NULL. 1:
 * *out is where its bytes are; 0: it is of no account of this daemon; -1: ERR_FILE_NOT_FOUND, or it
 * may not be read (ERR_FORBIDDEN). Messages have no signatures in them. */
int storage_url_open(const struct azstorage *z, struct arena *a, const char *url, const char *owner,
                     int64_t now_us, struct file_place *out, struct err *e) MUST_CHECK;
/* Where the blobs of a container are. */
struct storage_container {
    const char *folder;
    const char *aside; /* the folder of the account, in which are those that rows say are aside */
    int64_t share_id;
};
/* The same for a container whose blobs are listed and read. */
int storage_url_open_all(const struct azstorage *z, struct arena *a, const char *url,
                         const char *owner, int64_t now_us, struct storage_container *out,
                         struct err *e) MUST_CHECK;

/* The same URL of a container as one whose host is the daemon itself; what it may do its query
 * says. */
int storage_url_home(const struct azstorage *z, struct arena *a, const char *url, const char **out,
                     struct err *e) MUST_CHECK;
/* Such a URL of a container of an account, signed so that blobs can be written there for a while.
 */
int storage_container_url(const struct azstorage *z, struct arena *a, const char *account,
                          const char *container, int64_t now_us, const char **out,
                          struct err *e) MUST_CHECK;
/* A container of an account, for whoever has its keys. ERR_FORBIDDEN: it permits none, here and
 * above. */
int storage_container_open(const struct azstorage *z, struct arena *a, const char *account,
                           const char *container, struct storage_container *out,
                           struct err *e) MUST_CHECK;

#endif
