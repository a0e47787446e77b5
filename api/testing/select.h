/* SPDX-License-Identifier: MIT
 *
 * Which requests are meant: by method, operation, path (with * and ?), subscription and status.
 * What is not named fits all.
 */
#ifndef API_TESTING_SELECT_H
#define API_TESTING_SELECT_H

#include "api/testing/testing.h"
#include "model/schema.h"

struct selector {
    const char *method, *operation, *path, *subscription; /* NULL: any */
    const char *pool, *name; /* patterns, of what is no request: a pool, and what runs there */
    int status;              /* 0: any */
};

/* What is known of a request. */
struct told {
    const char *method, *operation, *path, *subscription; /* NULL: none */
    const char *pool, *name;
    int status;
};

/* A selector in a body. */
extern const struct schema selector_body;
/* Refuses an operation that no service has, and a path that fits no request. */
int selector_check(struct request *r, const struct selector *s, struct err *e) MUST_CHECK;
/* Refuses one whose pool fits no pool or cluster that there is now, and names those. */
int selector_finds_pool(struct request *r, const struct selector *s, struct err *e) MUST_CHECK;
bool selector_fits(const struct selector *s, const struct told *t);
json_t *selector_render(const struct selector *s);
/* Of a request, in its arena; the status once there is one. `subscription`: that of the account
 * which the request is about; NULL: of none. */
struct told told_of(const struct request *r, const char *subscription);

#endif
