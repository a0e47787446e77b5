/* SPDX-License-Identifier: MIT
 *
 * GnuTLS in its mode for sockets that do not block.
 */
#include "daemon/certs/tls_client.h"

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

#define RECORD_MAX 16384U

struct tls_client {
    gnutls_session_t tls;
    gnutls_certificate_credentials_t trust;
    char *host;   /* GnuTLS keeps the pointer */
    size_t tried; /* bytes that TLS has accepted, but the socket not yet */
    int rc;
};

static bool is_address(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

struct tls_client *tls_client_new(int fd, const char *host, const char *trusted,
                                  const char *protocol)
{
    struct tls_client *t = xcalloc(1, sizeof *t);
    const gnutls_datum_t alpn = {(unsigned char *)(uintptr_t)protocol, (unsigned)strlen(protocol)};
    t->host = xstrdup(host);
    if (gnutls_certificate_allocate_credentials(&t->trust) < 0 ||
        gnutls_init(&t->tls, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0)
        abort();
    if (trusted)
        (void)gnutls_certificate_set_x509_trust_file(t->trust, trusted, GNUTLS_X509_FMT_PEM);
    else
        (void)gnutls_certificate_set_x509_system_trust(t->trust);
    gnutls_set_default_priority(t->tls);
    gnutls_credentials_set(t->tls, GNUTLS_CRD_CERTIFICATE, t->trust);
    gnutls_alpn_set_protocols(t->tls, &alpn, 1, 0);
    if (!is_address(host))
        gnutls_server_name_set(t->tls, GNUTLS_NAME_DNS, host, strlen(host));
    gnutls_session_set_verify_cert(t->tls, t->host, 0);
    gnutls_transport_set_int(t->tls, fd);
    return t;
}

void tls_client_free(struct tls_client *t)
{
    if (!t)
        return;
    gnutls_deinit(t->tls);
    gnutls_certificate_free_credentials(t->trust);
    free(t->host);
    free(t);
}

int tls_client_shake_hands(struct tls_client *t, short *events)
{
    t->rc = gnutls_handshake(t->tls);
    if (t->rc == 0)
        return 1;
    *events = gnutls_record_get_direction(t->tls) ? POLLOUT : POLLIN;
    return gnutls_error_is_fatal(t->rc) ? -1 : 0;
}

ssize_t tls_client_send(struct tls_client *t, const void *bytes, size_t n)
{
    size_t piece = t->tried ? t->tried : n < RECORD_MAX ? n : RECORD_MAX;
    ssize_t rc =
        t->tried ? gnutls_record_send(t->tls, NULL, 0) : gnutls_record_send(t->tls, bytes, piece);
    bool later = rc == GNUTLS_E_AGAIN || rc == GNUTLS_E_INTERRUPTED;
    if (rc < 0 && !later)
        t->rc = (int)rc;
    else if (t->tried && !later)
        rc = (ssize_t)piece; /* of the call that took them */
    t->tried = later ? piece : 0;
    return later ? 0 : rc < 0 ? -1 : rc;
}

ssize_t tls_client_recv(struct tls_client *t, void *bytes, size_t n)
{
    ssize_t rc = gnutls_record_recv(t->tls, bytes, n);
    if (rc > 0)
        return rc;
    if (rc < 0 && !gnutls_error_is_fatal((int)rc))
        return 0;
    t->rc = (int)rc;
    return -1;
}

bool tls_client_has_more(const struct tls_client *t)
{
    return gnutls_record_check_pending(t->tls) > 0;
}

const char *tls_client_why(const struct tls_client *t)
{
    return t->rc < 0 ? gnutls_strerror(t->rc) : NULL;
}
