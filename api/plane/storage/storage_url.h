/* SPDX-License-Identifier: MIT
 *
 * URLs, in requests, of files and blobs of this daemon's accounts: the source of a copy, a resource
 * file of a task. No function needs a request.
 */
#ifndef API_PLANE_STORAGE_STORAGE_URL_H
#define API_PLANE_STORAGE_STORAGE_URL_H

#include "api/plane/storage/azstorage.h"
#include "api/plane/storage/roles.h"
#include "api/plane/storage/sas.h"
#include "lib/named_value.h"
#include "model/resource.h"
#include "model/spec.h"
#include "storage/shares/blobs.h"
#include "storage/shares/shares.h"

#define STORAGE_URL_PARAMETERS 64

struct storage_url {
    const char *authority; /* in lower case */
    const char *path;      /* decoded path after the account: "/share/dir/file" */
    const char *account;
    enum share_kind kind;
    struct named_value query[STORAGE_URL_PARAMETERS]; /* decoded */
    size_t n_query;
    bool https;
};

/* Splits a URL at the host ACCOUNT.file.core.HOST, or at an address where the account is the first
 * segment of the path. Such an address has one service; `own`: the address for `kind` (in any case;
 * NULL: not known). -1: the text is no URL of a file or blob. Texts are in the arena. */
int storage_url_split(struct arena *a, const char *text, const char *own, enum share_kind kind,
                      struct storage_url *out) MUST_CHECK;
/* Whether a path can be a file of the folder. False for dir//f and dir/../f: the folder would open
 * dir/f or f, which has another row, other rights, and maybe another tier. */
bool storage_path_is_file(const char *path);
/* A URL, and the share or container that it names. Everything is borrowed. */
struct url_target {
    const struct storage_url *u;
    const struct storage_account *account;
    const struct share *share;
};
/* The place that the URL names, for checks of roles. */
struct data_place url_target_place(const struct url_target *t);
/* Whether a SAS is signed with a key of the account; `dev`: the key of the emulators' account
 * counts too. */
bool storage_url_is_signed(struct storage *st, struct arena *a, const struct url_target *t,
                           const struct sas *s, bool dev, struct err *e);

struct item_path { /* of a file or blob */
    int64_t share_id;
    const char *path;
};
/* Finds the row of the file or blob, or of the snapshot that the URL names. 0: there is no row; a
 * blob without a row may have a file, a snapshot does not exist. */
int storage_url_item(struct storage *st, struct arena *a, const struct storage_url *u,
                     const struct item_path *of, struct share_item *out, bool *is_snapshot,
                     struct err *e) MUST_CHECK;

/* Finds the blob that a URL names, for a reader who has nothing but the URL: it is signed, or its
 * container is public. 1: *out is the blob; 0: the account is not of this daemon; -1:
 * ERR_FILE_NOT_FOUND, or ERR_FORBIDDEN: the blob may not be read. Messages contain no
 * signatures. */
int storage_url_open(const struct azstorage *z, struct arena *a, const char *url,
                     const struct url_reader *reader, struct blob_place *out,
                     struct err *e) MUST_CHECK;
/* Checks that a SAS (the text after "?") permits listing, reading, writing and deleting blobs of a
 * container. 0: it does, or the account is not of this daemon. */
int storage_sas_mounts(const struct azstorage *z, struct arena *a,
                       const struct share_name *container, const char *sas, int64_t now_us,
                       struct err *e) MUST_CHECK;
/* Finds the archived blobs whose names begin with the prefix. */
int storage_archived_blobs(const struct azstorage *z, struct arena *a,
                           const struct container_place *c, const char *prefix,
                           struct archived_blobs *out, struct err *e) MUST_CHECK;
/* Like storage_url_open(), for a container whose blobs will be listed and read. */
int storage_url_open_all(const struct azstorage *z, struct arena *a, const char *url,
                         const struct url_reader *reader, struct container_place *out,
                         struct err *e) MUST_CHECK;

/* Rewrites the URL of a container with localhost as its host; keeps the query with its
 * permissions. */
int storage_url_home(const struct azstorage *z, struct arena *a, const char *url, const char **out,
                     struct err *e) MUST_CHECK;
/* Makes a URL of a container at localhost, signed for writing blobs for a limited time. */
int storage_container_url(const struct azstorage *z, struct arena *a,
                          const struct share_name *container, int64_t now_us, const char **out,
                          struct err *e) MUST_CHECK;
/* Opens a container with the rights of its account's key. ERR_FORBIDDEN, here and in the functions
 * above: the account does not allow the use of its keys (allowSharedKeyAccess). */
int storage_container_open(const struct azstorage *z, struct arena *a,
                           const struct share_name *container, struct container_place *out,
                           struct err *e) MUST_CHECK;

#endif
