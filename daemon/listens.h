/* SPDX-License-Identifier: MIT
 *
 * Where the server listens, from the configuration: for all services, and the ports that are one
 * storage service's alone.
 */
#ifndef DAEMON_LISTENS_H
#define DAEMON_LISTENS_H

#include "api/http/http.h"
#include "daemon/config.h"

struct listens {
    struct api_listen *item; /* owned, as its hosts */
    size_t n;
    char (*host)[CONFIG_HOST_SIZE];
};

/* The first is for all services. */
int listens_make(const struct config *c, struct listens *out, struct err *e) MUST_CHECK;
void listens_free(struct listens *l);
/* Whether a port is one storage service's alone. */
bool listens_to_storage(const struct listens *l);

#endif
