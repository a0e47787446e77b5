/* SPDX-License-Identifier: MIT */
#include "api/plane/batch/pfx.h"

#include <gnutls/gnutls.h>
#include <gnutls/pkcs12.h>
#include <gnutls/x509.h>
#include <sodium.h>
#include <string.h>

static int refuse(struct err *e, const char *target, const char *what, int rc)
{
    return err_set(e, ERR_INVALID_PROPERTY, target, "%s: %s", what,
                   rc < 0 ? gnutls_strerror(rc) : "it is not base64");
}

/* The first certificate of the file, because it belongs to the private key. */
static int read_pfx(const gnutls_datum_t *file, const char *password, gnutls_x509_crt_t *out,
                    struct err *e)
{
    gnutls_pkcs12_t pfx = NULL;
    gnutls_x509_privkey_t key = NULL;
    gnutls_x509_crt_t *chain = NULL;
    unsigned n = 0;
    int rc = gnutls_pkcs12_init(&pfx);
    if (rc == 0)
        rc = gnutls_pkcs12_import(pfx, file, GNUTLS_X509_FMT_DER, 0);
    if (rc < 0)
        refuse(e, "data", "data is not a PFX file", rc);
    else if ((rc = gnutls_pkcs12_simple_parse(pfx, password ? password : "", &key, &chain, &n, NULL,
                                              NULL, NULL, 0)) < 0)
        refuse(e, "password", "the PFX file cannot be opened with this password", rc);
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
