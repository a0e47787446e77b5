/* SPDX-License-Identifier: MIT
 *
 * Reads certificates as clients send them: base64 of a PFX file with a password, or of the
 * certificate alone.
 */
#ifndef API_PLANE_BATCH_PFX_H
#define API_PLANE_BATCH_PFX_H

#include <stdbool.h>

#include "lib/arena.h"
#include "lib/err.h"

#define THUMBPRINT_SIZE 41 /* hexadecimal digits of SHA-1, and NUL */

struct pfx {
    char thumbprint[THUMBPRINT_SIZE]; /* lower-case */
    const char *public; /* the certificate without its key (DER), in base64; in the arena */
};

/* `pfx`: whether `data` is a PFX file; false: a certificate without its key. `password`: of the PFX
 * file, or NULL. ERR_INVALID_PROPERTY: the data are no certificate, or the password is wrong. */
int pfx_read(struct arena *a, const char *data, bool pfx, const char *password, struct pfx *out,
             struct err *e) MUST_CHECK;

#endif
