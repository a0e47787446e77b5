/* SPDX-License-Identifier: MIT
 *
 * A `struct shown` is a certificate with its chain and key in GnuTLS's form. The server borrows it
 * in each handshake, so a replaced certificate is retired: it is freed when more time has passed
 * than the longest handshake takes. Certificates for names are in a list of limited length, the
 * most recently used first; if the list is full, the least recently used certificate is freed
 * unless a handshake may still use it. Files are read and written only at the start and on a
 * reload. Runs on the loop's thread, except certs_site_read(), which a worker thread calls.
 */
#include "daemon/certs/certs.h"

#include <assert.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "daemon/certs/x509.h"
#include "lib/arena.h"
#include "lib/dns_name.h"
#include "lib/fs.h"

enum {
    DAY_S = 24 * 60 * 60,
    CA_DAYS = 3650,
    SERVER_DAYS = 820, /* some clients refuse certificates with more than 825 days */
    RENEW_DAYS = 30,
    CHAIN_MAX = 8,
    MADE_MAX = 1024, /* certificates for names that are kept in memory */
    MAX_FILE = 256 * 1024,
};

/* Microseconds that a retired certificate is kept: longer than any handshake. */
#define LENT_US (60 * (int64_t)1000000)

/* 2018-01-01: the authority is valid from here on. An authority that was made while the clock was
 * ahead thus stays valid after the clock is corrected; its clients could not be informed of a new
 * one. */
#define CA_BEGINS ((time_t)1514764800)

/* A certificate in use. */
struct shown {
    struct shown *next;
    char *name; /* the requested name; NULL: none */
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned n;
    gnutls_privkey_t key;
    time_t begins, ends;
    /* the first certificate of the site's chain; NULL: the certificate is the daemon's */
    gnutls_x509_crt_t first;
    int64_t used_us; /* monotonic */
};

struct certs {
    struct certs_config config;
    struct sans wanted; /* the names of the server certificate */
    struct sans hosts;  /* any name below these names belongs to the daemon */
    struct pair ca;
    char *ca_pem;
    gnutls_x509_privkey_t key; /* the key of all certificates of the daemon */
    struct shown *own;
    struct shown *site; /* the site's certificate; NULL: none */
    struct shown *made; /* for names, most recently used first */
    size_t n_made;
    struct shown *retired; /* may still be in use for a handshake */
};

/* --- the files ------------------------------------------------------------------------------ */

/* Certificates are valid from an hour ago, for clients whose clocks are a little slow. */
static time_t begins(time_t now)
{
    return now - 3600;
}

static bool ends_soon(time_t end, time_t now)
{
    return end < now + (time_t)RENEW_DAYS * DAY_S;
}

static int make_ca(const struct certs_files *s, time_t now, struct pair *p, struct err *e)
{
    time_t from = begins(now) < CA_BEGINS ? begins(now) : CA_BEGINS;
    if (pair_make_authority("batchaid local authority", from, now + (time_t)CA_DAYS * DAY_S, p, e) <
        0)
        return -1;
    return pair_save(p, s->ca_cert, s->ca_key, !s->without_sync, e);
}

/* Makes a server certificate that the authority `ca` signs. `key` NULL: with a new key. */
static int make_server(const struct pair *ca, const struct sans *sans, time_t now,
                       gnutls_x509_privkey_t key, struct pair *p, struct err *e)
{
    time_t end = now + (time_t)SERVER_DAYS * DAY_S;
    time_t ca_end = gnutls_x509_crt_get_expiration_time(ca->crt);
    const struct pair_wanted wanted = {"localhost", sans, begins(now), end < ca_end ? end : ca_end,
                                       key};
    return pair_make_server(ca, &wanted, p, e);
}

static bool present(const char *cert_path, const char *key_path)
{
    return access(cert_path, F_OK) == 0 && access(key_path, F_OK) == 0;
}

