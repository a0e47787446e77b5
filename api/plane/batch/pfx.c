/* SPDX-License-Identifier: MIT
 *
 * Opens PFX files and certificates with GnuTLS. First counts the rounds of key derivation, and
 * refuses too many, because they run on the loop's thread. Keeps only the thumbprint and the public
 * part of a file, and wipes its bytes. No state. On the loop's thread.
 */
#include "api/plane/batch/pfx.h"

#include <gnutls/gnutls.h>
#include <gnutls/pkcs12.h>
#include <gnutls/x509.h>
#include <inttypes.h>
#include <sodium.h>
#include <string.h>

/* The most rounds of key derivation for all parts of a file. The loop waits meanwhile: a bag is
 * opened up to three times (here, for its key and for its certificates), a round of an old cipher
 * is up to three hashes, and GnuTLS computes some millions of hashes a second. Usual programs write
 * files with some thousands of rounds. */
#define ROUNDS_MAX 100000

static int refuse(struct err *e, const char *target, const char *what, int rc)
{
    return err_set(e, ERR_INVALID_PROPERTY, target, "%s: %s", what,
                   rc < 0 ? gnutls_strerror(rc) : "it is not base64");
}

static int refuse_password(struct err *e, int rc)
{
    return refuse(e, "password", "the PFX file cannot be opened with this password", rc);
}

/* Adds the rounds that opening the elements of a bag takes. */
static void count_elements(gnutls_pkcs12_bag_t bag, int64_t *rounds)
{
    int n = gnutls_pkcs12_bag_get_count(bag);
    for (int i = 0; i < n; i++) {
        gnutls_datum_t data;
        unsigned more = 0;
        if (gnutls_pkcs12_bag_get_type(bag, (unsigned)i) == GNUTLS_BAG_PKCS8_ENCRYPTED_KEY &&
            gnutls_pkcs12_bag_get_data(bag, (unsigned)i, &data) == 0)
            (void)gnutls_pkcs8_info(&data, GNUTLS_X509_FMT_DER, NULL, NULL, NULL, NULL, &more,
                                    NULL);
        *rounds += more;
    }
}

/* Adds the rounds that opening a bag and its elements takes. */
static int count_bag(gnutls_pkcs12_t pfx, int at, const char *password, int64_t *rounds)
{
    gnutls_pkcs12_bag_t bag;
    unsigned more = 0;
    int rc = gnutls_pkcs12_bag_init(&bag);
    if (rc < 0)
        return rc;
    rc = gnutls_pkcs12_get_bag(pfx, at, bag);
    if (rc == 0 && gnutls_pkcs12_bag_get_type(bag, 0) == GNUTLS_BAG_ENCRYPTED) {
        rc = gnutls_pkcs12_bag_enc_info(bag, NULL, NULL, NULL, NULL, &more, NULL);
        *rounds += more;
        if (rc == 0 && *rounds <= ROUNDS_MAX)
            rc = gnutls_pkcs12_bag_decrypt(bag, password);
    }
    if (rc == 0)
        count_elements(bag, rounds);
    gnutls_pkcs12_bag_deinit(bag);
    return rc;
}

/* Refuses a file that needs more rounds than ROUNDS_MAX, before more than these are done. The check
 * of a MAC needs rounds too; a file without a MAC needs none for it. */
static int check_rounds(gnutls_pkcs12_t pfx, const char *password, struct err *e)
{
    unsigned mac = 0;
    int rc = 0;
    (void)gnutls_pkcs12_mac_info(pfx, NULL, NULL, NULL, &mac, NULL);
    int64_t rounds = mac;
    for (int i = 0; rc == 0 && rounds <= ROUNDS_MAX; i++)
        rc = count_bag(pfx, i, password, &rounds);
    if (rounds > ROUNDS_MAX)
        return err_set(e, ERR_INVALID_PROPERTY, "data",
                       "the PFX file derives its keys in %" PRId64
                       " rounds or more; %d are the limit, for the MAC and all bags together",
                       rounds, ROUNDS_MAX);
    return rc == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE ? 0 : refuse_password(e, rc);
}

