/* SPDX-License-Identifier: MIT
 *
 * Storage accounts: what handlers of the data planes and of download links need. A download link
 * contains its own signature.
 */
#ifndef API_PLANE_STORAGE_AZSTORAGE_H
#define API_PLANE_STORAGE_AZSTORAGE_H

#include <assert.h>

#include "api/http/request.h"
#include "api/http/service.h"

struct access;
struct files;
struct fleet;
struct journal;
struct lease_clock;
struct runs;
struct shares;
struct storage;
struct write_turns;

struct azstorage {
    struct storage *storage;
    const struct access *access;
    struct fleet *fleet;
    struct runs *runs;
    struct files *files;
    struct shares *shares;
    struct journal *journal; /* the journal of blobs */
    struct write_turns *turns;
    const struct wakes *wakes;
    const char *storage_dir; /* the directory with the folders of shares */
    const struct lease_clock *leases;
    /* 32 bytes; the secret for user delegation keys, for functions of storage_url.h */
    const uint8_t *token_key;
};

extern const struct service azstorage_service;
/* Answers requests to hosts of services that are not implemented. */
extern const struct service unserved_service;

static inline const struct azstorage *azstorage_of(const struct request *r)
{
    assert(service_deps_are(r->service, "azstorage"));
    return r->deps;
}

#endif