static bool is_good(const struct pair *p, const struct pair *ca, const struct sans *wanted,
                    time_t now)
{
    unsigned verdict = 0;
    struct sans actual = {.n = 0};
    bool chained = gnutls_x509_crt_verify(p->crt, &ca->crt, 1, GNUTLS_VERIFY_DISABLE_TIME_CHECKS,
                                          &verdict) == 0 &&
                   verdict == 0;
    sans_of(p->crt, &actual);
    bool good = chained && gnutls_x509_crt_get_activation_time(p->crt) <= now &&
                !ends_soon(gnutls_x509_crt_get_expiration_time(p->crt), now) &&
                sans_equal(&actual, wanted);
    sans_free(&actual);
    return good;
}

/* An unreadable certificate authority is not replaced, because clients trust this very file. */
static int get_ca(const struct certs_files *s, time_t now, struct pair *ca, struct err *e)
{
    if (!present(s->ca_cert, s->ca_key))
        return make_ca(s, now, ca, e);
    if (pair_load(s->ca_cert, s->ca_key, ca, e) < 0)
        return err_prefix(e, "certificate authority (remove %s to have a new one made)",
                          s->ca_cert);
    if (!ends_soon(gnutls_x509_crt_get_expiration_time(ca->crt), now))
        return 0;
    pair_free(ca);
    return make_ca(s, now, ca, e);
}

static int get_server(const struct certs *c, time_t now, struct pair *p, struct err *e)
{
    const struct certs_files *s = &c->config.files;
    if (present(s->server_cert, s->server_key) &&
        pair_load(s->server_cert, s->server_key, p, NULL) == 0) {
        if (is_good(p, &c->ca, &c->wanted, now))
            return 0;
        pair_free(p);
    }
    if (make_server(&c->ca, &c->wanted, now, NULL, p, e) < 0)
        return -1;
    /* If a power cut damages the file, the next start makes it again. */
    return pair_save(p, s->server_cert, s->server_key, false, e);
}

/* --- certificates in use --- */

void certs_shown_free(struct shown *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->n; i++)
        gnutls_pcert_deinit(&s->chain[i]);
    if (s->first)
        gnutls_x509_crt_deinit(s->first);
    gnutls_privkey_deinit(s->key);
    free(s->name);
    free(s);
}

static void shown_free_all(struct shown *s)
{
    while (s) {
        struct shown *next = s->next;
        certs_shown_free(s);
        s = next;
    }
}

static struct shown *shown_create(gnutls_x509_crt_t *chain, unsigned n, gnutls_x509_privkey_t key,
                                  const char *name)
{
    struct shown *s = xcalloc(1, sizeof *s);
    assert(n > 0 && n <= CHAIN_MAX);
    if (gnutls_privkey_init(&s->key) < 0)
        abort();
    s->name = name ? xstrdup(name) : NULL;
    s->begins = gnutls_x509_crt_get_activation_time(chain[0]);
    s->ends = gnutls_x509_crt_get_expiration_time(chain[0]);
    bool good = gnutls_privkey_import_x509(s->key, key, GNUTLS_PRIVKEY_IMPORT_COPY) == 0;
    for (unsigned i = 0; good && i < n; i++) {
        good = gnutls_pcert_import_x509(&s->chain[i], chain[i], 0) == 0;
        s->n += good;
    }
    if (good)
        return s;
    certs_shown_free(s);
    return NULL;
}

/* Takes `s` out of use. It is freed later, because a handshake may still use it. */
static void retire(struct certs *c, struct shown *s, int64_t mono_us)
{
    if (!s)
        return;
    s->used_us = mono_us;
    s->next = c->retired;
    c->retired = s;
}

static void free_retired(struct certs *c, int64_t mono_us)
{
    for (struct shown **at = &c->retired; *at;) {
        struct shown *s = *at;
        if (mono_us - s->used_us < LENT_US) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        certs_shown_free(s);
    }
}

/* --- names ---------------------------------------------------------------------------------- */

static void add_names(struct certs *c)
{
    static const char *const always[] = {
        "localhost", "*.localhost", "*.file.localhost", "*.blob.localhost", "*.vault.localhost",
        "127.0.0.1", "::1"};
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        sans_add(&c->wanted, always[i]);
    sans_add(&c->hosts, "localhost");
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) == 0 && is_dns_name(host)) {
        sans_add(&c->wanted, host);
        sans_add(&c->hosts, host);
    }
    for (size_t i = 0; i < c->config.n_names; i++) {
        sans_add(&c->wanted, c->config.names[i]);
        sans_add(&c->hosts, c->config.names[i]);
    }
    for (size_t i = 0; i < c->config.n_addresses; i++)
        sans_add(&c->wanted, c->config.addresses[i]);
}

