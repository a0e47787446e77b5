/* SPDX-License-Identifier: MIT
 *
 * The daemon's certificates: of its own authority (ECDSA P-256), and the site's certificate, if one
 * is configured. The authority and the server certificate are PEM files in the state directory;
 * missing files are made. A new server certificate is made when its names change, 30 days before it
 * expires, and when it is not valid yet because the clock was ahead. Clients only need ca.pem,
 * which is valid for 10 years. A name below one of the daemon's names (ACCOUNT.file.core.localhost)
 * gets a certificate when the first client asks for it; these certificates are only kept in memory.
 */
#ifndef DAEMON_CERTS_CERTS_H
#define DAEMON_CERTS_CERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

struct certs;
struct gnutls_pcert_st;
struct gnutls_privkey_st;

/* Paths of PEM files. */
struct certs_files {
    const char *ca_cert, *ca_key, *server_cert, *server_key;
    bool without_sync; /* ephemeral: written files are not synced */
};

/* Texts are borrowed while the certificates are open, lists only during certs_open(). */
struct certs_config {
    struct certs_files files;
    /* the IP literals on which the daemon listens, in addition to loopback */
    char *const *addresses;
    size_t n_addresses;
    /* names of the daemon for clients, in addition to localhost and the machine's name */
    char *const *names;
    size_t n_names;
    const char *site_cert, *site_key; /* PEM files; "": none */
};

int certs_open(const struct certs_config *c, int64_t now_us, struct certs **out,
               struct err *e) MUST_CHECK;
void certs_close(struct certs *c); /* NULL: nothing */

/* The authority's certificate as PEM text. */
const char *certs_authority(const struct certs *c);

/* The fingerprint of a certificate (PEM text): SHA-256, in OpenSSL's format, "AB:CD:...". */
#define CERTS_FINGERPRINT_SIZE 96
int certs_fingerprint(const char *pem, char out[CERTS_FINGERPRINT_SIZE], struct err *e) MUST_CHECK;

/* The names of the daemon: localhost, the name of this machine, and the configured names. */
const char *const *certs_names(const struct certs *c, size_t *n);

/* A certificate chain, the server's certificate first, and its key: valid at least for one
 * handshake. */
struct certs_choice {
    struct gnutls_pcert_st *chain;
    unsigned n;
    struct gnutls_privkey_st *key;
};

/* Finds the certificate for the name that a client requests; "": the client requests none.
 * `mono_us`: monotonic time. */
void certs_pick(struct certs *c, const char *name, int64_t now_us, int64_t mono_us,
                struct certs_choice *out);

/* The contents of the site's files as text; the caller owns them, certs_site_free() wipes them.
 * certs_site_read() may run on any thread. */
struct certs_site {
    char *cert, *key; /* NULL: there are none */
};
int certs_site_read(const struct certs *c, struct certs_site *out, struct err *e) MUST_CHECK;
void certs_site_free(struct certs_site *s);
/* Reads the site's files at these paths ("": none) and checks that they are a certificate and its
 * key. Blocks. *ends_us: the wall time at which the certificate expires; 0 without a
 * certificate. */
int certs_site_check(const char *cert, const char *key, int64_t *ends_us, struct err *e) MUST_CHECK;
/* The time at which the site's certificate in use expires; 0: there is no such certificate. */
int64_t certs_site_ends_us(const struct certs *c);
/* The time at which the certificate of the daemon's authority expires. */
int64_t certs_authority_ends_us(const struct certs *c);
/* Makes a certificate from the contents of the site's files. The caller then passes it either to
 * certs_site_show(), which puts it into use, or to certs_shown_free(). *out NULL: no files are
 * configured, and the certificate in use stays. -1: the files cannot be used. */
struct shown;
int certs_site_make(const struct certs *c, const struct certs_site *text, struct shown **out,
                    struct err *e) MUST_CHECK;
void certs_site_show(struct certs *c, struct shown *s, int64_t mono_us);
void certs_shown_free(struct shown *s);

#endif
