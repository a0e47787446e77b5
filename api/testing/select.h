/* SPDX-License-Identifier: MIT
 *
 * Selects requests by method, operation, path (with * and ?), subscription and status. A criterion
 * that is not given matches everything.
 */
#ifndef API_TESTING_SELECT_H
#define API_TESTING_SELECT_H

#include "api/http/request.h"
#include "api/testing/testing.h"
#include "model/schema.h"
#include "storage/storage.h"

struct selector {
    const char *method, *operation, *path, *subscription; /* NULL: any */
    /* patterns, for faults and rules of nodes: a pool, and the name of what runs there */
    const char *pool, *name;
    int status; /* 0: any */
};

/* The properties of a request that selectors compare. */
struct request_facts {
    const char *method, *operation, *path, *subscription; /* NULL: none */
    const char *pool, *name;
    int status;
};

/* The schema of a selector in a request's body. */
extern const struct schema selector_body;
/* Refuses an operation that no service has, and a path that begins with neither / nor *, because it
 * would match no request. */
int selector_check(struct request *r, const struct selector *s, struct err *e) MUST_CHECK;
/* Refuses a selector whose pattern matches no existing pool or cluster; the error names the
 * existing ones. */
int selector_finds_pool(struct request *r, const struct selector *s, struct err *e) MUST_CHECK;
bool selector_fits(const struct selector *s, const struct request_facts *t);
json_t *selector_render(const struct selector *s);
/* The properties of a request, in its arena; with the status of its reply if there is one.
 * `subscription`: the subscription of the request's account; NULL: none. */
struct request_facts told_of(const struct request *r, const char *subscription);

/* --- the subscription of a request --------------------------------------------------------------
 *
 * The subscription is in the path, or is the one of the account or vault that the request names. */

/* The subscription in the path; NULL: the path names none. */
const char *whose_named(const struct request *r);
/* The account of a request for data: named by the host or the path, else by the key that signed the
 * request (some requests to Azure Batch do not name it otherwise). NULL: none. The text belongs to
 * the arena or to the request. Must not be called after the reply. */
const char *whose_account(const struct request *r, struct arena *a);
/* The subscription of an account of the kind that the request's service serves; NULL: there is no
 * such account. In the arena. */
const char *whose_account_is(struct storage *st, struct arena *a, const struct request *r,
                             const char *account);

#endif
