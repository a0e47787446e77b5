/* SPDX-License-Identifier: MIT
 *
 * Makes, reads, saves and compares certificates with their keys (ECDSA P-256) and their names.
 */
#ifndef DAEMON_CERTS_X509_H
#define DAEMON_CERTS_X509_H

#include <gnutls/x509.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/err.h"

/* A certificate and its private key. pair_free() accepts a zeroed struct. */
struct pair {
    gnutls_x509_crt_t crt;
    gnutls_x509_privkey_t key;
};

#define SANS_MAX 128

/* Names and addresses as text, sorted, without duplicates; owned. */
struct sans {
    char *items[SANS_MAX];
    size_t n;
};

void sans_add(struct sans *s, const char *text); /* does nothing if there are SANS_MAX names */
void sans_free(struct sans *s);
bool sans_equal(const struct sans *a, const struct sans *b);
bool sans_have(const struct sans *s, const char *text);
/* Gets the names of a certificate; *s must be empty. */
void sans_of(gnutls_x509_crt_t crt, struct sans *s);

void pair_free(struct pair *p);
int pair_load(const char *cert_path, const char *key_path, struct pair *p,
              struct err *e) MUST_CHECK;
/* The key is saved first, so that a certificate never exists without its key. */
int pair_save(const struct pair *p, const char *cert_path, const char *key_path, bool sync,
              struct err *e) MUST_CHECK;
bool pair_fits(const struct pair *p); /* whether the key is the certificate's */

/* Makes a new authority, which signs its own certificate. */
int pair_make_authority(const char *name, time_t from, time_t end, struct pair *p,
                        struct err *e) MUST_CHECK;
/* The parameters of a server certificate. */
struct pair_wanted {
    const char *name;
    const struct sans *sans;
    time_t from, end;
    gnutls_x509_privkey_t key; /* NULL makes a new key; otherwise a copy is used */
};
/* Makes a server certificate that the authority `ca` signs. */
int pair_make_server(const struct pair *ca, const struct pair_wanted *w, struct pair *p,
                     struct err *e) MUST_CHECK;

#endif
