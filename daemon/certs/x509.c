/* SPDX-License-Identifier: MIT
 *
 * Uses GnuTLS: a `struct pair` owns a certificate and its key, a `struct sans` its sorted names.
 * Serial numbers are random. Each function leaves its result in a state that can be freed, even if
 * it fails.
 */
#include "daemon/certs/x509.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"

enum { MAX_FILE = 64 * 1024 };

#define KEY_BITS GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1)

static int failed(int rc, const char *what, struct err *e)
{
    return err_set(e, ERR_CONFIG, NULL, "%s: %s", what, gnutls_strerror(rc));
}

/* --- names ---------------------------------------------------------------------------------- */

void sans_add(struct sans *s, const char *text)
{
    size_t at = 0;
    int order = 1;
    while (at < s->n && (order = strcmp(s->items[at], text)) < 0)
        at++;
    if ((at < s->n && order == 0) || s->n == SANS_MAX)
        return;
    memmove(s->items + at + 1, s->items + at, (s->n - at) * sizeof s->items[0]);
    s->items[at] = xstrdup(text);
    s->n++;
}

void sans_free(struct sans *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->items[i]);
    s->n = 0;
}

bool sans_equal(const struct sans *a, const struct sans *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

/* How many bytes the address has; 0: `text` is a name. */
static size_t address_bytes(const char *text, unsigned char out[16])
{
    if (inet_pton(AF_INET, text, out) == 1)
        return 4;
    return inet_pton(AF_INET6, text, out) == 1 ? 16 : 0;
}

bool sans_have(const struct sans *s, const char *text)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcasecmp(s->items[i], text) == 0)
            return true;
    return false;
}

void sans_of(gnutls_x509_crt_t crt, struct sans *s)
{
    for (unsigned i = 0; i < SANS_MAX; i++) {
        unsigned char data[256];
        char text[INET6_ADDRSTRLEN];
        size_t size = sizeof data - 1;
        int type = gnutls_x509_crt_get_subject_alt_name(crt, i, data, &size, NULL);
        if (type < 0)
            return;
        if (type == GNUTLS_SAN_IPADDRESS) {
            inet_ntop(size == 4 ? AF_INET : AF_INET6, data, text, sizeof text);
            sans_add(s, text);
        } else {
            data[size] = '\0';
            sans_add(s, (const char *)data);
        }
    }
}

static int add_sans(gnutls_x509_crt_t crt, const struct sans *s)
{
    for (size_t i = 0; i < s->n; i++) {
        unsigned char addr[16];
        size_t len = address_bytes(s->items[i], addr);
        int rc = len ? gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, addr,
                                                            (unsigned)len, GNUTLS_FSAN_APPEND)
                     : gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, s->items[i],
                                                            (unsigned)strlen(s->items[i]),
                                                            GNUTLS_FSAN_APPEND);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* --- files ---------------------------------------------------------------------------------- */

void pair_free(struct pair *p)
{
    if (p->crt)
        gnutls_x509_crt_deinit(p->crt);
    if (p->key)
        gnutls_x509_privkey_deinit(p->key);
    memset(p, 0, sizeof *p);
}

static void pair_init(struct pair *p)
{
    if (gnutls_x509_crt_init(&p->crt) < 0 || gnutls_x509_privkey_init(&p->key) < 0)
        abort();
}

static int load_pem(const char *path, gnutls_datum_t *d, struct err *e)
{
    char *text;
    size_t len;
    if (fs_read(path, MAX_FILE, &text, &len, e) < 0)
        return -1;
    d->data = (unsigned char *)text;
    d->size = (unsigned)len;
    return 0;
}

static void free_pem(gnutls_datum_t *d)
{
    if (d->data)
        sodium_memzero(d->data, d->size);
    free(d->data);
    *d = (gnutls_datum_t){NULL, 0};
}

bool pair_fits(const struct pair *p)
{
    unsigned char a[64], b[64];
    size_t na = sizeof a, nb = sizeof b;
    return gnutls_x509_crt_get_key_id(p->crt, 0, a, &na) == 0 &&
           gnutls_x509_privkey_get_key_id(p->key, 0, b, &nb) == 0 && na == nb &&
           memcmp(a, b, na) == 0;
}

