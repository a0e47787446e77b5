/* SPDX-License-Identifier: MIT
 *
 * Leases of blobs, containers, files and shares: the holder of a lease keeps other clients from
 * writing, or from deleting.
 *
 *   available -acquire-> leased -release-> available
 *   leased -break-> breaking -> broken; leased -> expired; all three -acquire-> leased
 *   expired -renew-> leased; expired, broken -the blob is written-> available
 *
 * The time of leases is the time of the daemon's start plus the monotonic time since then, so that
 * setting the clock neither ends nor prolongs a lease. A lease with more time left than its
 * duration was acquired before the clock was set and the daemon restarted; it lasts for its
 * duration from that restart.
 *
 * https://learn.microsoft.com/rest/api/storageservices/lease-blob
 */
#ifndef API_PLANE_STORAGE_LEASES_H
#define API_PLANE_STORAGE_LEASES_H

#include "api/plane/storage/data_plane.h"

struct lease {
    enum lease_state state; /* as it is stored */
    const char *id;         /* NULL: there was no lease yet */
    int duration_s;         /* or LEASE_INFINITE */
    int64_t until_us;       /* 0: it does not end */
};

struct lease lease_of_item(const struct share_item *i);
struct lease lease_of_share(const struct share *s);
void lease_to_item(const struct lease *l, struct share_item *i);
void lease_to_share(const struct lease *l, struct share *s);

/* The errors of a request for a leased object without the right id. */
struct lease_errors {
    const char *what; /* "blob" */
    int mismatch, not_present;
};
/* Whether a request may proceed: its x-ms-lease-id, if it has one, must be the lease's; without
 * one, a request that `needs` the lease fails if there is a lease. */
int lease_check(struct request *r, const struct lease *l, bool needs,
                const struct lease_errors *errors, struct err *e) MUST_CHECK;

/* Like lease_check(), with another header than x-ms-lease-id. */
int lease_check_by(struct request *r, const char *header, const struct lease *l, bool needs,
                   const struct lease_errors *errors, struct err *e) MUST_CHECK;

/* Call when the object is written: a lease that has expired or was broken ends, and cannot be
 * renewed any more. */
void lease_written(const struct request *r, struct share_item *i);

/* Whether there is a lease, and the request has its id. */
bool lease_is_callers(struct request *r, const struct lease *l);
/* For a request that may outlast a lease that ends: AZSTORAGE_LEASE_INFINITE. */
int lease_check_infinite(struct request *r, const struct lease *l, struct err *e) MUST_CHECK;

/* x-ms-lease-action: changes *l, and adds the headers of the reply. Returns the status of the
 * reply, or
 * -1. `infinite_only`: only infinite leases are possible, as for files. */
int lease_act(struct request *r, struct lease *l, bool infinite_only, struct err *e) MUST_CHECK;

/* The lease as lists and headers show it. */
struct lease_shown {
    const char *status, *state, *duration; /* duration NULL: there is no lease */
};
struct lease_shown lease_shown(const struct request *r, const struct lease *l);
void lease_headers(struct request *r, const struct lease *l);

#endif
