/* SPDX-License-Identifier: MIT
 *
 * The addresses on which the server listens, from the configuration: for all services, and the
 * ports of single storage services.
 */
#ifndef DAEMON_SERVE_LISTENS_H
#define DAEMON_SERVE_LISTENS_H

#include "api/http/http.h"
#include "daemon/config/config.h"
#include "daemon/config/state.h"

struct storage;

struct listens {
    struct api_listen *item; /* owned, as its hosts */
    size_t n;
    char (*host)[CONFIG_HOST_SIZE];
};

/* Fills the list of addresses; the first is for all services. */
int listens_make(const struct config *c, struct listens *out, struct err *e) MUST_CHECK;
void listens_free(struct listens *l);
/* If a port belongs to a single storage service, creates the account that Azure's storage emulators
 * have. */
int listens_open_storage(const struct listens *l, struct storage *st, const struct config *c,
                         const struct credentials *who, int64_t now_us, struct err *e) MUST_CHECK;

#endif