const char *const *certs_names(const struct certs *c, size_t *n)
{
    *n = c->hosts.n;
    return (const char *const *)c->hosts.items;
}

/* Whether a name is below one of the daemon's names. */
static bool is_ours(const struct certs *c, const char *name)
{
    size_t n = strlen(name);
    if (!is_dns_name(name))
        return false;
    for (size_t i = 0; i < c->hosts.n; i++) {
        size_t m = strlen(c->hosts.items[i]);
        if (n > m && name[n - m - 1] == '.' && strcasecmp(name + n - m, c->hosts.items[i]) == 0)
            return true;
    }
    return false;
}

/* --- certificates for names ----------------------------------------------------------------- */

/* Takes the certificate for this name out of its list; NULL: there is none. */
static struct shown *find_made(struct certs *c, const char *name)
{
    for (struct shown **at = &c->made; *at; at = &(*at)->next) {
        struct shown *s = *at;
        if (strcasecmp(s->name, name) != 0)
            continue;
        *at = s->next;
        c->n_made--;
        return s;
    }
    return NULL;
}

static void keep_made(struct certs *c, struct shown *s)
{
    s->next = c->made;
    c->made = s;
    c->n_made++;
}

/* Makes room in the list: if it is full, frees the least recently used certificate. False: all
 * certificates may still be in use. */
static bool make_room(struct certs *c, int64_t mono_us)
{
    struct shown **last = &c->made;
    if (c->n_made < MADE_MAX)
        return true;
    assert(*last); /* the count matches the list */
    while ((*last)->next)
        last = &(*last)->next;
    if (mono_us - (*last)->used_us < LENT_US)
        return false;
    certs_shown_free(*last);
    *last = NULL;
    c->n_made--;
    return true;
}

static struct shown *make_shown(struct certs *c, const struct sans *sans, const char *name,
                                int64_t now_us)
{
    struct pair p = {NULL, NULL};
    struct shown *s = NULL;
    if (make_server(&c->ca, sans, (time_t)(now_us / 1000000), c->key, &p, NULL) == 0)
        s = shown_create(&p.crt, 1, p.key, name);
    pair_free(&p);
    return s;
}

/* Whether the certificate must be replaced: it expires soon and the authority does not, or it is
 * not valid yet, because the clock was ahead. */
static bool is_stale(const struct certs *c, const struct shown *s, time_t now)
{
    time_t ca_end = gnutls_x509_crt_get_expiration_time(c->ca.crt);
    return s->begins > now || (ends_soon(s->ends, now) && !ends_soon(ca_end, now));
}

static struct shown *for_name(struct certs *c, const char *name, int64_t now_us, int64_t mono_us)
{
    struct shown *s = find_made(c, name);
    if (s && is_stale(c, s, (time_t)(now_us / 1000000))) {
        retire(c, s, mono_us);
        s = NULL;
    }
    if (!s && make_room(c, mono_us)) {
        struct sans one = {.n = 0};
        sans_add(&one, name);
        s = make_shown(c, &one, name, now_us);
        sans_free(&one);
    }
    if (s)
        keep_made(c, s);
    return s;
}

/* Replaces the daemon's own certificate in memory if it must be replaced; the next start writes new
 * files. */
static void renew_own(struct certs *c, int64_t now_us, int64_t mono_us)
{
    if (!is_stale(c, c->own, (time_t)(now_us / 1000000)))
        return;
    struct shown *renewed = make_shown(c, &c->wanted, NULL, now_us);
    if (!renewed)
        return;
    retire(c, c->own, mono_us);
    c->own = renewed;
}

