/* SPDX-License-Identifier: MIT
 *
 * Content codings of replies.
 */
#ifndef API_HTTP_CODING_H
#define API_HTTP_CODING_H

#include <stdbool.h>

struct request;

/* Whether the client accepts a body that is compressed with gzip. */
bool takes_gzip(const struct request *r);

#endif
