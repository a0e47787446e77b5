/* SPDX-License-Identifier: MIT
 *
 * The rights to read metrics without a login, from the settings: owns the token and the networks.
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

/* ERR_CONFIG: the token's file cannot be used; metering_free() is still needed. */
int metering_open(const struct config *c, struct metering *out, struct err *e) MUST_CHECK;
void metering_free(struct metering *m);

#endif
