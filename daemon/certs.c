/* SPDX-License-Identifier: MIT */
#include "daemon/certs.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"

enum {
    DAY_S = 24 * 60 * 60,
    CA_DAYS = 3650,
    SERVER_DAYS = 820, /* some clients refuse certificates that are valid for more than 825 days */
    RENEW_DAYS = 30,
    MAX_FILE = 64 * 1024,
    MAX_SANS = 64,
};

/* 2018-01-01. An authority that was made while the clock was ahead is good when it is right again:
 * nobody could tell its clients of another. */
#define CA_BEGINS ((time_t)1514764800)

/* A certificate and its private key; pair_free() accepts a zeroed one. */
struct pair {
    gnutls_x509_crt_t crt;
    gnutls_x509_privkey_t key;
};

/* Names and addresses as text, sorted, without duplicates. */
struct sans {
    char *items[MAX_SANS];
    size_t n;
};

static int failed(int rc, const char *what, struct err *e)
{
    return err_set(e, ERR_CONFIG, NULL, "%s: %s", what, gnutls_strerror(rc));
}

static void pair_free(struct pair *p)
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

static void sans_add(struct sans *s, const char *text)
{
    size_t at = 0;
    int order = 1;
    while (at < s->n && (order = strcmp(s->items[at], text)) < 0)
        at++;
    if ((at < s->n && order == 0) || s->n == MAX_SANS)
        return;
    memmove(s->items + at + 1, s->items + at, (s->n - at) * sizeof s->items[0]);
    s->items[at] = xstrdup(text);
    s->n++;
}

static void sans_free(struct sans *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->items[i]);
    s->n = 0;
}

static bool sans_equal(const struct sans *a, const struct sans *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

/* Bytes of an address, or 0 if `text` is a name. */
static size_t address_bytes(const char *text, unsigned char out[16])
{
    if (inet_pton(AF_INET, text, out) == 1)
        return 4;
    return inet_pton(AF_INET6, text, out) == 1 ? 16 : 0;
}

static bool is_dns_name(const char *s)
{
    const char *const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
    return *s && *s != '-' && *s != '.' && !s[strspn(s, allowed)];
}

static void wanted_sans(char *const *addresses, size_t n, struct sans *s)
{
    static const char *const always[] = {
        "localhost", "*.localhost", "*.file.localhost", "*.blob.localhost", "*.vault.localhost",
        "127.0.0.1", "::1"};
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        sans_add(s, always[i]);
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) == 0 && is_dns_name(host))
        sans_add(s, host);
    for (size_t i = 0; i < n; i++)
        sans_add(s, addresses[i]);
}

