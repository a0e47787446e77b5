/* SPDX-License-Identifier: MIT
 *
 * Leases of blobs, containers, files and shares: while a client holds a lease, other clients cannot
 * write the object, or cannot delete it.
 *
 *   available -acquire-> leased -release-> available
 *   leased -break-> breaking -> broken; leased -> expired; all three -acquire-> leased
 *   expired -renew-> leased; expired, broken -the blob is written-> available
 *
 * storage/shares/lease_clock.h has the lease, its clock and its present state.
 *
 * https://learn.microsoft.com/rest/api/storageservices/lease-blob
 */
#ifndef API_PLANE_STORAGE_LEASES_H
#define API_PLANE_STORAGE_LEASES_H

#include "api/plane/storage/data_plane.h"
#include "storage/shares/lease_clock.h"

struct lease lease_of_item(const struct share_item *i);
void lease_to_item(const struct lease *l, struct share_item *i);
void lease_to_share(const struct lease *l, struct share *s);

/* Errors for a request without the right id of a leased object. */
struct lease_errors {
    const char *what; /* a word for the object, such as "blob" */
    int mismatch, not_present;
};
/* Checks whether a request may proceed. If it has x-ms-lease-id, this must be the id of the lease.
 * If it has none but `needs` the lease, the object must not be leased. */
int lease_check(struct request *r, const struct lease *l, bool needs,
                const struct lease_errors *errors, struct err *e) MUST_CHECK;

/* Like lease_check(), with another header than x-ms-lease-id. */
int lease_check_by(struct request *r, const char *header, const struct lease *l, bool needs,
                   const struct lease_errors *errors, struct err *e) MUST_CHECK;

/* Call when the object is written: a lease that has expired or was broken is removed, so it cannot
 * be renewed. */
void lease_written(const struct request *r, struct share_item *i);

/* Whether there is a lease, and the request has its id. */
bool lease_is_callers(struct request *r, const struct lease *l);
/* Fails with AZSTORAGE_LEASE_INFINITE if the object has a finite lease; for requests that may last
 * longer than such a lease. */
int lease_check_infinite(struct request *r, const struct lease *l, struct err *e) MUST_CHECK;

/* Carries out x-ms-lease-action: changes *l, and adds the headers of the reply. Returns the status
 * of the reply, or -1. `infinite_only`: leases of this object must be infinite, as those of
 * files. */
int lease_act(struct request *r, struct lease *l, bool infinite_only, struct err *e) MUST_CHECK;

/* The words for a lease in lists and headers. */
struct lease_shown {
    const char *status, *state, *duration; /* duration NULL: there is no lease */
};
struct lease_shown lease_shown(const struct request *r, const struct lease *l);
void lease_headers(struct request *r, const struct lease *l);

#endif
