/* SPDX-License-Identifier: MIT
 *
 * The settings that give the right to read metrics without a login: a token and networks, both
 * owned.
 */
#ifndef DAEMON_SERVE_METERING_H
#define DAEMON_SERVE_METERING_H

#include "daemon/config/config.h"
#include "lib/network.h"

struct metering {
    char *token; /* NULL: none */
    struct network *networks;
    size_t n;
};

/* ERR_CONFIG: the file of the token cannot be used; the caller must call metering_free() even
 * then. */
int metering_open(const struct config *c, struct metering *out, struct err *e) MUST_CHECK;
void metering_free(struct metering *m);

#endif
