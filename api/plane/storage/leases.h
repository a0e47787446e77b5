/* SPDX-License-Identifier: MIT
 *
 * Leases of blobs, containers, files and shares: whoever has one keeps others from writing, or
 * from deleting.
 *
 *   available -acquire-> leased -release-> available
 *   leased -break-> breaking -> broken; leased -> expired; all three -acquire-> leased
 *
 * Their time is that of the daemon's start and what has gone by since, so that a clock that is set
 * ends no lease and prolongs none. One that seems to last longer than leases do was taken before
 * the clock was set and the daemon started anew; it lasts for its duration from that start.
 *
 * https://learn.microsoft.com/rest/api/storageservices/lease-blob
 */
#ifndef API_PLANE_STORAGE_LEASES_H
#define API_PLANE_STORAGE_LEASES_H

#include "api/plane/storage/data_plane.h"

struct lease {
    enum lease_state state; /* as it is stored */
    const char *id;         /* NULL: there was none yet */
    int duration_s;         /* or LEASE_INFINITE */
    int64_t until_us;       /* 0: it does not end */
};

struct lease lease_of_item(const struct share_item *i);
struct lease lease_of_share(const struct share *s);
void lease_to_item(const struct lease *l, struct share_item *i);
void lease_to_share(const struct lease *l, struct share *s);

/* The kinds of errors of what is leased, when a request for it lacks the right id. */
struct lease_errors {
    const char *what; /* "blob" */
    int mismatch, not_present;
};
/* Whether a request may go on: with x-ms-lease-id it must be the one; without, a request that
 * `needs` the lease must not find one. */
int lease_check(struct request *r, const struct lease *l, bool needs,
                const struct lease_errors *errors, struct err *e) MUST_CHECK;

/* The same by another header than x-ms-lease-id. */
int lease_check_by(struct request *r, const char *header, const struct lease *l, bool needs,
                   const struct lease_errors *errors, struct err *e) MUST_CHECK;

/* Whether there is a lease, and the request has its id. */
bool lease_is_callers(struct request *r, const struct lease *l);
/* For what may outlast a lease that ends: AZSTORAGE_LEASE_INFINITE. */
int lease_check_infinite(struct request *r, const struct lease *l, struct err *e) MUST_CHECK;

/* x-ms-lease-action: changes *l, and adds the headers of the reply. The status of the reply, or
 * -1. `infinite_only`: as files' leases are. */
int lease_act(struct request *r, struct lease *l, bool infinite_only, struct err *e) MUST_CHECK;

/* What lists and headers say. */
struct lease_shown {
    const char *status, *state, *duration; /* duration NULL: there is no lease */
};
struct lease_shown lease_shown(const struct request *r, const struct lease *l);
void lease_headers(struct request *r, const struct lease *l);

#endif
