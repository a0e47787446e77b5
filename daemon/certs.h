/* SPDX-License-Identifier: MIT
 *
 * The daemon's own certificate authority and server certificate (ECDSA P-256), in PEM files of the
 * state directory. Both are made when missing. The server certificate is made anew when the names
 * it must carry changed, when it ends within 30 days, and when it has not begun, as after a clock
 * that was ahead. Clients only ever need ca.pem, which lasts 10 years.
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
