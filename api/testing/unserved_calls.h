/* SPDX-License-Identifier: MIT
 *
 * Keeps requests to unknown operations, and how often each was received.
 */
#ifndef API_TESTING_UNSERVED_CALLS_H
#define API_TESTING_UNSERVED_CALLS_H

#include "api/http/request.h"

#define UNKNOWN_MAX 1000

struct unknown {
    struct unknown_path {
        char *method, *target, *subscription; /* owned; subscription may be NULL */
        int64_t count;
    } * list; /* at most UNKNOWN_MAX */
    size_t n;
    int64_t others; /* requests that did not fit into the list */
};

void unknown_note(struct unknown *u, const struct request *r, const char *subscription);
/* Forgets the requests in a subscription. NULL: forgets all requests, and the number of others. */
void unknown_forget(struct unknown *u, const char *subscription);

#endif
