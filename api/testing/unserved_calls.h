/* SPDX-License-Identifier: MIT
 *
 * What was asked for and is not served, and how often.
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
    int64_t others; /* requests for paths that are not in the list */
};

void unknown_note(struct unknown *u, const struct request *r, const char *subscription);
/* Those in a subscription; NULL: all, and how many others there were. */
void unknown_forget(struct unknown *u, const char *subscription);

#endif