void certs_pick(struct certs *c, const char *name, int64_t now_us, int64_t mono_us,
                struct certs_choice *out)
{
    struct shown *s = NULL;
    free_retired(c, mono_us);
    renew_own(c, now_us, mono_us);
    if (c->site && *name && !is_local_name(name) &&
        gnutls_x509_crt_check_hostname(c->site->first, name))
        s = c->site;
    else if (is_ours(c, name) && !sans_have(&c->wanted, name))
        s = for_name(c, name, now_us, mono_us);
    if (!s)
        s = c->own;
    s->used_us = mono_us;
    *out = (struct certs_choice){s->chain, s->n, s->key};
}

/* --- the site's certificate ------------------------------------------------------------------- */

int certs_site_read(const struct certs *c, struct certs_site *out, struct err *e)
{
    *out = (struct certs_site){NULL, NULL};
    if (!*c->config.site_cert)
        return 0;
    if (fs_read(c->config.site_cert, MAX_FILE, &out->cert, NULL, e) == 0 &&
        fs_read(c->config.site_key, MAX_FILE, &out->key, NULL, e) == 0)
        return 0;
    certs_site_free(out);
    return -1;
}

void certs_site_free(struct certs_site *s)
{
    if (s->key)
        sodium_memzero(s->key, strlen(s->key));
    free(s->cert);
    free(s->key);
    *s = (struct certs_site){NULL, NULL};
}

static gnutls_datum_t text_of(char *s)
{
    return (gnutls_datum_t){(unsigned char *)s, (unsigned)strlen(s)};
}

static int refuse(int rc, const char *path, struct err *e)
{
    return err_set(e, ERR_CONFIG, NULL, "%s: %s", path, gnutls_strerror(rc));
}

static int load_site(const struct certs *c, const struct certs_site *text,
                     gnutls_x509_crt_t chain[CHAIN_MAX], unsigned *n, gnutls_x509_privkey_t key,
                     struct err *e)
{
    const char *cert_path = c->config.site_cert, *key_path = c->config.site_key;
    gnutls_datum_t d = text_of(text->cert);
    *n = CHAIN_MAX;
    int rc = gnutls_x509_crt_list_import(chain, n, &d, GNUTLS_X509_FMT_PEM,
                                         GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED |
                                             GNUTLS_X509_CRT_LIST_FAIL_IF_UNSORTED);
    if (rc <= 0) {
        *n = 0;
        return refuse(rc < 0 ? rc : GNUTLS_E_NO_CERTIFICATE_FOUND, cert_path, e);
    }
    d = text_of(text->key);
    rc = gnutls_x509_privkey_import2(key, &d, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (rc < 0)
        return refuse(rc, key_path, e);
    const struct pair p = {chain[0], key};
    return pair_fits(&p)
               ? 0
               : err_set(e, ERR_CONFIG, NULL, "%s is not the key of %s", key_path, cert_path);
}

static int64_t ends_us(gnutls_x509_crt_t crt)
{
    return (int64_t)gnutls_x509_crt_get_expiration_time(crt) * 1000000;
}

int64_t certs_site_ends_us(const struct certs *c)
{
    return c->site ? ends_us(c->site->first) : 0;
}

int64_t certs_authority_ends_us(const struct certs *c)
{
    return ends_us(c->ca.crt);
}

int certs_site_check(const char *cert, const char *key, int64_t *ends, struct err *e)
{
    const struct certs c = {.config = {.site_cert = cert, .site_key = key}};
    struct certs_site text;
    gnutls_x509_crt_t chain[CHAIN_MAX];
    gnutls_x509_privkey_t private_key;
    unsigned n = 0;
    *ends = 0;
    if (certs_site_read(&c, &text, e) < 0)
        return -1;
    if (!text.cert)
        return 0;
    if (gnutls_x509_privkey_init(&private_key) < 0)
        abort();
    int rc = load_site(&c, &text, chain, &n, private_key, e);
    if (rc == 0)
        *ends = ends_us(chain[0]);
    for (unsigned i = 0; i < n; i++)
        gnutls_x509_crt_deinit(chain[i]);
    gnutls_x509_privkey_deinit(private_key);
    certs_site_free(&text);
    return rc;
}

int certs_site_make(const struct certs *c, const struct certs_site *text, struct shown **out,
                    struct err *e)
{
    gnutls_x509_crt_t chain[CHAIN_MAX];
    gnutls_x509_privkey_t key;
    unsigned n = 0;
    *out = NULL;
    if (!text->cert)
        return 0;
    if (gnutls_x509_privkey_init(&key) < 0)
        abort();
    int rc = load_site(c, text, chain, &n, key, e);
    if (rc == 0 && !(*out = shown_create(chain, n, key, NULL)))
        rc = err_set(e, ERR_CONFIG, NULL, "%s: this certificate cannot be used",
                     c->config.site_cert);
    gnutls_x509_privkey_deinit(key);
    if (*out)
        (*out)->first = chain[0];
    for (unsigned i = *out ? 1 : 0; i < n; i++)
        gnutls_x509_crt_deinit(chain[i]);
    return rc;
}

void certs_site_show(struct certs *c, struct shown *s, int64_t mono_us)
{
    if (!s)
        return;
    retire(c, c->site, mono_us);
    c->site = s;
}

/* --- the whole ------------------------------------------------------------------------------ */

static char *pem_of(gnutls_x509_crt_t crt)
{
    gnutls_datum_t d;
    if (gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &d) < 0)
        abort();
    char *text = xcalloc(d.size + 1, 1);
    memcpy(text, d.data, d.size);
    gnutls_free(d.data);
    return text;
}