static void actual_sans(gnutls_x509_crt_t crt, struct sans *s)
{
    for (unsigned i = 0; i < MAX_SANS; i++) {
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

static bool belong_together(const struct pair *p)
{
    unsigned char a[64], b[64];
    size_t na = sizeof a, nb = sizeof b;
    return gnutls_x509_crt_get_key_id(p->crt, 0, a, &na) == 0 &&
           gnutls_x509_privkey_get_key_id(p->key, 0, b, &nb) == 0 && na == nb &&
           memcmp(a, b, na) == 0;
}

static int load_pair(const char *cert_path, const char *key_path, struct pair *p, struct err *e)
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
    rc = belong_together(p)
             ? 0
             : err_set(e, ERR_CONFIG, NULL, "%s is not the key of %s", key_path, cert_path);
out:
    free_pem(&cert);
    free_pem(&key);
    if (rc < 0)
        pair_free(p);
    return rc;
}

/* The key is saved first, so that a certificate never exists without its key. */
static int save_pair(const struct pair *p, const char *cert_path, const char *key_path,
                     struct err *e)
{
    gnutls_datum_t cert = {NULL, 0}, key = {NULL, 0};
    int rc = gnutls_x509_privkey_export2_pkcs8(p->key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN,
                                               &key);
    if (rc == 0)
        rc = gnutls_x509_crt_export2(p->crt, GNUTLS_X509_FMT_PEM, &cert);
    if (rc < 0)
        rc = failed(rc, cert_path, e);
    else if (unlink(cert_path), fs_write_atomic(key_path, key.data, key.size, 0600, e) < 0)
        rc = -1;
    else
        rc = fs_write_atomic(cert_path, cert.data, cert.size, 0644, e);
    if (key.data)
        sodium_memzero(key.data, key.size);
    gnutls_free(key.data);
    gnutls_free(cert.data);
    return rc;
}

/* --- making --------------------------------------------------------------------------------- */

/* Makes the parts that both certificates have: a P-256 key, a random positive serial number, dates,
 * a name. */
static int begin(struct pair *p, const char *name, time_t from, time_t end)
{
    unsigned char serial[16];
    randombytes_buf(serial, sizeof serial);
    serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40);
    pair_init(p);
    int rc = gnutls_x509_privkey_generate(p->key, GNUTLS_PK_ECDSA,
                                          GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (rc == 0)
        rc = gnutls_x509_crt_set_version(p->crt, 3);
    if (rc == 0)
        rc = gnutls_x509_crt_set_serial(p->crt, serial, sizeof serial);
    if (rc == 0)
        rc = gnutls_x509_crt_set_activation_time(p->crt, from);
    if (rc == 0)
        rc = gnutls_x509_crt_set_expiration_time(p->crt, end);
    if (rc == 0)
        rc = gnutls_x509_crt_set_dn_by_oid(p->crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                           (unsigned)strlen(name));
    if (rc == 0)
        rc = gnutls_x509_crt_set_key(p->crt, p->key);
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

/* An hour back, for clients whose clock is a little behind. */
static time_t begins(time_t now)
{
    return now - 3600;
}

static int make_ca(const struct state *s, time_t now, struct pair *p, struct err *e)
{
    time_t from = begins(now) < CA_BEGINS ? begins(now) : CA_BEGINS;
    int rc = begin(p, "batchaid local authority", from, now + (time_t)CA_DAYS * DAY_S);
    if (rc == 0)
        rc = gnutls_x509_crt_set_basic_constraints(p->crt, 1, 0);
    if (rc == 0)
        rc = finish(p, p, GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN);
    if (rc < 0)
        return failed(rc, "cannot make a certificate authority", e);
    return save_pair(p, s->ca_cert, s->ca_key, e);
}

static int make_server(const struct state *s, const struct pair *ca, const struct sans *sans,
                       time_t now, struct pair *p, struct err *e)
{
    time_t end = now + (time_t)SERVER_DAYS * DAY_S;
    time_t ca_end = gnutls_x509_crt_get_expiration_time(ca->crt);
    int rc = begin(p, "localhost", begins(now), end < ca_end ? end : ca_end);
    if (rc == 0)
        rc = gnutls_x509_crt_set_basic_constraints(p->crt, 0, -1);
    if (rc == 0)
        rc = gnutls_x509_crt_set_key_purpose_oid(p->crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
    if (rc == 0)
        rc = add_sans(p->crt, sans);
    if (rc == 0)
        rc = finish(p, ca, GNUTLS_KEY_DIGITAL_SIGNATURE);
    if (rc < 0)
        return failed(rc, "cannot make a server certificate", e);
    return save_pair(p, s->server_cert, s->server_key, e);
}

static bool ends_soon(gnutls_x509_crt_t crt, time_t now)
{
    return gnutls_x509_crt_get_expiration_time(crt) < now + (time_t)RENEW_DAYS * DAY_S;
}

static bool has_begun(gnutls_x509_crt_t crt, time_t now)
{
    return gnutls_x509_crt_get_activation_time(crt) <= now;
}

static bool present(const char *cert_path, const char *key_path)
{
    return access(cert_path, F_OK) == 0 && access(key_path, F_OK) == 0;
}

static bool server_is_good(const struct state *s, const struct pair *ca, const struct sans *wanted,
                           time_t now)
{
    struct pair p = {NULL, NULL};
    struct sans actual = {.n = 0};
    if (!present(s->server_cert, s->server_key) ||
        load_pair(s->server_cert, s->server_key, &p, NULL) < 0)
        return false;
    unsigned verdict = 0;
    bool chained = gnutls_x509_crt_verify(p.crt, &ca->crt, 1, GNUTLS_VERIFY_DISABLE_TIME_CHECKS,
                                          &verdict) == 0 &&
                   verdict == 0;
    actual_sans(p.crt, &actual);
    bool good =
        chained && has_begun(p.crt, now) && !ends_soon(p.crt, now) && sans_equal(&actual, wanted);
    sans_free(&actual);
    pair_free(&p);
    return good;
}

/* An unreadable certificate authority is not replaced, because clients trust this very file. */
static int get_ca(const struct state *s, time_t now, struct pair *ca, struct err *e)
{
    if (!present(s->ca_cert, s->ca_key))
        return make_ca(s, now, ca, e);
    if (load_pair(s->ca_cert, s->ca_key, ca, e) < 0)
        return err_prefix(e, "certificate authority (remove %s to have a new one made)",
                          s->ca_cert);
    if (!ends_soon(ca->crt, now))
        return 0;
    pair_free(ca);
    return make_ca(s, now, ca, e);
}

int certs_load(const struct state *s, char *const *addresses, size_t n, int64_t now_us,
               struct certs *out, struct err *e)
{
    time_t now = (time_t)(now_us / 1000000);
    struct pair ca = {NULL, NULL}, server = {NULL, NULL};
    struct sans wanted = {.n = 0};
    memset(out, 0, sizeof *out);
    wanted_sans(addresses, n, &wanted);
    int rc = get_ca(s, now, &ca, e);
    if (rc == 0 && !server_is_good(s, &ca, &wanted, now))
        rc = make_server(s, &ca, &wanted, now, &server, e);
    if (rc == 0)
        rc = fs_read(s->server_cert, MAX_FILE, &out->cert_pem, NULL, e);
    if (rc == 0)
        rc = fs_read(s->server_key, MAX_FILE, &out->key_pem, NULL, e);
    if (rc < 0)
        certs_free(out);
    sans_free(&wanted);
    pair_free(&server);
    pair_free(&ca);
    return rc;
}

void certs_free(struct certs *c)
{
    if (c->key_pem)
        sodium_memzero(c->key_pem, strlen(c->key_pem));
    free(c->cert_pem);
    free(c->key_pem);
    memset(c, 0, sizeof *c);
}
