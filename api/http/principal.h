/* SPDX-License-Identifier: MIT
 *
 * A principal: the sender of a request. Other parts of the daemon (storage, scheduler) store only
 * its object id, as text.
 */
#ifndef API_HTTP_PRINCIPAL_H
#define API_HTTP_PRINCIPAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

/* Sizes with the terminating zero. A user's name (user@domain) has at most 113 characters. */
#define PRINCIPAL_ID_SIZE   64
#define PRINCIPAL_NAME_SIZE 128

/* The id of the only directory (tenant). It is a UUID, because clients such as Terraform's azurerm
 * refuse other ids. Clients log in at the tenant "adfs", because MSAL accepts only this kind of
 * authority without asking Azure. */
#define TENANT_ID "ba7c4a1d-0000-4000-8000-00000000ad00"

enum principal_kind { PRINCIPAL_USER = 1, PRINCIPAL_SERVICE = 2 };

struct principal {
    char object_id[PRINCIPAL_ID_SIZE]; /* the id in resources and role assignments */
    char app_id[PRINCIPAL_ID_SIZE];    /* a service principal's id for logging in; "": user */
    char name[PRINCIPAL_NAME_SIZE];    /* of a user: user@domain */
    enum principal_kind kind;
    bool first; /* the daemon's own service principal, which always exists and is always Owner */
};

/* The directory of principals. */
struct session;
struct directory {
    /* 1: fills in *out; 0: no principal has this object id (any more); -1: err. */
    int (*find)(void *ctx, const char *object_id, struct principal *out, struct err *e);
    void *ctx;
    /* 1: the session is still valid (session.h); 0: its secret was changed, or a logout ended it;
     * -1: err. NULL: there are no sessions. */
    int (*goes_on)(void *ctx, const struct session *s, int64_t now_us, struct err *e);
};

#endif