int certs_fingerprint(const char *pem, char out[CERTS_FINGERPRINT_SIZE], struct err *e)
{
    unsigned char hash[32] = {0};
    size_t n = sizeof hash;
    gnutls_x509_crt_t crt;
    const gnutls_datum_t text = {(unsigned char *)(uintptr_t)pem, (unsigned)strlen(pem)};
    if (gnutls_x509_crt_init(&crt) < 0)
        abort();
    int rc = gnutls_x509_crt_import(crt, &text, GNUTLS_X509_FMT_PEM);
    if (rc == 0)
        rc = gnutls_x509_crt_get_fingerprint(crt, GNUTLS_DIG_SHA256, hash, &n);
    gnutls_x509_crt_deinit(crt);
    if (rc < 0)
        return err_set(e, ERR_CONFIG, NULL, "the certificate cannot be read: %s",
                       gnutls_strerror(rc));
    for (size_t i = 0; i < n; i++)
        snprintf(out + 3 * i, 4, "%02X%s", hash[i], i + 1 < n ? ":" : "");
    return 0;
}

static int open_own(struct certs *c, time_t now, struct err *e)
{
    struct pair p = {NULL, NULL};
    if (get_ca(&c->config.files, now, &c->ca, e) < 0 || get_server(c, now, &p, e) < 0) {
        pair_free(&p);
        return -1;
    }
    c->ca_pem = pem_of(c->ca.crt);
    c->own = shown_create(&p.crt, 1, p.key, NULL);
    c->key = p.key;
    p.key = NULL;
    pair_free(&p);
    return c->own ? 0
                  : err_set(e, ERR_CONFIG, NULL,
                            "%s cannot be used; remove it to have a new "
                            "one made",
                            c->config.files.server_cert);
}

int certs_open(const struct certs_config *config, int64_t now_us, struct certs **out, struct err *e)
{
    struct certs *c = xcalloc(1, sizeof *c);
    struct certs_site site = {NULL, NULL};
    struct shown *shown = NULL;
    c->config = *config;
    add_names(c);
    int rc = open_own(c, (time_t)(now_us / 1000000), e);
    if (rc == 0)
        rc = certs_site_read(c, &site, e);
    if (rc == 0)
        rc = certs_site_make(c, &site, &shown, e);
    certs_site_show(c, shown, 0);
    certs_site_free(&site);
    if (rc < 0) {
        certs_close(c);
        return -1;
    }
    *out = c;
    return 0;
}

const char *certs_authority(const struct certs *c)
{
    return c->ca_pem;
}

void certs_close(struct certs *c)
{
    if (!c)
        return;
    certs_shown_free(c->own);
    certs_shown_free(c->site);
    shown_free_all(c->made);
    shown_free_all(c->retired);
    if (c->key)
        gnutls_x509_privkey_deinit(c->key);
    free(c->ca_pem);
    pair_free(&c->ca);
    sans_free(&c->wanted);
    sans_free(&c->hosts);
    free(c);
}
