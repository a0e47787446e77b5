/* SPDX-License-Identifier: MIT
 *
 * The daemon's own certificate authority and server certificate (ECDSA P-256), in PEM files of the
 * state directory. Both are made when missing. The server certificate is made anew when its names
 * must change, when it expires within 30 days, and when it is not valid yet because the clock was
 * ahead. Clients only need ca.pem, which is valid for 10 years.
 */
#ifndef DAEMON_CERTS_H
#define DAEMON_CERTS_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/state.h"
#include "lib/err.h"

/* PEM text, owned; certs_free() wipes the key. */
struct certs {
    char *cert_pem, *key_pem;
};

/* `addresses`: the IP literals on which the daemon listens, besides loopback. */
int certs_load(const struct state *s, char *const *addresses, size_t n, int64_t now_us,
               struct certs *out, struct err *e) MUST_CHECK;
void certs_free(struct certs *c);

#endif