/* Reads the first certificate of the file; this is the one of the private key. */
static int read_pfx(const gnutls_datum_t *file, const char *password, gnutls_x509_crt_t *out,
                    struct err *e)
{
    gnutls_pkcs12_t pfx = NULL;
    gnutls_x509_privkey_t key = NULL;
    gnutls_x509_crt_t *chain = NULL;
    unsigned n = 0;
    password = password ? password : "";
    int rc = gnutls_pkcs12_init(&pfx);
    if (rc == 0)
        rc = gnutls_pkcs12_import(pfx, file, GNUTLS_X509_FMT_DER, 0);
    if (rc < 0)
        refuse(e, "data", "data is not a PFX file", rc);
    else if ((rc = check_rounds(pfx, password, e)) == 0 &&
             (rc = gnutls_pkcs12_simple_parse(pfx, password, &key, &chain, &n, NULL, NULL, NULL,
                                              0)) < 0)
        refuse_password(e, rc);
    for (unsigned i = 1; i < n; i++)
        gnutls_x509_crt_deinit(chain[i]);
    *out = n > 0 ? chain[0] : NULL;
    gnutls_free(chain);
    gnutls_x509_privkey_deinit(key);
    gnutls_pkcs12_deinit(pfx);
    if (rc >= 0 && !*out)
        return err_set(e, ERR_INVALID_PROPERTY, "data", "the PFX file has no certificate");
    return rc < 0 ? -1 : 0;
}

static int read_cer(const gnutls_datum_t *file, gnutls_x509_crt_t *out, struct err *e)
{
    int rc = gnutls_x509_crt_init(out);
    if (rc < 0)
        return refuse(e, "data", "data is not a certificate", rc);
    rc = gnutls_x509_crt_import(*out, file, GNUTLS_X509_FMT_DER);
    if (rc < 0)
        rc = gnutls_x509_crt_import(*out, file, GNUTLS_X509_FMT_PEM);
    if (rc == 0)
        return 0;
    gnutls_x509_crt_deinit(*out);
    return refuse(e, "data", "data is not a certificate", rc);
}

static int describe(struct arena *a, gnutls_x509_crt_t crt, struct pfx *out, struct err *e)
{
    unsigned char hash[(THUMBPRINT_SIZE - 1) / 2];
    size_t n = sizeof hash;
    gnutls_datum_t der = {NULL, 0};
    int rc = gnutls_x509_crt_get_fingerprint(crt, GNUTLS_DIG_SHA1, hash, &n);
    if (rc == 0)
        rc = gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_DER, &der);
    if (rc < 0)
        return refuse(e, "data", "data is not a certificate", rc);
    size_t size = sodium_base64_ENCODED_LEN(der.size, sodium_base64_VARIANT_ORIGINAL);
    char *text = arena_alloc(a, size);
    sodium_bin2base64(text, size, der.data, der.size, sodium_base64_VARIANT_ORIGINAL);
    sodium_bin2hex(out->thumbprint, sizeof out->thumbprint, hash, sizeof hash);
    out->public = text;
    gnutls_free(der.data);
    return 0;
}

int pfx_read(struct arena *a, const char *data, bool pfx, const char *password, struct pfx *out,
             struct err *e)
{
    size_t size = strlen(data), n;
    unsigned char *bytes = arena_alloc(a, size + 1);
    gnutls_x509_crt_t crt;
    if (sodium_base642bin(bytes, size, data, size, "\r\n ", &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) < 0)
        return refuse(e, "data", "data cannot be read", 0);
    const gnutls_datum_t file = {bytes, (unsigned)n};
    int rc = pfx ? read_pfx(&file, password, &crt, e) : read_cer(&file, &crt, e);
    if (rc == 0) {
        rc = describe(a, crt, out, e);
        gnutls_x509_crt_deinit(crt);
    }
    sodium_memzero(bytes, size);
    return rc;
}