int pair_load(const char *cert_path, const char *key_path, struct pair *p, struct err *e)
{
    gnutls_datum_t cert = {NULL, 0}, key = {NULL, 0};
    int rc = -1;
    pair_init(p);
    if (load_pem(cert_path, &cert, e) < 0 || load_pem(key_path, &key, e) < 0)
        goto out;
    int r = gnutls_x509_crt_import(p->crt, &cert, GNUTLS_X509_FMT_PEM);
    if (r < 0) {
        failed(r, cert_path, e);
        goto out;
    }
    r = gnutls_x509_privkey_import2(p->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (r < 0) {
        failed(r, key_path, e);
        goto out;
    }
    rc = pair_fits(p)
             ? 0
             : err_set(e, ERR_CONFIG, NULL, "%s is not the key of %s", key_path, cert_path);
out:
    free_pem(&cert);
    free_pem(&key);
    if (rc < 0)
        pair_free(p);
    return rc;
}

int pair_save(const struct pair *p, const char *cert_path, const char *key_path, bool sync,
              struct err *e)
{
    gnutls_datum_t cert = {NULL, 0}, key = {NULL, 0};
    int rc = gnutls_x509_privkey_export2_pkcs8(p->key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN,
                                               &key);
    if (rc == 0)
        rc = gnutls_x509_crt_export2(p->crt, GNUTLS_X509_FMT_PEM, &cert);
    if (rc < 0)
        rc = failed(rc, cert_path, e);
    else if (unlink(cert_path), fs_write_whole(key_path, key.data, key.size, 0600, sync, e) < 0)
        rc = -1;
    else
        rc = fs_write_whole(cert_path, cert.data, cert.size, 0644, sync, e);
    if (key.data)
        sodium_memzero(key.data, key.size);
    gnutls_free(key.data);
    gnutls_free(cert.data);
    return rc;
}

/* --- making --------------------------------------------------------------------------------- */

/* Fills the common parts of both kinds of certificates, except the key: a random positive serial
 * number, dates, a name. */
static int begin(struct pair *p, const char *name, time_t from, time_t end)
{
    unsigned char serial[16];
    randombytes_buf(serial, sizeof serial);
    serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40);
    pair_init(p);
    int rc = gnutls_x509_crt_set_version(p->crt, 3);
    if (rc == 0)
        rc = gnutls_x509_crt_set_serial(p->crt, serial, sizeof serial);
    if (rc == 0)
        rc = gnutls_x509_crt_set_activation_time(p->crt, from);
    if (rc == 0)
        rc = gnutls_x509_crt_set_expiration_time(p->crt, end);
    if (rc == 0)
        rc = gnutls_x509_crt_set_dn_by_oid(p->crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                           (unsigned)strlen(name));
    return rc;
}

static int add_key_ids(struct pair *p, const struct pair *issuer)
{
    unsigned char own[64], theirs[64];
    size_t n_own = sizeof own, n_theirs = sizeof theirs;
    int rc = gnutls_x509_crt_get_key_id(p->crt, GNUTLS_KEYID_USE_SHA1, own, &n_own);
    if (rc == 0)
        rc = gnutls_x509_crt_set_subject_key_id(p->crt, own, n_own);
    if (rc == 0)
        rc = gnutls_x509_crt_get_key_id(issuer->crt, GNUTLS_KEYID_USE_SHA1, theirs, &n_theirs);
    if (rc == 0)
        rc = gnutls_x509_crt_set_authority_key_id(p->crt, theirs, n_theirs);
    return rc;
}

static int finish(struct pair *p, const struct pair *issuer, unsigned usage)
{
    int rc = gnutls_x509_crt_set_key_usage(p->crt, usage);
    if (rc == 0)
        rc = add_key_ids(p, issuer);
    if (rc == 0)
        rc = gnutls_x509_crt_sign2(p->crt, issuer->crt, issuer->key, GNUTLS_DIG_SHA256, 0);
    return rc;
}

int pair_make_authority(const char *name, time_t from, time_t end, struct pair *p, struct err *e)
{
    int rc = begin(p, name, from, end);
    if (rc == 0)
        rc = gnutls_x509_privkey_generate(p->key, GNUTLS_PK_ECDSA, KEY_BITS, 0);
    if (rc == 0)
        rc = gnutls_x509_crt_set_key(p->crt, p->key);
    if (rc == 0)
        rc = gnutls_x509_crt_set_basic_constraints(p->crt, 1, 0);
    if (rc == 0)
        rc = finish(p, p, GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN);
    if (rc == 0)
        return 0;
    pair_free(p);
    return failed(rc, "cannot make a certificate authority", e);
}

int pair_make_server(const struct pair *ca, const struct pair_wanted *w, struct pair *p,
                     struct err *e)
{
    int rc = begin(p, w->name, w->from, w->end);
    if (rc == 0)
        rc = w->key ? gnutls_x509_privkey_cpy(p->key, w->key)
                    : gnutls_x509_privkey_generate(p->key, GNUTLS_PK_ECDSA, KEY_BITS, 0);
    if (rc == 0)
        rc = gnutls_x509_crt_set_key(p->crt, p->key);
    if (rc == 0)
        rc = gnutls_x509_crt_set_basic_constraints(p->crt, 0, -1);
    if (rc == 0)
        rc = gnutls_x509_crt_set_key_purpose_oid(p->crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
    if (rc == 0)
        rc = add_sans(p->crt, w->sans);
    if (rc == 0)
        rc = finish(p, ca, GNUTLS_KEY_DIGITAL_SIGNATURE);
    if (rc == 0)
        return 0;
    pair_free(p);
    return failed(rc, "cannot make a server certificate", e);
}
