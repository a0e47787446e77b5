/* SPDX-License-Identifier: MIT
 *
 * Which requests are meant: by method, operation, path (with * and ?), subscription and status.
 * What is not named fits all.
 */
#ifndef API_TESTING_SELECT_H
#define API_TESTING_SELECT_H

#include "api/testing/testing.h"

struct selector {
    char *method, *operation, *path, *subscription; /* owned; NULL: any */
    char *pool, *name; /* patterns, of what is no request: a pool, and what runs there */
    int status;        /* 0: any */
};

/* What is known of a request. */
struct told {
    const char *method, *operation, *path, *subscription; /* NULL: none */
    const char *pool, *name;
    int status;
};

/* Reads {"method", "operation", "path", "subscription", "status"} (NULL: all requests). Refuses an
 * operation that no service has. selector_free() it, also after an error. */
int selector_read(struct request *r, const json_t *o, struct selector *out,
                  struct err *e) MUST_CHECK;
void selector_free(struct selector *s);
/* Refuses one whose pool fits no pool or cluster that there is now, and names those. */
int selector_finds_pool(struct request *r, const struct selector *s, struct err *e) MUST_CHECK;
bool selector_fits(const struct selector *s, const struct told *t);
json_t *selector_render(const struct selector *s);
/* Of a request, in its arena; the status once there is one. `subscription`: that of the account
 * which the request is about; NULL: of none. */
struct told told_of(const struct request *r, const char *subscription);

#endif
